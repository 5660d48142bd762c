package guard

import "granary/internal/core/sys"

// ForkPrepare takes the guard's locks, before the heap's, so that the child finds none held by a
// thread that it does not have. A fork from a signal handler that interrupted the guard finds locks
// that are its own already: those stay.
func (g *Guard) ForkPrepare() {
	mine := uint32(0)
	if !sys.Lock(&g.lock) {
		mine |= lockBitGuard
	}
	if !sys.Lock(&g.stacks.lock) {
		mine |= lockBitStack
	}
	g.forkMine = mine
}

// ForkParent gives them up again in the parent.
func (g *Guard) ForkParent() {
	mine := g.forkMine
	if mine&lockBitStack == 0 {
		sys.Unlock(&g.stacks.lock)
	}
	if mine&lockBitGuard == 0 {
		sys.Unlock(&g.lock)
	}
}

// ForkChild gives them up in the child. What was allocated until now is the parent's to free.
func (g *Guard) ForkChild() {
	g.generation++
	g.ForkParent()
}
