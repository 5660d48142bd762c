//go:build gc

package object

import "granary/internal/core/sys"

// In Go programs the memory for fields comes from package heap, which lies above the core. It sets these once, before
// the first type is made.
var (
	// AllocateHandler returns memory that reads as zero, at a multiple of 16; 0 if there is none.
	AllocateHandler func(bytes uintptr) sys.Addr
	// FreeHandler takes it back, and blocks that fields hold.
	FreeHandler func(block sys.Addr)
	// StackHandler returns a number for the stack of the call under way, for types that are diagnosed.
	StackHandler func() uint32
)

func allocate(bytes uintptr) sys.Addr { return AllocateHandler(bytes) }

func free(block sys.Addr) { FreeHandler(block) }

// freeBlock frees a block that a field holds.
func freeBlock(block sys.Addr) { FreeHandler(block) }

func stackHere() uint32 { return StackHandler() }

// reentered: see memory_gccgo.go. It cannot happen where threads have no ids.
func reentered() {}
