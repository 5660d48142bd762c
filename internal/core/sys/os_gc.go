//go:build gc

package sys

import (
	"runtime"
	"unsafe"
)

// PageBytes is the size of a page of the system.
func PageBytes() uintptr {
	if page := systemPageBytes(); page > leastPageBytes {
		return page
	}
	return leastPageBytes
}

// wholePages reports whether a piece begins and ends with a page. It matters to tests only; see strict_gc.go.
func wholePages(addr Addr, bytes uintptr) bool { return (uintptr(addr)|bytes)&(leastPageBytes-1) == 0 }

// mostBytes is the largest piece that can be had: a slice of bytes must be able to cover it.
const mostBytes = ^uintptr(0) >> 1

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
