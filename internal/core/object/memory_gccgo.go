//go:build gccgo

package object

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// In the C library the memory for fields comes from the process's heap. While that is debugged, tables and fields come
// from the system allocator: they are nobody's leak.

//extern granary_system_calloc
func systemCalloc(bytes uintptr) uintptr

// stackHere is the number of the stack of the call under way, for types that are diagnosed.
//
//extern granary_object_stack
func stackHere() uint32

// reentered stops the program: a signal handler interrupted a call and made one for the same type.
//
//extern granary_object_reentered
func reentered()

var fromSystem bool

func allocate(bytes uintptr) sys.Addr {
	if fromSystem {
		return sys.Addr(systemCalloc(bytes))
	}
	return heap.ProcessCalloc(1, bytes)
}

// free takes back what allocate gave. The heap gives what is not its own to the system allocator.
func free(block sys.Addr) { heap.ProcessFree(block) }

//extern granary_object_free_block
func freeBlockAddr(block uintptr)

// freeBlock frees a block that a field holds, by the function that the program would call.
func freeBlock(block sys.Addr) { freeBlockAddr(uintptr(block)) }
