//go:build gc && linux

package sys

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PageBytes is the size of a page of the system.
func PageBytes() uintptr { return uintptr(unix.Getpagesize()) }

// Reserve takes address space; see the package comment. It returns 0 if the system refuses.
func Reserve(bytes uintptr) Addr {
	addr, err := unix.MmapPtr(-1, 0, nil, bytes, unix.PROT_NONE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		return 0
	}
	return Addr(uintptr(addr))
}

// Commit makes reserved address space usable. It returns false if the system refuses.
func Commit(addr Addr, bytes uintptr) bool {
	return unix.Mprotect(slice(addr, bytes), unix.PROT_READ|unix.PROT_WRITE) == nil
}

// Decommit gives the memory of committed pages back; they read as zero from then on. It returns false if the
// system refuses, and then the contents are as before.
func Decommit(addr Addr, bytes uintptr) bool {
	return unix.Madvise(slice(addr, bytes), unix.MADV_DONTNEED) == nil
}

// Release gives address space back.
func Release(addr Addr, bytes uintptr) {
	if err := unix.MunmapPtr(addr.Pointer(), bytes); err != nil {
		panic("granary: BUG: munmap of a reserved range failed: " + err.Error())
	}
}

// AddressSpaceLimit is how many bytes of address space the process may have in all, ^0 if there is no limit.
func AddressSpaceLimit() uintptr {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur == unix.RLIM_INFINITY {
		return ^uintptr(0)
	}
	return uintptr(limit.Cur)
}

// Now is the monotonic time in nanoseconds.
func Now() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 1
	}
	return uint64(now.Nano())
}

// ThreadID is the same for all in Go programs: goroutines have no identity, and no signal handler of a Go
// program runs Go code on top of the core.
func ThreadID() uint32 { return 1 << 30 }

// threadsHaveIDs: see lock.go.
const threadsHaveIDs = false

const lockSpins = 100

func cpuRelax() {}

func lockWait(word *uint32, value uint32) { runtime.Gosched() }

func lockWake(word *uint32) {}

// Clear sets memory to zero.
func Clear(addr Addr, bytes uintptr) {
	b := slice(addr, bytes)
	for i := range b {
		b[i] = 0
	}
}

// Copy copies memory; the two pieces do not overlap. Not inlined: Go 1.26's compiler stops with an internal error on a
// copy of a constant size between such slices.
//
//go:noinline
func Copy(to, from Addr, bytes uintptr) { copy(slice(to, bytes), slice(from, bytes)) }

// Move copies memory; the two pieces may overlap.
//
//go:noinline
func Move(to, from Addr, bytes uintptr) { copy(slice(to, bytes), slice(from, bytes)) }

func slice(addr Addr, bytes uintptr) []byte {
	return unsafe.Slice((*byte)(addr.Pointer()), bytes)
}
