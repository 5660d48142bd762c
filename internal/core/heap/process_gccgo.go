//go:build gccgo

package heap

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: the one heap of a C program, and the functions that the C glue calls (clib/glue/core.h).

var process Heap

//extern granary_glue_cache
func currentCache() uintptr

// The fast paths of malloc and free are functions of their own, and which way is the usual one is said in C, where it
// can be (core.h): a branch taken in each costs a pair of calls a tenth of its time. The slow paths ask for the
// thread's cache again, so that the fast ones need not keep it in a register.

// ProcessTryMalloc returns a block if the thread's cache has one, else 0.
func ProcessTryMalloc(size uintptr) sys.Addr {
	if size > SmallMaxBytes {
		return 0
	}
	block, _ := Cache(currentCache()).pop(size)
	return block
}

//go:noinline
func ProcessMallocSlow(size uintptr) sys.Addr {
	return process.mallocSlow(Cache(currentCache()), size)
}

// ProcessTryFree is Heap.TryFree, but that it asks for the thread's cache last: with it in hand from the beginning free
// is one instruction longer.
func ProcessTryFree(block sys.Addr) bool {
	offset, ok := process.binOffset(block)
	return ok && Cache(currentCache()).bin(offset).push(process.Base, block)
}

//go:noinline
func ProcessFreeSlow(block sys.Addr) { process.freeSlow(Cache(currentCache()), block) }

func ProcessMalloc(size uintptr) sys.Addr {
	if block := ProcessTryMalloc(size); block != 0 {
		return block
	}
	return ProcessMallocSlow(size)
}

func ProcessFree(block sys.Addr) {
	if !ProcessTryFree(block) {
		ProcessFreeSlow(block)
	}
}

func ProcessCalloc(count, size uintptr) sys.Addr {
	return process.Calloc(Cache(currentCache()), count, size)
}

func ProcessRealloc(block sys.Addr, size uintptr) sys.Addr {
	return process.Realloc(Cache(currentCache()), block, size)
}

func ProcessAlignedAlloc(alignment, size uintptr) sys.Addr {
	return process.AlignedAlloc(Cache(currentCache()), alignment, size)
}

func ProcessUsableSize(block sys.Addr) uintptr { return process.UsableSize(block) }

func ProcessGoodSize(size uintptr) uintptr { return ClassSize(size) }

// ProcessOwns reports whether the address lies in a span of the heap; blocks of the normal tier lie in none.
func ProcessOwns(block sys.Addr) bool { return process.OwnerOf(block) != 0 }

// ProcessSpace is the range of the heap, for what has runs of it beside the heap.
func ProcessSpace() *space.Space { return &process.Space }

// ProcessFitsLimit reports whether the limit leaves room for a run of so many bytes.
func ProcessFitsLimit(bytes uintptr) bool { return process.limit == 0 || process.fitsLimit(bytes) }

// ProcessStart prepares the heap. range, mode and limit are as for Init.
func ProcessStart(rangeBytes uintptr, noCache uintptr, mode uint32, limit uintptr) bool {
	return process.Init(rangeBytes, Cache(noCache), mode, limit)
}

func ProcessNewCache() uintptr { return uintptr(process.NewCache()) }

func ProcessDropCache(c uintptr) { process.DropCache(Cache(c)) }

// ProcessIdle sweeps if it is time; age is in nanoseconds, 0 for all that is free. It fills result.
func ProcessIdle(now, age uint64, result *IdleResult) {
	done, wake := process.Idle(Cache(currentCache()), now, age)
	result.Runs, result.Bytes, result.Longest, result.Wake = done.Runs, done.Bytes, done.Longest, wake
}

// IdleResult is what ProcessIdle tells; struct granary_idle_result in core.h has its layout.
type IdleResult struct {
	Runs, Bytes, Longest, Wake uint64
}

func ProcessReadStats(stats *AllStats) { process.ReadStats(stats) }

// ProcessNormalRuns fills counts with the blocks and bytes of NormalRuns.
func ProcessNormalRuns(counts *[2]uint64) { counts[0], counts[1] = process.NormalRuns() }

func ProcessForkPrepare() { process.ForkPrepare() }

func ProcessForkParent() { process.ForkParent() }

func ProcessForkChild() { process.ForkChild(Cache(currentCache())) }
