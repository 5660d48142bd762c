//go:build gccgo

package object

import "granary/internal/core/sys"

// This file: the one world of a C program, and the functions that the C glue calls (clib/glue/object.c).

var process World

// ProcessStart prepares the world, once. system says that its memory is to come from the system allocator.
func ProcessStart(system bool) bool {
	fromSystem = system
	return process.Init(indexesMost)
}

func ProcessNewType(bytes uintptr, fields sys.Addr, count, total, flags uint32) sys.Addr {
	t := process.NewType(bytes, fields, count, total, flags)
	if t == nil {
		return 0
	}
	return t.addr()
}

func ProcessSetNameByte(t sys.Addr, at uintptr, value byte) { process.typeAt(t).SetNameByte(at, value) }

func ProcessSetReuseDistance(t sys.Addr, slots uint32) { process.typeAt(t).SetReuseDistance(slots) }

func ProcessCheckLayout(fields sys.Addr, count, total uint32, bytes uintptr) bool {
	return CheckLayout(fields, count, total, bytes)
}

func ProcessName(t sys.Addr) sys.Addr { return process.typeAt(t).Name() }

func ProcessBytes(t sys.Addr) uintptr { return process.typeAt(t).bytes }

func ProcessIsDiagnosed(t sys.Addr) bool { return process.typeAt(t).IsDiagnosed() }

func ProcessTypes() sys.Addr {
	process.lockWorld()
	newest := process.types
	sys.Unlock(&process.lock)
	return newest
}

func ProcessOlder(t sys.Addr) sys.Addr { return process.typeAt(t).older }

// ProcessTypeOf is the type whose slot a reference names, alive or not; 0 if it names none.
func ProcessTypeOf(ref Ref) sys.Addr {
	t := process.TypeOf(ref)
	if t == nil {
		return 0
	}
	return t.addr()
}

func ProcessNew(t sys.Addr) Ref { return process.New(process.typeAt(t)) }

func ProcessFind(ref Ref) sys.Addr {
	t := process.TypeOf(ref)
	if t == nil {
		return 0
	}
	return sys.Addr(uintptr(process.Find(ref, sys.Addr(t.stride))))
}

func ProcessIsAlive(ref Ref) bool { return process.IsAlive(ref) }

func ProcessDelete(ref Ref) bool { return process.Delete(ref) }

func ProcessDeleteAll(t sys.Addr) uint64 { return process.DeleteAll(process.typeAt(t)) }

func ProcessRetain(ref Ref) bool { return process.Retain(ref) }

func ProcessRelease(ref Ref) { process.Release(ref) }

func ProcessFirst(t sys.Addr) Ref { return process.First(process.typeAt(t)) }

func ProcessLast(t sys.Addr) Ref { return process.Last(process.typeAt(t)) }

func ProcessAfter(ref Ref) Ref { return process.After(ref) }

func ProcessBefore(ref Ref) Ref { return process.Before(ref) }

func ProcessMove(ref, beside Ref, after bool) bool { return process.Move(ref, beside, after) }

func ProcessStep(t sys.Addr, current Ref) Ref { return process.Step(process.typeAt(t), current) }

func ProcessHandle(ref Ref) uint64 { return process.Handle(ref) }

func ProcessFromHandle(t sys.Addr, number uint64) Ref {
	return process.FromHandle(process.typeAt(t), number)
}

func ProcessTrim(t sys.Addr) uint64 { return process.Trim(process.typeAt(t)) }

func ProcessRead(t sys.Addr, s *Stats) { process.Read(process.typeAt(t), s) }

// ProcessSites fills stacks with where an object of a diagnosed type was made and deleted, and returns whether both are
// known.
func ProcessSites(ref Ref, stacks *[2]uint32) bool {
	made, deleted, known := process.Sites(ref)
	stacks[0], stacks[1] = made, deleted
	return known
}

// ProcessNextAlive fills made with where the object was made that follows ref in its type's list, without holding it.
func ProcessNextAlive(t sys.Addr, ref Ref, made *uint32) Ref {
	next, stack := process.NextAlive(process.typeAt(t), ref)
	*made = stack
	return next
}

func ProcessForkPrepare() { process.ForkPrepare() }

func ProcessForkDone() { process.ForkDone() }
