//go:build gc

package guard

import "granary/internal/core/sys"

// This file: what a Go program needs of the guard that the C glue does in other ways. A Go program goes on after a
// misuse, so that what was found must be put right, or it would be found again.

// Intern is the number of a stack; its frames must not move meanwhile.
func (g *Guard) Intern(frames sys.Addr, count uintptr) uint32 { return g.stacks.intern(frames, count) }

// Stack tells where a stack's frames are, and how many.
func (g *Guard) Stack(id uint32) (frames sys.Addr, count uintptr) {
	if id == 0 {
		return 0, 0
	}
	return g.stacks.frames(id), uintptr(g.stacks.at(id).count)
}

// StackAfter is the number of the stack that was added after this one (the first for 0), 0 if there is none.
func (g *Guard) StackAfter(id uint32) uint32 { return g.stacks.after(id) }

// Mend fills a block that was written to, or its end, as it was before.
func (g *Guard) Mend(f *Finding) {
	bytes := f.ClassBytes
	switch f.What {
	case FoundWrittenFreed:
		if bytes == 0 {
			bytes = filled(f.Asked)
		}
		fill(f.Start, bytes, patternFreed)
	case FoundPastEnd:
		slack := bytes - f.Asked
		if bytes == 0 {
			slack = largeSlack
		}
		fill(f.Start+sys.Addr(f.Asked), slack, patternCanary)
	}
}

// ForgetLeaks sets what FindLeaks counted to zero, so that it can count again.
func (g *Guard) ForgetLeaks() {
	g.stacks.unknown.blocks, g.stacks.unknown.bytes = 0, 0
	for id := g.stacks.after(0); id != 0; id = g.stacks.after(id) {
		g.stacks.at(id).blocks, g.stacks.at(id).bytes = 0, 0
	}
}

// EachLarge calls do with every block of the system allocator, live or freed, and what was asked for it.
func (g *Guard) EachLarge(do func(block sys.Addr, asked uintptr)) {
	for i := uintptr(0); i < g.large.capacity; i++ {
		if e := g.large.at(i); e.addr != 0 {
			do(e.addr, uintptr(e.asked))
		}
	}
}

// Restart gives the memory of the records and the stacks back, and begins anew over a heap that did so too. Nobody else
// may use the guard meanwhile.
func (g *Guard) Restart(heapAddr sys.Addr) {
	if g.large.capacity != 0 {
		sys.Release(g.large.entries, sys.AlignUp(g.large.capacity*largeEntryBytes, sys.PageBytes()))
	}
	shadow, granules, region := g.shadow, g.granules, g.stacks.region
	if g.committed != 0 {
		sys.Uncommit(shadow, g.committed*recordsBytes)
	}
	stacksCommitted := g.stacks.committed
	if region != 0 {
		sys.Decommit(region, stacksCommitted)
	}
	*g = Guard{}
	g.heap, g.shadow, g.granules, g.patterns = heapAddr, shadow, granules, true
	if region != 0 {
		g.stacks.region, g.stacks.used, g.stacks.committed = region, stackBucketsBytes, stacksCommitted
	}
}
