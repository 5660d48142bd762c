package guard

import (
	"sync/atomic"

	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// reallocMoves: blocks of the system allocator below this size always move when they are resized,
// so that the old address is watched. Larger ones are left to the system allocator, which need not
// copy.
const reallocMoves = 1 << 20

// Realloc makes a block larger or smaller; neither block nor size is 0. It returns 0, and leaves
// the block as it was, if there is no memory.
func (g *Guard) Realloc(block sys.Addr, size uintptr, stack uint32) sys.Addr {
	if size > mostBytes {
		return g.h().TooLarge()
	}
	if atomic.LoadUint32(&g.deferredCount) != 0 {
		g.drain()
	}
	place := g.h().Locate(block)
	if place.Class == 0 || !g.hasRecords(place.First) {
		return g.largeRealloc(block, size, stack)
	}
	locked := sys.Lock(&g.lock)
	var f Finding
	live := g.checkLive(place, block, &f)
	asked := uintptr(0)
	done := false
	if live {
		asked = uintptr(g.record(place).asked)
		done = locked && g.resizeLocked(place, size, stack)
	}
	if locked {
		sys.Unlock(&g.lock)
	}
	if f.What != FoundNothing {
		f.Call, f.NowStack = CallRealloc, stack
		g.report(&f)
		return 0
	}
	if done {
		return block
	}
	return g.move(block, asked, size, stack)
}

// move copies a block of which size bytes are wanted into a new one and frees the old one.
func (g *Guard) move(block sys.Addr, asked, size uintptr, stack uint32) sys.Addr {
	to := g.Malloc(size, 16, stack)
	if to == 0 {
		return 0
	}
	if asked > size {
		asked = size
	}
	sys.Copy(to, block, asked)
	g.free(CallRealloc, block, stack)
	return to
}

// resizeLocked resizes a block where it is, if the size rounds to its class or fills more than half
// of it.
func (g *Guard) resizeLocked(place heap.Place, size uintptr, stack uint32) bool {
	bytes := heap.ClassBytes(place.Class)
	if size+g.canaryLeast() > bytes ||
		size <= bytes/2 && heap.GuardedClass(size+g.canaryLeast(), 16) != place.Class {
		return false
	}
	r := g.record(place)
	if g.patterns {
		if asked := uintptr(r.asked); size > asked {
			fill(place.Start+sys.Addr(asked), size-asked, patternFresh)
		}
		fill(place.Start+sys.Addr(size), bytes-size, patternCanary)
	}
	r.asked = uint64(size)
	r.allocStack, r.allocThread = stack, sys.ThreadID()
	return true
}

// largeRealloc resizes a block that lies in no span.
func (g *Guard) largeRealloc(block sys.Addr, size uintptr, stack uint32) sys.Addr {
	if !sys.Lock(&g.lock) {
		// A signal handler inside the guard: what is known of the block cannot be asked for.
		return g.move(block, g.h().SystemUsableSize(block), size, stack)
	}
	var f Finding
	e := g.checkLargeLocked(block, &f)
	if e == nil {
		sys.Unlock(&g.lock)
		if f.What == FoundNothing {
			return g.h().SystemRealloc(block, size)
		}
		f.Call, f.NowStack = CallRealloc, stack
		g.report(&f)
		return 0
	}
	asked := uintptr(e.asked)
	switch {
	case size <= heap.SmallMaxBytes || asked < reallocMoves && size > asked:
		sys.Unlock(&g.lock)
		return g.move(block, asked, size, stack)
	case size <= asked && size > asked/2:
		if g.patterns {
			fill(block+sys.Addr(size), largeSlack, patternCanary)
		}
		e.asked = uint64(size)
		e.allocStack, e.allocThread = stack, sys.ThreadID()
		sys.Unlock(&g.lock)
		return block
	}
	before := e.record
	g.large.removeLocked(block)
	sys.Unlock(&g.lock)
	return g.systemRealloc(block, size, stack, &before)
}

// systemRealloc has the system allocator resize a block that is in the table no more.
func (g *Guard) systemRealloc(block sys.Addr, size uintptr, stack uint32, before *record) sys.Addr {
	request := size
	if g.patterns {
		request += largeSlack
	}
	to := g.h().SystemRealloc(block, request)
	if to == 0 && g.flushLarge(stack) {
		to = g.h().SystemRealloc(block, request)
	}
	if to == 0 {
		g.addLarge(block, uintptr(before.asked), before.allocStack)
		return 0
	}
	if g.patterns {
		asked := uintptr(before.asked)
		if filled(size) > asked {
			fill(to+sys.Addr(asked), filled(size)-asked, patternFresh)
		}
		fill(to+sys.Addr(size), largeSlack, patternCanary)
	}
	g.addLarge(to, size, stack)
	return to
}
