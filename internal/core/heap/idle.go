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
// the spans, the pool's batches too, and what has been free for age nanoseconds is given back: empty spans, and the
// free pages of spans in which nothing happened. wake is the time at which another call would find something to do,
// 0 if there is nothing.
func (h *Heap) Idle(c Cache, now, age uint64) (done space.Released, wake uint64) {
	if h.mode&(ModeSystem|ModeKeepSpans) != 0 || h.mode&ModeGuard != 0 && age != 0 {
		return done, 0
	}
	if h.mode&ModeGuard != 0 {
		// Freed blocks hold the guard's pattern: only what left its class can go.
		return h.releaseRuns(now, age), 0
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
	} else {
		wake = h.nextSweep
	}
	sys.Unlock(&h.sweepLock)
	return done, wake
}

// releaseRuns gives back what has been free for age nanoseconds, unless somebody else sweeps.
func (h *Heap) releaseRuns(now, age uint64) (done space.Released) {
	if sys.TryLock(&h.sweepLock) {
		done = h.ReleaseIdle(now, age)
		sys.Unlock(&h.sweepLock)
	}
	return done
}

// sweep is the whole sweep; sweepLock is held.
func (h *Heap) sweep(now, age uint64) (done space.Released, wake uint64) {
	h.sweeps++
	// A thread that read the clock and then had to wait must not make what it finds older than it is.
	if last := h.nextSweep - SweepNanoseconds; h.nextSweep != 0 && now < last {
		now = last
	}
	if h.deferred != 0 {
		h.freeDeferredBlocks()
	}
	for class := uintptr(1); class <= ClassCount; class++ {
		h.drainDepots(class)
		h.coolDepots(class)
	}
	dropped, waiting := h.purgeSpans(now, age)
	done = h.ReleaseIdle(now, age)
	done.Bytes += uint64(dropped)
	h.nextSweep = now + SweepNanoseconds
	if waiting || h.DirtyBytes() != 0 {
		wake = h.nextSweep
	}
	return done, wake
}
