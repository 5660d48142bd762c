package gc

import "granary/internal/core/sys"

// This file: fork in a program with several threads. The child has one thread and a copy of all memory: the forking
// thread takes every lock before, and gives them up afterwards, in both processes. What the other threads' caches hold
// serves again after the child's next collection.

// ForkPrepare takes all locks. The driver sees to it that no collection is going on. It returns false, and nothing is
// to be undone, if a signal handler forks that interrupted the heap itself.
func (h *Heap) ForkPrepare() bool {
	if !h.Hold() {
		return false
	}
	if !sys.Lock(h.GrowLock()) {
		h.Unhold()
		return false
	}
	if !sys.Lock(h.RunsLock()) {
		sys.Unlock(h.GrowLock())
		h.Unhold()
		return false
	}
	return true
}

// ForkParent gives them up in the parent, after ForkPrepare has returned true.
func (h *Heap) ForkParent() {
	sys.Unlock(h.RunsLock())
	sys.Unlock(h.GrowLock())
	h.Unhold()
}

// ForkChild gives them up in the child, whose only cache is c.
func (h *Heap) ForkChild(c Cache) {
	h.freeCaches = 0
	for other := h.caches; other != 0; other = other.state().next {
		if other == c {
			continue
		}
		h.ForgetChains(other)
		other.state().nextFree = h.freeCaches
		h.freeCaches = other
	}
	h.ForkParent()
}
