package heap

// This file: whether a thread that is about to wait has to look for memory to give back, told without a lock.

// NextLook is the time at which the thread should call Idle: now or earlier means at once, 0 not at all. quiet is the
// time of the last sweep that found nothing it would have to come back for, 0 if there was none.
func (h *Heap) NextLook(c Cache, now, quiet uint64) uint64 {
	if h.mode&(ModeSystem|ModeGuard|ModeKeepSpans) != 0 {
		return 0
	}
	next := h.nextSweep
	last := uint64(0)
	if !h.without(c) {
		last = c.header().lastFlush
	}
	if quiet != 0 && next == quiet+SweepNanoseconds && now < next && last <= quiet && h.DirtyBytes() == 0 &&
		(h.without(c) || c.isEmpty()) {
		return 0
	}
	if !h.without(c) {
		if last == 0 || now-last >= SweepNanoseconds {
			return now
		}
		return last + SweepNanoseconds
	}
	if now >= next {
		return now
	}
	return next
}

// isEmpty reports whether the cache holds no block.
func (c Cache) isEmpty() bool {
	for class := uintptr(1); class <= ClassCount; class++ {
		if c.classBin(class).newest != 0 {
			return false
		}
	}
	return true
}
