package heap

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/heap"

	"granary/internal/core/guard"
	"granary/internal/core/sys"
)

// debugger is a heap's guard (internal/core/guard), which all calls go to in debug mode. All calls of all debuggers
// take turns: what the guard finds it tells one function of the whole process, which can so know whose call it was.
type debugger struct {
	heap        *Heap
	guard       *guard.Guard
	generations map[sys.Addr]uint16 // how often blocks were freed, for Refs; under debugging
}

var (
	debugging sync.Mutex
	found     []guard.Finding // during the call that is under way; under debugging

	scratch        sys.Addr // outside of the Go heap, for the frames of a stack; under debugging
	debuggersCount atomic.Int32
)

func newDebugger(h *Heap) (*debugger, error) {
	debugging.Lock()
	defer debugging.Unlock()
	guard.ReportHandler = func(f *guard.Finding) { found = append(found, *f) }
	if scratch == 0 {
		if scratch = memory(guard.FramesMost * sys.WordBytes); scratch == 0 {
			return nil, ErrNoMemory
		}
	}
	d := &debugger{heap: h, generations: map[sys.Addr]uint16{}}
	if d.guard = h.place.guard; d.guard == nil {
		start := memory(unsafe.Sizeof(guard.Guard{}))
		if start == 0 {
			return nil, ErrNoMemory
		}
		d.guard = (*guard.Guard)(start.Pointer())
		d.guard.Init(h.core, sys.Addr(uintptr(unsafe.Pointer(h.core))), true)
		h.place.guard = d.guard
	}
	debuggersCount.Add(1)
	return d, nil
}

// close frees what the guard has of the system allocator, and forgets everything.
func (d *debugger) close() {
	debugging.Lock()
	defer debugging.Unlock()
	d.guard.EachLarge(func(block sys.Addr, _ uintptr) { d.heap.core.SystemFree(block) })
	d.guard.Restart(sys.Addr(uintptr(unsafe.Pointer(d.heap.core))))
	debuggersCount.Add(-1)
}

// here is the number of the stack of the caller of this package. debugging is held.
func (d *debugger) here() uint32 {
	var frames [guard.FramesMost + 8]uintptr
	outer := withoutOwnFrames(frames[:runtime.Callers(2, frames[:])])
	outer = outer[:min(len(outer), guard.FramesMost)]
	for i, frame := range outer {
		(scratch + sys.Addr(i*sys.WordBytes)).SetWord(frame)
	}
	return d.guard.Intern(scratch, uintptr(len(outer)))
}

func (d *debugger) stack(id uint32) Stack {
	frames, count := d.guard.Stack(id)
	stack := make(Stack, count)
	for i := range stack {
		stack[i] = (frames + sys.Addr(i*sys.WordBytes)).Word()
	}
	return stack
}

// call makes one call of the guard. It returns what was found about the block of the call; the rest goes to the misuse
// handler.
func (d *debugger) call(block sys.Addr, do func(stack uint32)) *MisuseError {
	debugging.Lock()
	found = found[:0]
	do(d.here())
	var own *MisuseError
	var others []*MisuseError
	for i := range found {
		d.guard.Mend(&found[i])
		e := d.explain(&found[i])
		if block != 0 && found[i].Block == block && own == nil && found[i].What != guard.FoundWrittenFreed {
			own = e
		} else {
			others = append(others, e)
		}
	}
	debugging.Unlock()
	for _, e := range others {
		d.heap.options.onMisuse(e)
	}
	return own
}

// explain makes an error of a finding.
func (d *debugger) explain(f *guard.Finding) *MisuseError {
	kinds := map[uint32]Misuse{
		guard.FoundFreedTwice: FreedTwice, guard.FoundWrittenFreed: WrittenFreed, guard.FoundInside: InsideBlock,
		guard.FoundNoBlock: NoBlock, guard.FoundPastEnd: WrittenPastEnd,
	}
	calls := map[uint32]string{
		guard.CallMalloc: "malloc", guard.CallFree: "free", guard.CallRealloc: "realloc",
		guard.CallUsableSize: "usable size", guard.CallExit: "exit",
	}
	return &MisuseError{
		Kind: kinds[f.What], Call: calls[f.Call], Addr: uintptr(f.Block), Start: uintptr(f.Start),
		Class: int(f.ClassBytes), Asked: int(f.Asked), Offset: int(f.Offset),
		AllocatedAt: d.stack(f.AllocStack), FreedAt: d.stack(f.FreeStack), FoundAt: d.stack(f.NowStack),
	}
}

