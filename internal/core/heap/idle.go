package heap

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: the release sweep.

const (
	// SweepNanoseconds is the least time between two sweeps of a thread.
	SweepNanoseconds = 250 * 1000 * 1000
	// ReleaseNanoseconds is how long a span must have been empty to be given back.
	ReleaseNanoseconds = 1000 * 1000 * 1000
)

// Idle is called where a thread waits. If the thread's last sweep was a quarter of a second ago, its cache goes to
// the spans, the pool's batches too, and the spans that have been empty for age nanoseconds are given back. wake is
// the time at which another call would find something to do, 0 if there is nothing.
func (h *Heap) Idle(c Cache, now, age uint64) (done space.Released, wake uint64) {
	if h.mode&(ModeSystem|ModeGuard|ModeKeepSpans) != 0 {
		return done, 0
	}
	if c != h.noCache {
		last := &c.header().lastFlush
		if age != 0 && *last != 0 && now-*last < SweepNanoseconds {
			return done, *last + SweepNanoseconds
		}
		*last = now
		h.flushAll(c)
	}
	if !sys.TryLock(&h.sweepLock) {
		return done, now + SweepNanoseconds
	}
	if age == 0 || now >= h.nextSweep {
		done, wake = h.sweep(now, age)
		h.nextSweep = now + SweepNanoseconds
	} else {
		wake = h.nextSweep
	}
	sys.Unlock(&h.sweepLock)
	return done, wake
}

// sweep is the whole sweep; sweepLock is held.
func (h *Heap) sweep(now, age uint64) (done space.Released, wake uint64) {
	h.sweeps++
	if h.deferred != 0 {
		h.freeDeferredBlocks()
	}
	waiting := false
	for class := uintptr(1); class <= ClassCount; class++ {
		h.drainDepot(class)
		if h.coolKept(class, now, age) {
			waiting = true
		}
	}
	done = h.ReleaseIdle(now, age)
	if waiting || h.DirtyBytes() != 0 {
		wake = now + SweepNanoseconds
	}
	return done, wake
}

// coolKept looks after the one empty span that a class keeps. A class that has not been used since the last sweep,
// and whose span has been empty for age, goes on keeping the span, but its memory goes back: the next block
// taken from it reads as zero. It returns true while there is memory of that kind left.
func (h *Heap) coolKept(class uintptr, now, age uint64) bool {
	ctl := &h.classes[class&63]
	if !sys.Lock(&ctl.lock) {
		return false
	}
	ref := ctl.lists[0]
	recent := ctl.recent
	ctl.recent = 0
	if ref == 0 || h.span(ref).cold != 0 {
		sys.Unlock(&ctl.lock)
		return false
	}
	s := h.span(ref)
	if s.Stamp == 0 || recent != 0 && age != 0 {
		s.Stamp = now
	}
	if now-s.Stamp < age {
		sys.Unlock(&ctl.lock)
		return true
	}
	if s.zeroFrom == 0 {
		s.cold = 1 // never touched, or given back before
		sys.Unlock(&ctl.lock)
		return false
	}
	h.unlistSpan(ctl, ref) // so that nobody takes from it while no lock is held
	sys.Unlock(&ctl.lock)
	dropped := sys.Decommit(h.Addr(ref), h.Bytes(ref))
	sys.Lock(&ctl.lock)
	if dropped {
		s.zeroFrom, s.cold = 0, 1
		h.AddReleased(uint64(h.Bytes(ref)))
	}
	s.Stamp = 0
	h.listSpan(ctl, ref)
	sys.Unlock(&ctl.lock)
	return false
}
