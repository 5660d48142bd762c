//go:build gccgo

package linear

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// This file: what the C glue calls (clib/glue/linear.c). The blocks are runs of the process's heap, which also serves
// what the pool cannot. A thread's worker of an allocator is found by the allocator's tag.

//extern granary_glue_linear_worker
func workerOf(tag uint32) uintptr

//extern granary_glue_linear_alloc_slow
func allocSlow(a uintptr, size, align uintptr) sys.Addr

//extern granary_glue_linear_free_slow
func freeSlow(a uintptr, p sys.Addr) int32

// head is the beginning of an Allocator. For a pointer to something as large as an Allocator gccgo looks whether it is
// nil before each use.
type head struct {
	_     [frameOffset]byte
	frame uint32
	tag   uint32
}

const frameOffset = unsafe.Offsetof(Allocator{}.frame)

// The tag follows the frame; a difference does not compile.
const (
	_ = unsafe.Offsetof(Allocator{}.tag) - frameOffset - 4
	_ = frameOffset + 4 - unsafe.Offsetof(Allocator{}.tag)
)

// What granary.h tells of a worker, an allocator and a stack for its inline functions; a difference does not compile.
const (
	_ = unsafe.Offsetof(Worker{}.end) - 8
	_ = 8 - unsafe.Offsetof(Worker{}.end)
	_ = unsafe.Offsetof(Worker{}.start) - 16
	_ = 16 - unsafe.Offsetof(Worker{}.start)
	_ = unsafe.Offsetof(Worker{}.live) - 24
	_ = 24 - unsafe.Offsetof(Worker{}.live)
	_ = unsafe.Offsetof(Worker{}.key) - 40
	_ = 40 - unsafe.Offsetof(Worker{}.key)
	_ = frameOffset - 40
	_ = 40 - frameOffset
	_ = unsafe.Offsetof(Stack{}.end) - 8
	_ = 8 - unsafe.Offsetof(Stack{}.end)
)

func headAt(address uintptr) *head { return (*head)(sys.Addr(address).Pointer()) }

func (h *head) worker() *Worker { return (*Worker)(sys.Addr(workerOf(h.tag)).Pointer()) }

// usualAlignments has a bit for each alignment that every allocation has anyway: 0, which stands for 16, and 1 to 16.
const usualAlignments = 1<<0 | 1<<1 | 1<<2 | 1<<4 | 1<<8 | 1<<16

// ProcessAlloc is the fast path of an allocation by a thread.
func ProcessAlloc(address, size, align uintptr) sys.Addr {
	h := headAt(address)
	if align <= 16 && usualAlignments>>align&1 != 0 {
		w, need := h.worker(), Need(size)
		if w.Fits(atomic.LoadUint32(&h.frame), need) {
			return w.Bump(need)
		}
	}
	return allocSlow(address, size, align)
}

// ProcessFree is the fast path of a free.
func ProcessFree(address uintptr, p sys.Addr) int32 {
	h := headAt(address)
	if w := h.worker(); w.Mine(atomic.LoadUint32(&h.frame), p) {
		if w.Drop() {
			w.Rewind()
		}
		return 0
	}
	return freeSlow(address, p)
}

func at(address uintptr) *Allocator { return (*Allocator)(sys.Addr(address).Pointer()) }

func workerAt(address uintptr) *Worker { return (*Worker)(sys.Addr(address).Pointer()) }

func stackAt(address uintptr) *Stack { return (*Stack)(sys.Addr(address).Pointer()) }

// ProcessNew makes an allocator over the space of the process's heap, 0 if it cannot.
func ProcessNew(blockBytes uintptr, blocks, growth, maxAge, diagnose, tag uint32) sys.Addr {
	a := New(heap.ProcessSpace(), Config{BlockBytes: blockBytes, Blocks: blocks, Growth: growth, MaxAge: maxAge,
		Diagnose: diagnose != 0})
	if a == nil {
		return 0
	}
	a.SetTag(tag)
	return a.addr()
}

// ProcessDestroy frees everything that an allocator has.
func ProcessDestroy(address uintptr) {
	processDropOverflows(at(address))
	at(address).Destroy()
}

func processDropOverflows(a *Allocator) {
	var c Cursor
	for p := a.TakeOverflow(&c); p != 0; p = a.TakeOverflow(&c) {
		heap.ProcessFree(p)
	}
}

// ProcessReset frees all allocations.
func ProcessReset(address uintptr) {
	at(address).Reset()
	processDropOverflows(at(address))
}

// ProcessAllocSlow serves a request that is within its bounds, 0 if there is no memory. worker is 0 for a thread that
// can have none. Cleared says that the memory is to read as zero.
func ProcessAllocSlow(address, worker, size, align uintptr, site, cleared uint32) sys.Addr {
	a := at(address)
	why := TooLarge
	if need := a.Need(size); need != 0 {
		why = Full
		if p := a.processAllocBlock(worker, need, align, site, cleared); p != 0 {
			return p
		}
	}
	a.CountOverflow(why)
	p := heap.ProcessAlignedAlloc(align, size)
	if p == 0 {
		return 0
	}
	if !a.AddOverflow(p, size, site) {
		heap.ProcessFree(p)
		return 0
	}
	if cleared != 0 {
		sys.Clear(p, size)
	}
	return p
}

