//go:build gc

package heap

import "granary/internal/core/sys"

// In Go programs the system allocator is the operating system: a mapping a block, with the mapping's size in front.
// The caller holds its cache itself, and misuse is told to whoever set MisuseHandler.

const mappingHeader = 4096

func systemMalloc(size uintptr) sys.Addr {
	page := sys.PageBytes()
	bytes := sys.AlignUp(size, page) + mappingHeader
	if bytes < size {
		return 0
	}
	start := sys.Reserve(bytes)
	if start == 0 {
		return 0
	}
	if !sys.Commit(start, bytes) {
		sys.Release(start, bytes)
		return 0
	}
	start.SetWord(bytes)
	return start + mappingHeader
}

func systemCalloc(size uintptr) sys.Addr { return systemMalloc(size) }

func systemRealloc(block sys.Addr, size uintptr) sys.Addr {
	to := systemMalloc(size)
	if to == 0 {
		return 0
	}
	bytes := systemUsableSize(block)
	if bytes > size {
		bytes = size
	}
	sys.Copy(to, block, bytes)
	systemFree(block)
	return to
}

func systemAligned(alignment, size uintptr) sys.Addr {
	if alignment > mappingHeader {
		return 0 // no caller asks for more; package heap refuses it
	}
	return systemMalloc(size)
}

func systemFree(block sys.Addr) {
	start := block - mappingHeader
	sys.Release(start, start.Word())
}

func systemUsableSize(block sys.Addr) uintptr { return (block - mappingHeader).Word() - mappingHeader }

func noMemory() {}

func enterThread(h *Heap) Cache { return h.noCache }

// MisuseHandler, if set, is told of a block that was freed wrongly; what is one of the Misuse... values.
var MisuseHandler func(block sys.Addr, blockBytes uintptr, what int)

func (h *Heap) misuse(block sys.Addr, class uintptr, what int) {
	if MisuseHandler != nil {
		MisuseHandler(block, uintptr(classTable[class&63].bytes), what)
	}
}

// The guard of Go programs is not part of the core's heap yet: a heap with ModeGuard is for C programs.

func guardMalloc(size, alignment uintptr) sys.Addr { return 0 }

func guardFree(block sys.Addr) {}

func guardRealloc(block sys.Addr, size uintptr) sys.Addr { return 0 }

func guardUsableSize(block sys.Addr) uintptr { return 0 }