func (d *debugger) alloc(size, alignment uintptr, zero bool) (unsafe.Pointer, error) {
	block := sys.Addr(0)
	d.call(0, func(stack uint32) { block = d.guard.Malloc(size, max(alignment, 16), stack) })
	if block == 0 {
		return nil, d.heap.whyNot(size)
	}
	if zero {
		clear(unsafe.Slice((*byte)(block.Pointer()), size))
	}
	if raceEnabled {
		raceAcquire(block)
	}
	return block.Pointer(), nil
}

// foreign says what is wrong with an address that the guard would take for one of the system allocator's.
func (d *debugger) foreign(call string, block sys.Addr) *MisuseError {
	if d.heap.contains(block) {
		return nil
	}
	known := false
	debugging.Lock()
	d.guard.EachLarge(func(other sys.Addr, asked uintptr) {
		known = known || block >= other && uintptr(block-other) < max(asked, 1)
	})
	debugging.Unlock()
	if known {
		return nil
	}
	return &MisuseError{Kind: NoBlock, Call: call, Addr: uintptr(block)}
}

func (d *debugger) free(block sys.Addr) error {
	if e := d.foreign("free", block); e != nil {
		return e
	}
	e := d.call(block, func(stack uint32) {
		d.guard.Free(block, stack)
		// What was written past its end is mended and freed after all, so that it is no leak as well.
		if n := len(found); n != 0 && found[n-1].What == guard.FoundPastEnd && found[n-1].Block == block {
			d.guard.Mend(&found[n-1])
			d.guard.Free(block, stack)
		}
		if len(found) == 0 || found[0].What == guard.FoundPastEnd || found[0].Block != block {
			d.generations[block]++
		}
	})
	if e != nil {
		return e
	}
	return nil
}

func (d *debugger) realloc(block sys.Addr, size uintptr) (unsafe.Pointer, error) {
	if e := d.foreign("realloc", block); e != nil {
		return nil, e
	}
	to := sys.Addr(0)
	e := d.call(block, func(stack uint32) {
		if to = d.guard.Realloc(block, size, stack); to != block && to != 0 {
			d.generations[block]++
		}
	})
	switch {
	case e != nil:
		return nil, e
	case to == 0:
		return nil, d.heap.whyNot(size)
	}
	return to.Pointer(), nil
}

func (d *debugger) usableSize(block sys.Addr) int {
	if d.foreign("", block) != nil {
		return 0
	}
	size := uintptr(0)
	if e := d.call(block, func(stack uint32) { size = d.guard.UsableSize(block, stack) }); e != nil {
		return 0
	}
	return int(size)
}

// startOf is the block that an address lies in, and the debugger of its heap; nil if it is in none.
func startOf(addr sys.Addr) (*debugger, sys.Addr) {
	h := find(addr)
	if h == nil || h.debug == nil {
		return nil, addr
	}
	if place := h.core.Locate(addr); place.Class != 0 {
		return h.debug, place.Start
	}
	return h.debug, addr
}

// generationOf is how often the block of an address was freed, counted from 1; 0 if nobody counts.
func generationOf(addr sys.Addr) uint16 {
	d, start := startOf(addr)
	if d == nil {
		return 0
	}
	debugging.Lock()
	defer debugging.Unlock()
	return max(d.generations[start]+1, 1)
}

// stillAlive reports whether the block of an address was freed as often as a Ref says. If not it tells the handler.
func stillAlive(addr sys.Addr, generation uint16) bool {
	d, start := startOf(addr)
	if d == nil {
		return false // its heap is closed
	}
	debugging.Lock()
	now := max(d.generations[start]+1, 1)
	debugging.Unlock()
	if now == generation {
		return true
	}
	e := &MisuseError{Kind: StaleRef, Call: "ref", Addr: uintptr(addr), Start: uintptr(start)}
	if place := d.heap.core.Locate(addr); place.Class != 0 {
		e.Class = int(core.ClassBytes(place.Class))
	}
	debugging.Lock()
	e.FoundAt = d.stack(d.here())
	debugging.Unlock()
	d.heap.options.onMisuse(e)
	return false
}
