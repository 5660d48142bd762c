package heap

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: what a caller needs that holds a cache for a moment only, as Go programs do that are pinned to their P:
// the fast paths alone, which neither wait nor fail, and the checks that belong before the slow ones.

// TryMalloc returns a block if the cache has one.
func (c Cache) TryMalloc(size uintptr) (block sys.Addr, ok bool) { return c.pop(size) }

// TryCalloc is TryMalloc, and says whether the block reads as zero.
func (c Cache) TryCalloc(size uintptr) (block sys.Addr, zero, ok bool) {
	b := c.bin(binOf(size))
	newest := b.newest
	if newest == 0 {
		return 0, false, false
	}
	b.drop(size)
	block, zero = unmarked(newest)
	return block, zero, true
}

// TryFree takes a block back if the cache has room for it. It reads no memory that is not the heap's own, whatever the
// address. It does what binOffset and push do, in one function: the calls would be a fifth of its time.
func (h *Heap) TryFree(c Cache, block sys.Addr) bool {
	granule := h.Granule(block)
	if granule >= h.CommittedPlain() {
		return false
	}
	b := c.bin(uintptr(h.OwnerWord(granule).Word16()))
	base := uintptr(h.Base)
	room := uintptr(b.room)
	if room == 0 || !b.isStart(uintptr(block)) || (block+sys.WordBytes).Word() == base {
		return false
	}
	(block + sys.WordBytes).SetWord(base)
	*b.slot(room - 1) = b.newest
	b.newest = uintptr(block)
	b.room--
	return true
}

// Judge says what is wrong with an address of the range that the program wants to free: 0, or a Misuse... value.
func (h *Heap) Judge(block sys.Addr) int {
	if h.normalBlock(block) != 0 {
		return returnedFine
	}
	class := classOf(uintptr(h.OwnerOf(block)))
	if class == 0 {
		granule := h.Granule(block)
		if granule < h.Committed() && h.normalRun(space.Ref(granule)).class == classNormalFreed &&
			h.Addr(space.Ref(granule))+sys.Addr(h.normalRun(space.Ref(granule)).offset) == block {
			return MisuseTwice
		}
		return MisuseForeign
	}
	info := &classTable[class&63]
	offset := uint32(block-h.Addr(h.spanOf(block, info))) & (info.spanBytes - 1)
	if offset*info.magic >= info.magic || offset/info.bytes >= info.blocks {
		return MisuseInside
	}
	if (block+sys.WordBytes).Word() == uintptr(h.Base) && h.isFree(class, block) {
		return MisuseTwice
	}
	return returnedFine
}

// FitsLimit reports whether the limit leaves room for a block of so many bytes.
func (h *Heap) FitsLimit(bytes uintptr) bool {
	if bytes <= SmallMaxBytes {
		bytes = uintptr(classTable[classOf(binOf(bytes))&63].spanBytes)
	}
	return h.limit == 0 || h.fitsLimit(bytes)
}

// LargeMalloc returns a block that the normal tier serves, whatever its size, or 0.
func (h *Heap) LargeMalloc(c Cache, size uintptr) sys.Addr { return h.normalMalloc(c, size) }

// Traffic is the number of blocks that the cache has handed out. While it does not change nobody uses the cache for
// allocation.
func (c Cache) Traffic() uint64 {
	total := uint64(0)
	for class := uintptr(1); class <= ClassCount; class++ {
		total += c.classBin(class).mallocs
	}
	return total
}

// Empty reports whether the cache holds no block.
func (c Cache) Empty() bool { return c.isEmpty() }

// FlushCache hands all blocks of a cache to their spans.
func (h *Heap) FlushCache(c Cache) {
	if !h.without(c) {
		h.flushAll(c)
	}
}

// IsNormal reports whether the address is that of a block of the normal tier's runs.
func (h *Heap) IsNormal(block sys.Addr) bool { return h.normalBlock(block) != 0 }
