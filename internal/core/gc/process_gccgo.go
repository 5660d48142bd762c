//go:build gccgo

package gc

import "granary/internal/core/sys"

// This file: the one managed heap of a C program, and the functions that the C library calls for allocation
// (clib/gc/gc_core.h).

var process Heap

func ProcessStart(rangeBytes uintptr, mode uint32, limit uintptr) bool {
	return process.Init(rangeBytes, mode, limit)
}

func ProcessNewCache() uintptr { return uintptr(process.NewCache()) }

func ProcessDropCache(c uintptr) { process.DropCache(Cache(c)) }

func ProcessForgetChains(c uintptr) { process.ForgetChains(Cache(c)) }

// ProcessAlloc is Heap.Alloc: 0 means that ProcessAllocSlow has to be called.
func ProcessAlloc(c, bytes uintptr, kind uint32) sys.Addr {
	return process.Alloc(Cache(c), bytes, kind)
}

func ProcessAllocSlow(c, bytes uintptr, kind, flags uint32, need *uint32) sys.Addr {
	object, why := process.AllocSlow(Cache(c), bytes, kind, flags)
	*need = why
	return object
}

func ProcessAllocMany(c, granules uintptr, kind, flags uint32, need *uint32) sys.Addr {
	first, why := process.AllocMany(Cache(c), granules, kind, flags)
	*need = why
	return first
}

func ProcessFree(c uintptr, object sys.Addr) bool { return process.Free(Cache(c), object) }

func ProcessResize(object sys.Addr, bytes uintptr) bool { return process.Resize(object, bytes) }

func ProcessRoundedSize(bytes uintptr, kind uint32) uintptr { return process.RoundedSize(bytes, kind) }

// ProcessNewKind returns the number of the kind, or kindMost if there are too many.
func ProcessNewKind(descriptor uintptr, adjustBySize, clear bool) uint32 {
	kind, ok := process.NewKind(descriptor, adjustBySize, clear)
	if !ok {
		return kindMost
	}
	return kind
}

func ProcessSetDisclaim(kind, procedure uint32) { process.SetDisclaim(kind, procedure) }

func ProcessShouldCollect() bool { return process.ShouldCollect() }

func ProcessExpand(bytes uintptr) bool { return process.Expand(bytes) }

func ProcessSetDivisor(divisor uintptr) { process.SetDivisor(divisor) }

func ProcessSetLimit(bytes uintptr) { process.SetLimit(bytes) }

func ProcessHold() bool { return process.Hold() }

func ProcessUnhold() { process.Unhold() }

func ProcessStartSweep() { process.StartSweep() }

func ProcessSort(deadline uint64) bool { return process.Sort(deadline) }

func ProcessSweepAll(blocks uintptr) bool { return process.SweepAll(blocks) }

// IdleResult is what ProcessIdle tells.
type IdleResult struct {
	Runs, Bytes, Longest, Wake uint64
}

func ProcessIdle(now, age uint64, result *IdleResult) {
	done, wake := process.Idle(now, age)
	result.Runs, result.Bytes, result.Longest, result.Wake = done.Runs, done.Bytes, done.Longest, wake
}

func ProcessReadStats(stats *Stats) { process.ReadStats(stats) }

func ProcessReadKind(kind uint32, stats *KindStats) { process.ReadKind(kind, stats) }

func ProcessForkPrepare() bool { return process.ForkPrepare() }

func ProcessForkParent() { process.ForkParent() }

func ProcessForkChild(c uintptr) { process.ForkChild(Cache(c)) }
