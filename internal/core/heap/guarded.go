package heap

import (
	"sync/atomic"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: what package guard needs of a heap with ModeGuard: blocks one at a time, past the
// caches and without the mark of freed blocks, and what block an address belongs to.

// Place is where an address of the range lies.
type Place struct {
	Class  uintptr  // 0: in no span
	Index  uintptr  // of the block in its span; may be beyond the last one
	First  uintptr  // the span's first granule
	Start  sys.Addr // of the block
	Serial uint32   // of this use of the run as a span
}

// GuardedClass is the smallest class whose blocks hold so many bytes at a multiple of alignment, a
// power of two; 0 if there is none. It is never the class of 16 bytes: a granule has 2048 blocks
// at most, for which the guard has records.
func GuardedClass(bytes, alignment uintptr) uintptr {
	if bytes <= 16 {
		bytes = 17
	}
	if bytes > SmallMaxBytes {
		return 0
	}
	for class := classOf(binOf(bytes)); class <= ClassCount; class++ {
		if uintptr(classTable[class&63].bytes)&(alignment-1) == 0 {
			return class
		}
	}
	return 0
}

// ClassBytes is the size of a class's blocks.
func ClassBytes(class uintptr) uintptr { return uintptr(classTable[class&63].bytes) }

// ClassBlocks is how many of them a span has.
func ClassBlocks(class uintptr) uintptr { return uintptr(classTable[class&63].blocks) }

// TakeBlock takes a block of a class from its spans, and says whether it reads as zero. It returns
// 0 if there is no memory or a signal handler interrupted the core.
func (h *Heap) TakeBlock(class uintptr) (block sys.Addr, zero bool) {
	one := h.obtainOne(class)
	return sys.Addr(one &^ freshTag), one&freshTag != 0
}

// PutBlock gives one back. It returns false if a signal handler interrupted the core.
func (h *Heap) PutBlock(class uintptr, block sys.Addr) bool {
	return h.returnOne(class, block)
}

// Locate finds the block of an address in the range.
func (h *Heap) Locate(addr sys.Addr) Place {
	class := classOf(uintptr(h.OwnerOf(addr)))
	if class == 0 {
		return Place{}
	}
	info := &classTable[class&63]
	ref := h.spanOf(addr, info)
	first := h.Addr(ref)
	index := uintptr(addr-first) / uintptr(info.bytes)
	return Place{class, index, uintptr(ref), first + sys.Addr(index*uintptr(info.bytes)), h.span(ref).serial}
}

// SpanAt is the class of the span that begins at a granule, 0 if none does.
func (h *Heap) SpanAt(granule uintptr) uintptr {
	if granule >= h.Committed() {
		return 0
	}
	class := classOf(uintptr(h.OwnerWord(granule).Word16()))
	granules := uintptr(classTable[class&63].spanBytes) >> space.GranuleShift
	if class == 0 || granule&(granules-1) != 0 {
		return 0
	}
	return class
}

// SystemAlloc takes a block from the system allocator, counted and held to the limit as the normal
// tier's are, and a small one as an overflow.
func (h *Heap) SystemAlloc(alignment, size uintptr) sys.Addr {
	if !h.mayGrow(h.noCache, size) {
		return h.overLimit()
	}
	block := systemAllocate(alignment, size)
	if block == 0 {
		return 0
	}
	mallocs := uint64(1)
	if size <= SmallMaxBytes {
		atomic.AddUint64(&h.overflows, 1)
		mallocs = 0
	}
	h.count(h.noCache, mallocs, 0, uint64(size)*mallocs, int64(systemUsableSize(block)))
	h.countLive(int64(systemUsableSize(block)))
	return block
}

// SystemFree gives one back, or any other block of the system allocator.
func (h *Heap) SystemFree(block sys.Addr) { h.foreignFree(h.noCache, block) }

// SystemRealloc resizes one.
func (h *Heap) SystemRealloc(block sys.Addr, size uintptr) sys.Addr {
	return h.foreignRealloc(h.noCache, block, size)
}

// SystemUsableSize is what the system allocator says of one.
func (h *Heap) SystemUsableSize(block sys.Addr) uintptr { return systemUsableSize(block) }

// TooLarge is the answer to a request that no address space could hold.
func (h *Heap) TooLarge() sys.Addr { return h.tooLarge() }
