package gc

import (
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: what only drivers in Go programs call.

// DropChains empties all caches: what waits in them is found by the collection that begins next, as other free objects
// are. It is for drivers whose threads stand at safepoints, where none is amid an allocation. The caller is between
// Hold and Unhold, before BeginCycle.
func (h *Heap) DropChains() {
	for c := h.caches; c != 0; c = c.state().next {
		for kind := uint32(0); kind < cachedKinds; kind++ {
			for class := uintptr(0); class < classCount; class++ {
				h.dropChain(c.head(slotOf(kind, class)), class)
			}
		}
	}
}

// ImageBytes is the size of what SaveImage keeps.
const ImageBytes = unsafe.Sizeof(space.Space{}) + space.First*spaceRecordBytes

// SaveImage copies what Restart needs of a heap right after Init.
func (h *Heap) SaveImage(image sys.Addr) {
	sys.Copy(image, sys.Addr(uintptr(unsafe.Pointer(&h.Space))), unsafe.Sizeof(space.Space{}))
	sys.Copy(image+sys.Addr(unsafe.Sizeof(space.Space{})), h.Record(0), space.First*spaceRecordBytes)
}

// Retire ends a heap's life without giving its addresses up: all memory of objects and of the tables about them goes
// back to the system, and nobody else gets the addresses. Only addresses may be compared until Restart. It returns
// false if the system refuses to take memory back.
func (h *Heap) Retire() bool {
	return sys.Decommit(h.Base, h.Committed()<<space.GranuleShift) && sys.Decommit(h.tables, h.tableBytes)
}

// Restart begins anew in a heap's addresses, with its mode and another limit. It returns false, and the heap must not
// be used, if the system refuses.
func (h *Heap) Restart(image sys.Addr, limit uintptr) bool {
	fresh := (*space.Space)(image.Pointer())
	if !h.Renew(fresh.Committed()) || !sys.Decommit(h.tables, h.tableBytes) ||
		!sys.Commit(h.tables, uintptr(h.index-h.dirt)) {
		return false
	}
	mode, rounding, tables, tableBytes := h.mode, h.rounding, h.tables, h.tableBytes
	dirt, rooted, index, headers := h.dirt, h.rooted, h.index, h.headers
	sys.Clear(sys.Addr(uintptr(unsafe.Pointer(h))), unsafe.Sizeof(Heap{}))
	h.Space = *fresh
	sys.Copy(h.Record(0), image+sys.Addr(unsafe.Sizeof(space.Space{})), space.First*spaceRecordBytes)
	h.mode, h.rounding, h.tables, h.tableBytes = mode, rounding, tables, tableBytes
	h.dirt, h.rooted, h.index, h.headers, h.limit = dirt, rooted, index, headers, limit
	h.start()
	return true
}

// ObjectSize says what an object asked for with that many bytes takes: its size, and its share of blocks, in bytes. It
// is 0, 0 for what no heap can hold. interior is for heaps in ModeInterior.
func ObjectSize(bytes uintptr, interior bool) (size, memory uintptr) {
	if bytes > requestMost {
		return 0, 0
	}
	if interior {
		bytes++
	}
	granules := (bytes + GranuleBytes - 1) >> granuleShift
	switch {
	case granules > smallMaxGranules:
		return granules << granuleShift, sys.AlignUp(granules<<granuleShift, BlockBytes)
	case granules == 0:
		granules = 1
	}
	granules = granulesOf(classFor(granules))
	return granules << granuleShift, BlockBytes / (granulesPerBlock / granules)
}
