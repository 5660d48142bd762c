package gc

import (
	"sync/atomic"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: from an address to the object that holds it.

// place is an object: the first block of what it lies in, and the granule in that block at which it begins.
type place struct {
	block   blockRef
	granule uintptr // 0 for a large object
}

// locate finds the object that holds an offset from the base, wherever in the object that is.
func (h *Heap) locate(offset uintptr) (place, bool) {
	if offset >= atomic.LoadUintptr(&h.highest) {
		return place{}, false
	}
	first := *h.indexEntry(blockRef(offset >> blockShift))
	if first == 0 {
		return place{}, false
	}
	hd := h.header(first)
	if hd.state == stateSmall {
		index := (offset & (BlockBytes - 1)) >> granuleShift * uintptr(hd.reciprocal) >> 16
		return place{first, index * uintptr(hd.granules)}, index < uintptr(hd.objects)
	}
	return place{first, 0}, hd.state == stateLarge && offset-uintptr(first)<<blockShift < hd.bytes
}

// startOf is the first byte of an object.
func (h *Heap) startOf(p place) sys.Addr {
	return h.blockAddr(p.block) + sys.Addr(p.granule<<granuleShift)
}

// isDisplaced reports whether an address so many bytes behind the start of an object keeps it alive even without
// ModeInterior.
func (h *Heap) isDisplaced(bytes uintptr) bool {
	return bytes < BlockBytes && h.displaced[bytes>>3&(BlockBytes/8-1)]>>(bytes&7)&1 != 0
}

// BaseOf is the start of the object that holds the address, 0 for none. It takes no lock; an object that is being
// freed meanwhile is found or not.
func (h *Heap) BaseOf(addr sys.Addr) sys.Addr {
	p, ok := h.locate(uintptr(addr - h.Base))
	if !ok {
		return 0
	}
	return h.startOf(p)
}

// SizeOf is the size in bytes, as rounded up when it was allocated, of the object that holds the address; 0 for none.
func (h *Heap) SizeOf(addr sys.Addr) uintptr {
	p, ok := h.locate(uintptr(addr - h.Base))
	if !ok {
		return 0
	}
	return h.header(p.block).bytes
}

// KindOf is the kind of the object that holds the address. It is KindPointerFree where there is none.
func (h *Heap) KindOf(addr sys.Addr) uint32 {
	p, ok := h.locate(uintptr(addr - h.Base))
	if !ok {
		return KindPointerFree
	}
	return uint32(h.header(p.block).kind)
}

// IsMarked reports whether the collection has found the object that holds the address. It means something from the
// first root on until the next collection begins.
func (h *Heap) IsMarked(addr sys.Addr) bool {
	p, ok := h.locate(uintptr(addr - h.Base))
	return ok && !h.isStale(h.header(p.block)) && h.header(p.block).isFound(p.granule)
}

// SetMark marks the object that holds the address, without looking at what it holds. The world must stand.
func (h *Heap) SetMark(addr sys.Addr) {
	p, ok := h.locate(uintptr(addr - h.Base))
	if ok {
		hd := h.header(p.block)
		h.freshen(hd)
		hd.marks[p.granule>>6&3] |= 1 << (p.granule & 63)
		h.recordRoot(h.startOf(p), rootMarkOnly)
	}
}

// ClearMark takes the mark of the object that holds the address away. The world must stand.
func (h *Heap) ClearMark(addr sys.Addr) {
	p, ok := h.locate(uintptr(addr - h.Base))
	if ok {
		hd := h.header(p.block)
		h.freshen(hd)
		hd.marks[p.granule>>6&3] &^= 1 << (p.granule & 63)
	}
}

// isFound reports whether the object at a granule is marked or will be.
func (hd *header) isFound(granule uintptr) bool {
	return (hd.marks[granule>>6&3]|hd.grey[granule>>6&3])>>(granule&63)&1 != 0
}

// blockAfter is the block behind what begins at this one, for walks in order of address. Granules of the space that
// are not the heap's have no state in any of their headers.
func (h *Heap) blockAfter(block blockRef) blockRef {
	hd := h.header(block)
	switch hd.state {
	case stateSmall:
		return block + 1
	case stateLarge, stateFree:
		return block + blockRef(hd.blocks)
	}
	return block&^(blocksPerSpaceGranule-1) + blocksPerSpaceGranule
}

// firstBlock and blockLimit are where such a walk begins and ends.
const firstBlock = blockRef(space.First * blocksPerSpaceGranule)

func (h *Heap) blockLimit() blockRef { return blockRef(atomic.LoadUintptr(&h.highest) >> blockShift) }
