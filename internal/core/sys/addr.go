package sys

import "unsafe"

// Addr is the address of memory outside the Go heap, or 0 for none.
type Addr uintptr

// WordBytes is the room that a machine word has in the core's tables. Where words are smaller, as they may be in Go
// programs, the rest is unused, so that all layouts are the same.
const WordBytes = 8

// LineBytes is a cache line of the processor.
const LineBytes = 64

// Is64Bit is 1 where addresses have 64 bits, else 0: an untyped constant for sizes that depend on it.
const Is64Bit = 1<<(^uintptr(0)>>63) - 1

// Pointer converts the address for one access. Adding to nil instead of converting keeps go vet's and checkptr's
// rules: the result points outside of the Go heap, and the compilers emit a plain move.
func (a Addr) Pointer() unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(nil), uintptr(a))
}

// Word reads the machine word at the address.
func (a Addr) Word() uintptr { return *(*uintptr)(a.Pointer()) }

// SetWord writes the machine word at the address.
func (a Addr) SetWord(value uintptr) { *(*uintptr)(a.Pointer()) = value }

// Word16 reads the 16-bit value at the address.
func (a Addr) Word16() uint16 { return *(*uint16)(a.Pointer()) }

// SetWord16 writes the 16-bit value at the address.
func (a Addr) SetWord16(value uint16) { *(*uint16)(a.Pointer()) = value }

// AlignUp rounds n up to a multiple of align, a power of two.
func AlignUp(n, align uintptr) uintptr { return (n + align - 1) &^ (align - 1) }
