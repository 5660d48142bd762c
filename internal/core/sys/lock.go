package sys

import "sync/atomic"

// A lock is a word in stored state: 0 when free, else the holder's thread id shifted left by one, with bit 0 set
// while somebody may be waiting. The holder's id is what makes a lock safe against signal handlers: a handler that
// interrupted the holder and allocates is told so by Lock instead of waiting for itself for ever.
//
// In Go programs threads have no ids the core could use (threadsHaveIDs): there a lock is only taken or free.
//
// Held only over a few hundred instructions of the core, never over a system call that can wait.

const lockWaiting = 1

// Lock takes the lock. It returns false if this very thread holds it already: the caller runs in a signal handler
// that interrupted the core and must find another way.
func Lock(word *uint32) bool {
	mine := ThreadID() << 1
	if atomic.CompareAndSwapUint32(word, 0, mine) {
		return true
	}
	return lockSlow(word, mine)
}

//go:noinline
func lockSlow(word *uint32, mine uint32) bool {
	for spin := 0; spin < lockSpins; spin++ {
		value := atomic.LoadUint32(word)
		if threadsHaveIDs && value&^lockWaiting == mine {
			return false
		}
		if value == 0 && atomic.CompareAndSwapUint32(word, 0, mine) {
			return true
		}
		cpuRelax()
	}
	for {
		value := atomic.LoadUint32(word)
		if value == 0 {
			// Whoever waited keeps the waiting bit: others may be asleep behind it.
			if atomic.CompareAndSwapUint32(word, 0, mine|lockWaiting) {
				return true
			}
			continue
		}
		if threadsHaveIDs && value&^lockWaiting == mine {
			return false
		}
		if value&lockWaiting == 0 && !atomic.CompareAndSwapUint32(word, value, value|lockWaiting) {
			continue
		}
		lockWait(word, value|lockWaiting)
	}
}

// TryLock takes the lock if it is free.
func TryLock(word *uint32) bool {
	return atomic.CompareAndSwapUint32(word, 0, ThreadID()<<1)
}

// Unlock gives up a lock that this thread holds and wakes one waiter.
func Unlock(word *uint32) {
	if atomic.SwapUint32(word, 0)&lockWaiting != 0 {
		lockWake(word)
	}
}

// LockMine reports whether this thread holds the lock.
func LockMine(word *uint32) bool {
	return threadsHaveIDs && atomic.LoadUint32(word)&^lockWaiting == ThreadID()<<1
}
