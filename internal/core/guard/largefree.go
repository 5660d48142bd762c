package guard

import "granary/internal/core/sys"

// checkLargeLocked looks whether the address is that of a live block of the system allocator whose
// canary is whole, and returns its entry. It returns nil, and fills f, if not; and nil with f empty
// if the guard does not know the block, and it is for the system allocator to say.
func (g *Guard) checkLargeLocked(block sys.Addr, f *Finding) *largeEntry {
	e := g.large.findLocked(block)
	if e == nil {
		if g.h().Owns(block) {
			f.What, f.Block = FoundNoBlock, block
		} else if g.patterns {
			g.findInside(block, f)
		}
		return nil
	}
	if e.state() != stateLive {
		f.describeRecord(&e.record, block)
		f.What = FoundFreedTwice
		return nil
	}
	if g.patterns {
		at := mismatch(block+sys.Addr(e.asked), largeSlack, patternCanary)
		if at != largeSlack {
			f.describeRecord(&e.record, block)
			f.What, f.Offset = FoundPastEnd, uintptr(e.asked)+at
			return nil
		}
	}
	return e
}

func (g *Guard) findInside(block sys.Addr, f *Finding) {
	if e := g.large.containingLocked(block); e != nil {
		f.describeRecord(&e.record, e.addr)
		f.What, f.Block = FoundInside, block
	}
}

// largeFree takes back a block that lies in no span.
func (g *Guard) largeFree(call uint32, block sys.Addr, stack uint32) {
	if !sys.Lock(&g.lock) {
		g.deferFree(block)
		return
	}
	var f Finding
	e := g.checkLargeLocked(block, &f)
	if e == nil {
		sys.Unlock(&g.lock)
		if f.What == FoundNothing {
			g.h().SystemFree(block)
			return
		}
		f.Call, f.NowStack = call, stack
		g.report(&f)
		return
	}
	size := uintptr(e.asked)
	if !g.patterns || size > largeQueueBlockMost {
		g.large.removeLocked(block)
		sys.Unlock(&g.lock)
		g.h().SystemFree(block)
		return
	}
	e.freeStack, e.freeThread = stack, sys.ThreadID()
	e.setStatus(0, stateFreed, e.generation())
	sys.Unlock(&g.lock)
	fill(block, filled(size), patternFreed)
	dropRest(block, size)
	g.queueLarge(block, size, stack)
}

// dropRest gives the memory of a freed block back that the pattern does not cover.
func dropRest(block sys.Addr, size uintptr) {
	page := sys.PageBytes()
	from := sys.AlignUp(uintptr(block)+filled(size), page)
	to := (uintptr(block) + size) &^ (page - 1)
	if from < to {
		sys.Decommit(sys.Addr(from), to-from)
	}
}

// queueLarge puts a freed block, already filled, at the end of the queue and takes off what is too
// much.
func (g *Guard) queueLarge(block sys.Addr, size uintptr, stack uint32) {
	t := &g.large
	for sys.Lock(&g.lock) {
		fits := t.queueCount < largeQueueMost && t.queueBytes+size <= largeQueueBytesMost
		if fits {
			t.queue[(t.queueFirst+t.queueCount)&(largeQueueMost-1)] = uintptr(block)
			t.queueCount++
			t.queueBytes += size
			sys.Unlock(&g.lock)
			return
		}
		g.popLargeLocked(stack)
	}
}

// popLargeLocked gives the oldest freed block back to the system allocator. It gives up the lock.
func (g *Guard) popLargeLocked(stack uint32) {
	t := &g.large
	block := sys.Addr(t.queue[t.queueFirst&(largeQueueMost-1)])
	var f Finding
	if e := t.findLocked(block); e != nil {
		t.queueBytes -= uintptr(e.asked)
		checkLargeFreed(e, &f)
	}
	t.queueFirst++
	t.queueCount--
	t.removeLocked(block)
	sys.Unlock(&g.lock)
	if f.What != FoundNothing {
		f.Call, f.NowStack = CallFree, stack
		g.report(&f)
	}
	g.h().SystemFree(block)
}

func checkLargeFreed(e *largeEntry, f *Finding) bool {
	size := filled(uintptr(e.asked))
	at := mismatch(e.addr, size, patternFreed)
	if at == size {
		return true
	}
	f.describeRecord(&e.record, e.addr)
	f.What, f.Offset = FoundWrittenFreed, at
	return false
}

// flushLarge gives all freed blocks back, for when memory is short. It returns false if there are
// none.
func (g *Guard) flushLarge(stack uint32) bool {
	any := false
	for sys.Lock(&g.lock) {
		if g.large.queueCount == 0 {
			sys.Unlock(&g.lock)
			return any
		}
		g.popLargeLocked(stack)
		any = true
	}
	return any
}

func (g *Guard) largeUsableSize(block sys.Addr, stack uint32) uintptr {
	if !sys.Lock(&g.lock) {
		return g.h().SystemUsableSize(block)
	}
	var f Finding
	size := uintptr(0)
	e := g.checkLargeLocked(block, &f)
	if e != nil {
		size = uintptr(e.asked)
	}
	sys.Unlock(&g.lock)
	if f.What != FoundNothing {
		f.Call, f.NowStack = CallUsableSize, stack
		g.report(&f)
		return 0
	}
	if e == nil {
		return g.h().SystemUsableSize(block)
	}
	return size
}

func (g *Guard) largeCheckSize(block sys.Addr, size uintptr, f *Finding) {
	if !sys.Lock(&g.lock) {
		return
	}
	e := g.large.findLocked(block)
	if e != nil && e.state() == stateLive && uintptr(e.asked) != size {
		f.describeRecord(&e.record, block)
		f.What = FoundWrongSize
	}
	sys.Unlock(&g.lock)
}
