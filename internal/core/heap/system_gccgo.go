//go:build gccgo

package heap

import "granary/internal/core/sys"

// The system allocator of a C program is the libc's own; the glue reaches it under the names that the libc keeps for
// itself. The guard is a package above this one, so it is named here by its symbols.

//extern granary_system_malloc
func systemMalloc(size uintptr) sys.Addr

//extern granary_system_calloc
func systemCalloc(size uintptr) sys.Addr

//extern granary_system_realloc
func systemRealloc(block sys.Addr, size uintptr) sys.Addr

//extern granary_system_aligned
func systemAligned(alignment, size uintptr) sys.Addr

//extern granary_system_free
func systemFree(block sys.Addr)

//extern granary_system_usable_size
func systemUsableSize(block sys.Addr) uintptr

// noMemory sets errno to ENOMEM.
//
//extern granary_system_no_memory
func noMemory()

//extern granary_guard_malloc
func guardMalloc(size, alignment uintptr) sys.Addr

//extern granary_guard_free
func guardFree(block sys.Addr)

//extern granary_guard_realloc
func guardRealloc(block sys.Addr, size uintptr) sys.Addr

//extern granary_guard_usable_size
func guardUsableSize(block sys.Addr) uintptr

// enterThread gives the calling thread a cache if it may have one, and starts the process's heap if need be.
//
//extern granary_glue_enter
func enter() uintptr

func enterThread(h *Heap) Cache { return Cache(enter()) }

//extern granary_glue_misuse
func reportMisuse(block sys.Addr, start sys.Addr, bytes uintptr, what int)

// misuse stops the program with a message.
func (h *Heap) misuse(block sys.Addr, class uintptr, what int) {
	info := &classTable[class&63]
	start := block
	if class != 0 {
		first := h.Addr(h.spanOf(block, info))
		start -= sys.Addr(uint32(block-first) % info.bytes)
	}
	reportMisuse(block, start, uintptr(info.bytes), what)
}
