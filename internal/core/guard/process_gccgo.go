//go:build gccgo

package guard

import (
	"unsafe"

	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// This file: the guard of the one heap of a C program, and the functions that the C glue calls
// (clib/glue/guard.c).

var process Guard

//extern granary_guard_report
func reportAddress(finding uintptr)

// report stops the program with a message.
func (g *Guard) report(f *Finding) { reportAddress(uintptr(unsafe.Pointer(f))) }

func ProcessStart(patterns bool) {
	h := heap.ProcessHeap()
	process.Init(h, sys.Addr(uintptr(unsafe.Pointer(h))), patterns)
}

func ProcessMalloc(size, alignment uintptr, stack uint32) sys.Addr {
	return process.Malloc(size, alignment, stack)
}

func ProcessFree(block sys.Addr, stack uint32) { process.Free(block, stack) }

func ProcessRealloc(block sys.Addr, size uintptr, stack uint32) sys.Addr {
	return process.Realloc(block, size, stack)
}

func ProcessUsableSize(block sys.Addr, stack uint32) uintptr {
	return process.UsableSize(block, stack)
}

func ProcessCheckSize(block sys.Addr, size uintptr, stack uint32) {
	process.CheckSize(block, size, stack)
}

// ProcessIntern is the number of a stack.
func ProcessIntern(frames sys.Addr, count uintptr) uint32 {
	return process.stacks.intern(frames, count)
}

// ProcessStack tells where a stack's frames are, and how many.
func ProcessStack(id uint32, count *uint32) sys.Addr {
	*count = 0
	if id == 0 {
		return 0
	}
	*count = uint32(process.stacks.at(id).count)
	return process.stacks.frames(id)
}

func ProcessStackAfter(id uint32) uint32 { return process.stacks.after(id) }

// ProcessSetKind says who allocates on a stack: one of the Kind... values.
func ProcessSetKind(id, kind uint32) { process.stacks.at(id).kind = uint16(kind) }

func ProcessCheckAll(f *Finding) bool { return process.CheckAll(f) }

func ProcessFindLeaks(ranges sys.Addr, count uintptr, totals *LeakTotals) bool {
	return process.FindLeaks(ranges, count, totals)
}

// ProcessStackLeaks tells how many blocks FindLeaks counted on a stack, and their bytes.
func ProcessStackLeaks(id uint32, bytes *uint64) uint64 {
	blocks, sum := process.StackLeaks(id)
	*bytes = sum
	return blocks
}

func ProcessForkPrepare() { process.ForkPrepare() }

func ProcessForkParent() { process.ForkParent() }

func ProcessForkChild() { process.ForkChild() }

func ProcessQuarantineBytes() uintptr { return process.QuarantineBytes() }

// ProcessQuarantineLargeBytes is the size of the freed blocks of the system allocator that are kept from reuse.
func ProcessQuarantineLargeBytes() uintptr { return process.large.queueBytes }

// ProcessGiveUpQuarantine makes all freed blocks free for good, for malloc_trim.
func ProcessGiveUpQuarantine() {
	process.emptyQuarantine(0)
	process.flushLarge(0)
}
