package heap

import "granary/internal/core/sys"

// UsableSize is the bytes of a block that the program may use, at least what it asked for and the same as long as
// the block lives; 0 for address 0.
func (h *Heap) UsableSize(block sys.Addr) uintptr {
	if block == 0 {
		return 0
	}
	if h.mode&ModeGuard != 0 {
		return guardUsableSize(block)
	}
	if bytes := h.blockBytes(block); bytes != 0 {
		return bytes
	}
	return systemUsableSize(block)
}

// Realloc makes a block larger or smaller; its contents up to the smaller size stay. block is not 0, and neither is
// size. It returns 0, and leaves the block as it was, if there is no memory. The block stays where it is while the
// new size rounds to the same class, or is more than half of the block.
func (h *Heap) Realloc(c Cache, block sys.Addr, size uintptr) sys.Addr {
	if size > requestMaxBytes {
		return h.tooLarge()
	}
	if h.mode&(ModeGuard|ModeSystem) != 0 {
		if h.mode&ModeGuard != 0 {
			return guardRealloc(block, size)
		}
		return systemRealloc(block, size)
	}
	if !h.Owns(block) {
		return h.reallocForeign(c, block, size)
	}
	bytes := uintptr(0)
	if ref := h.normalBlock(block); ref != 0 {
		if size > SmallMaxBytes {
			return h.normalRealloc(c, ref, size)
		}
		bytes = h.normalRun(ref).bytes
	} else {
		class := classOf(uintptr(h.OwnerOf(block)))
		if !h.validate(class, block) {
			return 0
		}
		bytes = uintptr(classTable[class&63].bytes)
	}
	if size <= bytes && (size > bytes/2 || size <= SmallMaxBytes && ClassSize(size) == bytes) {
		return block
	}
	to := h.Malloc(c, size)
	if to == 0 {
		return 0
	}
	if bytes > size {
		bytes = size
	}
	sys.Copy(to, block, bytes)
	h.Free(c, block)
	return to
}

// reallocForeign resizes a block of the system allocator. One that becomes small moves into a class.
func (h *Heap) reallocForeign(c Cache, block sys.Addr, size uintptr) sys.Addr {
	if h.without(c) {
		c = enterThread(h)
	}
	if size > SmallMaxBytes {
		return h.foreignRealloc(c, block, size)
	}
	to := h.Malloc(c, size)
	if to == 0 {
		return 0
	}
	bytes := systemUsableSize(block)
	if bytes > size {
		bytes = size
	}
	sys.Copy(to, block, bytes)
	h.foreignFree(c, block)
	return to
}

// AlignedAlloc returns a block of at least size bytes at a multiple of alignment, a power of two, or 0 if there is
// no memory. Blocks of a class whose size is a multiple of the alignment are aligned by themselves, as spans start
// at multiples of 64 KiB.
func (h *Heap) AlignedAlloc(c Cache, alignment, size uintptr) sys.Addr {
	if alignment <= 16 {
		return h.Malloc(c, size)
	}
	if size > requestMaxBytes || alignment > requestMaxBytes {
		return h.tooLarge()
	}
	if h.without(c) {
		c = enterThread(h)
	}
	if h.mode&ModeGuard != 0 {
		return guardMalloc(size, alignment)
	}
	if h.mode&ModeSystem != 0 {
		return systemAligned(alignment, size)
	}
	bytes := AlignedSize(alignment, size)
	if bytes == 0 {
		return h.normalAligned(c, alignment, size)
	}
	block := h.Malloc(c, bytes)
	if uintptr(block)&(alignment-1) != 0 {
		// The range was full and the system allocator served without knowing of the alignment.
		h.Free(c, block)
		return h.normalAligned(c, alignment, size)
	}
	return block
}

// AlignedSize is the size of the smallest class for size bytes whose blocks lie at multiples of alignment, a power of
// two; 0 if no class will do. size and alignment are at most requestMaxBytes.
func AlignedSize(alignment, size uintptr) uintptr {
	bytes := sys.AlignUp(size, alignment)
	if bytes == 0 {
		bytes = alignment
	}
	if bytes > SmallMaxBytes {
		return 0
	}
	for class := classOf(binOf(bytes)); class <= ClassCount; class++ {
		bytes = uintptr(classTable[class&63].bytes)
		if bytes&(alignment-1) == 0 {
			return bytes
		}
	}
	return 0
}
