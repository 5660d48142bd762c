package heap

import (
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: a heap that ends while the process goes on, and whose range serves another one later. The range itself
// must stay reserved: an address of it that a program has kept would otherwise become one of whatever is mapped there
// next.
//
// What Init leaves behind is little: the Heap itself and the records of the first granules; all other tables read as
// zero. So a copy of the two is all it takes to begin anew.

// ImageBytes is the size of such a copy, in whole pages.
func ImageBytes() uintptr {
	return sys.AlignUp(unsafe.Sizeof(Heap{})+space.First*spanRecordBytes, sys.PageBytes())
}

// SaveImage copies a heap right after Init.
func (h *Heap) SaveImage(image sys.Addr) {
	sys.Copy(image, h.addr(), unsafe.Sizeof(Heap{}))
	sys.Copy(image+sys.Addr(unsafe.Sizeof(Heap{})), h.Record(0), space.First*spanRecordBytes)
}

// Restart gives all memory of the heap's range back to the system and begins anew, with another mode and limit. Nobody
// else may use the heap meanwhile. It returns false, and the heap is not to be used again, if the system refuses.
func (h *Heap) Restart(image sys.Addr, mode uint32, limit uintptr) bool {
	if !h.Renew((*Heap)(image.Pointer()).Committed()) {
		return false
	}
	sys.Copy(h.addr(), image, unsafe.Sizeof(Heap{}))
	sys.Copy(h.Record(0), image+sys.Addr(unsafe.Sizeof(Heap{})), space.First*spanRecordBytes)
	h.mode, h.limit = mode, limit
	return true
}

// addr is where the heap lies: outside of the Go heap, so it does not change.
func (h *Heap) addr() sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(h))) }
