//go:build gccgo

package gc

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: the functions that the C library calls to collect, and for finalizers, links and typed objects.

// ProcessRange says where the range lies.
func ProcessRange(base, bytes *uintptr) {
	*base = uintptr(process.Base)
	*bytes = process.Stats().Range
}

// ProcessEnd is the end of the highest block in use.
func ProcessEnd() sys.Addr { return process.Base + sys.Addr(atomic.LoadUintptr(&process.highest)) }

func ProcessBaseOf(addr sys.Addr) sys.Addr { return process.BaseOf(addr) }

func ProcessSizeOf(addr sys.Addr) uintptr { return process.SizeOf(addr) }

func ProcessKindOf(addr sys.Addr) uint32 { return process.KindOf(addr) }

func ProcessIsMarked(addr sys.Addr) bool { return process.IsMarked(addr) }

func ProcessSetMark(addr sys.Addr) { process.SetMark(addr) }

func ProcessClearMark(addr sys.Addr) { process.ClearMark(addr) }

func ProcessRegisterDisplacement(offset uintptr) bool { return process.RegisterDisplacement(offset) }

func ProcessBeginCycle(full bool) { process.BeginCycle(full) }

func ProcessMarkRange(lo, hi sys.Addr) { process.MarkRange(lo, hi) }

func ProcessMarkAddress(word uintptr) { process.MarkAddress(word) }

func ProcessMarkUncollectable() { process.MarkUncollectable() }

func ProcessRescanBlock(addr sys.Addr) { process.RescanBlock(addr) }

func ProcessDrain(deadline uint64) bool { return process.Drain(deadline) }

func ProcessFinishMarking() { process.FinishMarking() }

func ProcessMarkFromProcedure(marker sys.Addr, word uintptr) { process.MarkFromProcedure(marker, word) }

func ProcessHelpersWanted() uint32 { return process.HelpersWanted() }

func ProcessStartHelpers(helpers uint32) { process.StartHelpers(helpers) }

func ProcessHelp(number uint32) { process.Help(number) }

func ProcessSetJavaFinalization(on bool) { process.SetJavaFinalization(on) }

// ProcessRegisterFinalizer fills old with the function and the data that there were before.
func ProcessRegisterFinalizer(obj sys.Addr, fn, data uintptr, order uint32, old *[2]uintptr) bool {
	oldFn, oldData, ok := process.RegisterFinalizer(obj, fn, data, order)
	old[0], old[1] = oldFn, oldData
	return ok
}

// ProcessNextReady fills ready with the object, the function and the data.
func ProcessNextReady(ready *[3]uintptr) bool {
	obj, fn, data, ok := process.NextReady()
	ready[0], ready[1], ready[2] = uintptr(obj), fn, data
	return ok
}

func ProcessReadyCount() uint32 { return process.ReadyCount() }

func ProcessReadyAll() bool { return process.ReadyAll() }

func ProcessRegisterLink(link, obj sys.Addr, long bool) int32 {
	return int32(process.RegisterLink(link, obj, long))
}

func ProcessUnregisterLink(link sys.Addr, long bool) bool { return process.UnregisterLink(link, long) }

func ProcessMoveLink(from, to sys.Addr, long bool) int32 {
	return int32(process.MoveLink(from, to, long))
}

func ProcessSetToggle(obj sys.Addr, state int32) bool { return process.SetToggle(obj, int(state)) }

// ProcessNextToggle returns the object of the next toggle from cursor on, and moves cursor behind it.
func ProcessNextToggle(cursor *uintptr) sys.Addr {
	obj, next := process.NextToggle(*cursor)
	*cursor = next
	return obj
}

func ProcessReadFinalization(stats *FinalizationStats) { process.ReadFinalization(stats) }

func ProcessMakeDescriptor(bitmap sys.Addr, bits uintptr) uintptr {
	return process.MakeDescriptor(bitmap, bits)
}

// ProcessMakeArrayDescriptor returns false where a conservative kind will do.
func ProcessMakeArrayDescriptor(bitmap sys.Addr, elementWords uintptr, descriptor *uintptr) bool {
	made, ok := process.MakeArrayDescriptor(bitmap, elementWords)
	*descriptor = made
	return ok
}

func ProcessNextMarked(after sys.Addr) sys.Addr { return process.NextMarked(after) }

func ProcessMarkFromKind(kind uint32) { process.MarkFromKind(kind) }

func ProcessSetLeastTarget(bytes uintptr) { process.SetLeastTarget(bytes) }