// processAllocBlock serves a request from the pool.
func (a *Allocator) processAllocBlock(worker, need, align uintptr, site, cleared uint32) sys.Addr {
	if worker == 0 {
		return 0
	}
	w := workerAt(worker)
	p := a.AllocReady(w, need, align, site)
	if p == 0 {
		index := noBlock
		if heap.ProcessFitsLimit(roundUp(need, a.blockBytes)) { // a block may have to be made
			index = a.Take(need)
		}
		if !Taken(index) {
			return 0
		}
		p = a.Install(w, index, need, align, site)
	}
	if cleared != 0 {
		if dirty := w.Dirty(p, need); dirty != 0 {
			sys.Clear(p, dirty)
		}
	}
	return p
}

// ProcessFreeSlow takes an allocation back and says what came of it: Freed, Twice or Foreign.
func ProcessFreeSlow(address, worker uintptr, p sys.Addr) int32 {
	a := at(address)
	w := (*Worker)(nil)
	if worker != 0 {
		w = workerAt(worker)
	}
	result := a.FreeSlow(w, p, false)
	if result == Overflow {
		heap.ProcessFree(p)
		result = Freed
	}
	return int32(result)
}

// ProcessAddWorker and ProcessDropWorker are for the beginning and the end of a thread's use; 0: none can be had.
func ProcessAddWorker(address uintptr) uintptr {
	w := at(address).AddWorker()
	if w == nil {
		return 0
	}
	return uintptr(at(address).addr()) + workersOffset + uintptr(at(address).indexOf(w))*workerBytes
}

func ProcessDropWorker(address, worker uintptr) { at(address).DropWorker(workerAt(worker)) }

func ProcessTag(address uintptr) uint32 { return at(address).tag }

func ProcessNextFrame(address uintptr) uint32 { return at(address).NextFrame() }

func ProcessOverdue(address uintptr) uint64 { return at(address).Overdue() }

func ProcessReadStats(address uintptr, stats *Stats) { at(address).Read(stats) }

// ProcessNext goes to the next allocation that is alive, with old set to the next that is too old.
func ProcessNext(address uintptr, c *Cursor, old uint32) bool { return at(address).Next(c, old != 0) }

// ProcessForkPrepare takes the locks of an allocator, ProcessForkDone gives them up, in the parent and in the child. A
// lock that the thread holds already, as its fork comes from a signal handler, stays: forkMine counts those of each
// lock.
func ProcessForkPrepare(address uintptr) {
	a := at(address)
	for i := uint(0); i <= shardCount; i++ {
		if !sys.Lock(a.forkLock(i)) {
			a.forkMine += 1 << (i * forkMineBits)
		}
	}
}

func ProcessForkDone(address uintptr) {
	a := at(address)
	for i := uint(0); i <= shardCount; i++ {
		if a.forkMine>>(i*forkMineBits)&(1<<forkMineBits-1) != 0 {
			a.forkMine -= 1 << (i * forkMineBits)
		} else {
			sys.Unlock(a.forkLock(i))
		}
	}
}

const forkMineBits = 7

func (a *Allocator) forkLock(index uint) *uint32 {
	if index == shardCount {
		return &a.workersLock
	}
	return &a.shards[index&shardMask].lock
}

// ProcessStackNew and those below are the stacks'.
func ProcessStackNew(address, initial uintptr) sys.Addr {
	return stackAddr(NewStack(at(address), initial))
}

func ProcessStackDestroy(stack uintptr) { stackAt(stack).Destroy() }

//extern granary_glue_stack_alloc_slow
func stackAllocSlow(stack, size, align uintptr) sys.Addr

// ProcessStackAlloc is the fast path.
func ProcessStackAlloc(stack, size, align uintptr) sys.Addr {
	s, need := stackAt(stack), Need(size)
	if align <= 16 && usualAlignments>>align&1 != 0 && s.Holds(need) {
		return s.Push(need)
	}
	return stackAllocSlow(stack, size, align)
}

// ProcessStackAligned is for what the fast path leaves; 0 if the stack has no room.
func ProcessStackAligned(stack, size, align uintptr) sys.Addr {
	if size > StackMostBytes {
		return 0
	}
	return stackAt(stack).PushAligned(Need(size), align)
}

func ProcessStackUser(stack uintptr) sys.Addr { return stackAt(stack).User() }

func ProcessStackSetUser(stack uintptr, user sys.Addr) { stackAt(stack).SetUser(user) }

func ProcessStackLink(stack uintptr, p sys.Addr) { stackAt(stack).Link(p) }

func ProcessStackCountOverflow(stack uintptr) { stackAt(stack).CountOverflow() }

func ProcessStackMark(stack uintptr, m *Mark) { *m = stackAt(stack).Mark() }

func ProcessStackValid(stack uintptr, m *Mark) bool { return stackAt(stack).Valid(*m) }

func ProcessStackPopAbove(stack uintptr, m *Mark) sys.Addr { return stackAt(stack).PopAbove(*m) }

func ProcessStackRewind(stack uintptr, m *Mark) { stackAt(stack).Rewind(*m) }

func ProcessStackRead(stack uintptr, stats *StackStats) { stackAt(stack).Read(stats) }
