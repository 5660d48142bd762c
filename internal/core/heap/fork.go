package heap

import "granary/internal/core/sys"

// This file: fork in a program with several threads. The child has one thread and a copy of all memory. So that it
// finds no lock held by a thread that it does not have, the forking thread takes every lock before and gives them
// up afterwards, in the parent and in the child. A fork from a signal handler that interrupted the core finds locks
// that are its own already: those stay, since the interrupted work goes on after the handler, in both processes.
//
// The other threads' caches are lost to the child. They were in use while memory was copied page by page, so what
// the child sees of them can be a mixture of earlier and later; their blocks stay allocated for ever. That is at
// most a cache a thread, once.

const (
	classLocks    = depotShards + 1 // of a class: its depots', then its own
	forkLockCount = ClassCount*classLocks + 4
)

// forkLocks is a set of locks, a bit each.
type forkLocks [(forkLockCount + 63) / 64]uint64

// forkLock is the lock that a bit of forkMine stands for, in the order in which locks are taken.
func (h *Heap) forkLock(index uint) *uint32 {
	switch index {
	case 0:
		return &h.sweepLock
	case 1:
		return &h.cachesLock
	case forkLockCount - 2:
		return h.GrowLock()
	case forkLockCount - 1:
		return h.RunsLock()
	}
	ctl, lock := &h.classes[(index-2)/classLocks+1], (index-2)%classLocks
	if lock < depotShards {
		return &ctl.depots[lock].lock
	}
	return &ctl.lock
}

// ForkPrepare takes all locks, in the order in which they are taken elsewhere.
func (h *Heap) ForkPrepare() {
	var mine forkLocks
	for index := uint(0); index < forkLockCount; index++ {
		if !sys.Lock(h.forkLock(index)) {
			mine[index/64] |= 1 << (index % 64)
		}
	}
	h.forkMine = mine
}

// ForkParent gives them up again in the parent.
func (h *Heap) ForkParent() {
	mine := h.forkMine
	for index := uint(forkLockCount); index > 0; {
		index--
		if mine[index/64]>>(index%64)&1 == 0 {
			sys.Unlock(h.forkLock(index))
		}
	}
}

// ForkChild gives them up in the child, whose only cache is c.
func (h *Heap) ForkChild(c Cache) {
	h.cacheCount, h.cachesPeak = 0, 0
	if c != h.noCache {
		h.cacheCount, h.cachesPeak = 1, 1
	}
	for other := h.caches; other != 0; other = other.header().next {
		if other != c {
			other.header().used = 0
		}
	}
	h.ForkParent()
}
