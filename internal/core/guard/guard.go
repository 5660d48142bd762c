package guard

import (
	"sync/atomic"

	"granary/internal/core/heap"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// Guard watches the blocks of one heap. It must lie outside of the Go heap or in static storage,
// zeroed; it holds no Go pointer.
//
//	field                    written by
//	const fields             Init
//	stacks                   itself
//	deferred, deferredCount  atomic
//	generation               the child of a fork, alone
//	everything else          whoever holds lock
//
// The lock is taken before any of the heap's locks; see the heap for their order. The system
// allocator is never called under it.
type Guard struct {
	heap     sys.Addr // const: the heap.Heap
	shadow   sys.Addr // const: the records, recordsBytes a granule; 0: there is no room for them
	granules uintptr  // const: as many as the shadow has room for
	patterns bool     // const: false if blocks are only counted

	lock       uint32
	generation uint32 // forks since the start
	forkMine   uint32 // bits of locks that the forking thread held already
	committed  uintptr

	quarantine quarantine
	large      largeTable
	stacks     stackTable

	deferredCount uint32
	deferred      [deferredMost]uintptr // blocks freed by signal handlers that could not have the lock
	deferredLost  uint32                // those for which there was no room: never freed; atomic
}

const (
	deferredMost = 64
	// mostBytes is the largest request: no address space could hold more.
	mostBytes    = ^uintptr(0) >> 2
	shadowGrowth = 16 // granules whose records are committed together
	lockBitGuard = 1
	lockBitStack = 2
)

// Init prepares the guard of a heap that has been initialised. patterns is false if blocks are only
// to be counted.
func (g *Guard) Init(h *heap.Heap, heapAddr sys.Addr, patterns bool) {
	g.heap = heapAddr
	g.patterns = patterns
	g.granules = uintptr(h.Stats().Range) >> space.GranuleShift
	if g.granules != 0 {
		g.shadow = sys.Reserve(g.granules * recordsBytes)
	}
	if patterns {
		g.stacks.init()
	}
}

func (g *Guard) h() *heap.Heap { return (*heap.Heap)(g.heap.Pointer()) }

// Malloc returns a block of at least size bytes at a multiple of alignment, a power of two of at
// least 16, or 0 if there is no memory. stack is where it was called.
func (g *Guard) Malloc(size, alignment uintptr, stack uint32) sys.Addr {
	if size > mostBytes || alignment > mostBytes {
		return g.h().TooLarge()
	}
	if atomic.LoadUint32(&g.deferredCount) != 0 {
		g.drain()
	}
	block := g.tryMalloc(size, alignment, stack)
	if block == 0 && g.emptyQuarantine(stack) {
		block = g.tryMalloc(size, alignment, stack)
	}
	return block
}

func (g *Guard) tryMalloc(size, alignment uintptr, stack uint32) sys.Addr {
	if g.shadow != 0 {
		if block := g.smallMalloc(size, alignment, stack); block != 0 {
			return block
		}
	}
	return g.largeMalloc(size, alignment, stack)
}

// smallMalloc takes a block of a span, or returns 0 if none is to be had.
func (g *Guard) smallMalloc(size, alignment uintptr, stack uint32) sys.Addr {
	class := heap.GuardedClass(size+g.canaryLeast(), alignment)
	if class == 0 || sys.LockMine(&g.lock) {
		return 0
	}
	block, zero := g.h().TakeBlock(class)
	if block == 0 {
		return 0
	}
	place := g.h().Locate(block)
	if !g.commitRecords(place.First) {
		g.h().PutBlock(class, block)
		return 0
	}
	r := g.record(place)
	if g.patterns {
		g.checkReuse(r, place, zero, stack)
		g.patrol(stack)
		bytes := heap.ClassBytes(class)
		fill(block, size, patternFresh)
		fill(block+sys.Addr(size), bytes-size, patternCanary)
	}
	r.asked = uint64(size)
	r.allocStack, r.allocThread = stack, sys.ThreadID()
	r.freeStack, r.freeThread, r.next = 0, 0, 0
	r.setStatus(class, stateLive, g.generation)
	return block
}

// canaryLeast is the least slack that a block has.
func (g *Guard) canaryLeast() uintptr {
	if g.patterns {
		return 1
	}
	return 0
}

// Free takes a block back. An address that the guard does not know goes to the system allocator, as
// long as it is not in the heap's range.
func (g *Guard) Free(block sys.Addr, stack uint32) {
	if block == 0 {
		return
	}
	if atomic.LoadUint32(&g.deferredCount) != 0 {
		g.drain()
	}
	g.free(CallFree, block, stack)
}

func (g *Guard) free(call uint32, block sys.Addr, stack uint32) {
	place := g.h().Locate(block)
	if place.Class == 0 || !g.hasRecords(place.First) {
		g.largeFree(call, block, stack)
		return
	}
	var f Finding
	if !g.patterns {
		g.uncount(place, block, &f)
	} else if sys.Lock(&g.lock) {
		g.freeLocked(place, block, stack, &f)
		sys.Unlock(&g.lock)
	} else {
		g.deferFree(block)
	}
	if f.What != FoundNothing {
		f.Call, f.NowStack = call, stack
		g.report(&f)
	}
}

// freeLocked moves a live block to the quarantine, or says what is wrong with it.
func (g *Guard) freeLocked(place heap.Place, block sys.Addr, stack uint32, f *Finding) {
	if !g.checkLive(place, block, f) {
		return
	}
	r := g.record(place)
	r.freeStack, r.freeThread = stack, sys.ThreadID()
	fill(block, heap.ClassBytes(place.Class), patternFreed)
	r.setStatus(place.Class, stateFreed, r.generation())
	g.pushLocked(place, f)
}

// checkLive looks whether the address is that of a live block whose canary is whole.
func (g *Guard) checkLive(place heap.Place, block sys.Addr, f *Finding) bool {
	r := g.record(place)
	known := place.Index < heap.ClassBlocks(place.Class) && r.class() == place.Class
	state := uint32(stateNone)
	if known {
		state = r.state()
	}
	switch {
	case state == stateNone:
		f.What, f.Block = FoundNoBlock, block
		return false
	case block != place.Start:
		f.What = FoundInside
	case state != stateLive:
		f.What = FoundFreedTwice
	default:
		return !g.patterns || g.checkCanary(r, place, f)
	}
	f.describe(r, place)
	f.Block = block
	return false
}

func (g *Guard) checkCanary(r *record, place heap.Place, f *Finding) bool {
	asked := uintptr(r.asked)
	slack := heap.ClassBytes(place.Class) - asked
	at := mismatch(place.Start+sys.Addr(asked), slack, patternCanary)
	if at == slack {
		return true
	}
	f.describe(r, place)
	f.What, f.Offset = FoundPastEnd, asked+at
	return false
}

// uncount takes a block back that is only counted.
func (g *Guard) uncount(place heap.Place, block sys.Addr, f *Finding) {
	if !g.checkLive(place, block, f) {
		return
	}
	r := g.record(place)
	live := atomic.LoadUint32(&r.status)
	if live>>statusStateShift&0xff != stateLive || !atomic.CompareAndSwapUint32(&r.status, live,
		live&^(0xff<<statusStateShift)|stateReusable<<statusStateShift) {
		f.describe(r, place)
		f.What = FoundFreedTwice
		return
	}
	if !g.h().PutBlock(place.Class, block) {
		atomic.StoreUint32(&r.status, live) // once more, by the next call that may
		g.deferFree(block)
	}
}

// deferFree notes a block that a signal handler freed while its thread was inside the guard or the
// heap.
func (g *Guard) deferFree(block sys.Addr) {
	for i := uintptr(0); i < deferredMost; i++ {
		if atomic.CompareAndSwapUintptr(&g.deferred[i&(deferredMost-1)], 0, uintptr(block)) {
			atomic.AddUint32(&g.deferredCount, 1)
			return
		}
	}
	atomic.AddUint32(&g.deferredLost, 1)
}

// drain frees what deferFree noted.
func (g *Guard) drain() {
	if sys.LockMine(&g.lock) {
		return
	}
	for i := uintptr(0); i < deferredMost; i++ {
		block := atomic.SwapUintptr(&g.deferred[i&(deferredMost-1)], 0)
		if block != 0 {
			atomic.AddUint32(&g.deferredCount, ^uint32(0))
			g.free(CallFree, sys.Addr(block), 0)
		}
	}
}

// UsableSize is what the program asked for.
func (g *Guard) UsableSize(block sys.Addr, stack uint32) uintptr {
	place := g.h().Locate(block)
	if place.Class == 0 || !g.hasRecords(place.First) {
		return g.largeUsableSize(block, stack)
	}
	var f Finding
	size := uintptr(0)
	locked := sys.Lock(&g.lock)
	if g.checkLive(place, block, &f) {
		size = uintptr(g.record(place).asked)
	}
	if locked {
		sys.Unlock(&g.lock)
	}
	if f.What != FoundNothing {
		f.Call, f.NowStack = CallUsableSize, stack
		g.report(&f)
	}
	return size
}

// CheckSize is called before a block is freed by a caller who says how large it is.
func (g *Guard) CheckSize(block sys.Addr, size uintptr, stack uint32) {
	if block == 0 || !g.patterns {
		return
	}
	var f Finding
	place := g.h().Locate(block)
	if place.Class == 0 || !g.hasRecords(place.First) {
		g.largeCheckSize(block, size, &f)
	} else if r := g.record(place); block == place.Start && r.class() == place.Class &&
		r.state() == stateLive && uintptr(r.asked) != size {
		f.describe(r, place)
		f.What = FoundWrongSize
	}
	if f.What != FoundNothing {
		f.Call, f.NowStack, f.Given = CallFree, stack, size
		g.report(&f)
	}
}
