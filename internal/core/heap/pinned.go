package heap

import "granary/internal/core/sys"

// This file: what a caller needs that holds a cache for a moment only, as Go programs do that are pinned to their P:
// the fast paths alone, which neither wait nor fail, and the checks that belong before the slow ones.

// The steps of pop and push one by one, each small enough to be inlined: calls are what costs most in the fast paths of
// Go programs.

// Bin is one class of a cache.
type Bin = bin

// BinOf is the bin for a size up to SmallMaxBytes.
func (c Cache) BinOf(size uintptr) *Bin { return c.bin(binOf(size)) }

// Newest is the value of the bin's newest block, 0 if it is empty.
func (b *Bin) Newest() uintptr { return b.newest }

// Take takes the newest block off the bin, which is not empty, for a request of size bytes.
func (b *Bin) Take(size uintptr) { b.drop(size) }

// Unmark makes the block of a value that Take took off: it is no longer marked as freed.
func Unmark(newest uintptr) sys.Addr {
	block := sys.Addr(newest &^ freshTag)
	(block + sys.WordBytes).SetWord(0)
	return block
}

// Covers reports whether BinAt may be asked about an address: it lies in the range.
func (h *Heap) Covers(block sys.Addr) bool { return h.Granule(block) < h.CommittedPlain() }

// BinAt is the bin for an address that the heap covers.
func (h *Heap) BinAt(c Cache, block sys.Addr) *Bin {
	return c.bin(uintptr(h.OwnerWord(h.Granule(block)).Word16()))
}

// Accepts reports whether Put may take the address; see push.
func (b *Bin) Accepts(base, block sys.Addr) bool {
	return b.room != 0 && b.isStart(uintptr(block)) && (block+sys.WordBytes).Word() != uintptr(base)
}

// Put takes a block back that the bin accepts.
func (b *Bin) Put(base, block sys.Addr) {
	(block + sys.WordBytes).SetWord(uintptr(base))
	room := uintptr(b.room) - 1
	*b.slot(room) = b.newest
	b.newest = uintptr(block)
	b.room = uint32(room)
}

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
// address.
func (h *Heap) TryFree(c Cache, block sys.Addr) bool {
	if !h.Covers(block) {
		return false
	}
	b := h.BinAt(c, block)
	if !b.Accepts(h.Base, block) {
		return false
	}
	b.Put(h.Base, block)
	return true
}

// Judge says what is wrong with an address of the range that the program wants to free: 0, or a Misuse... value.
func (h *Heap) Judge(block sys.Addr) int {
	if h.normalBlock(block) != 0 {
		return returnedFine
	}
	return h.judge(classOf(uintptr(h.OwnerOf(block))), block)
}

// SizeAt is the size of the block of a class that begins at an address, 0 if none does or the block is free. It takes
// no lock unless the block looks free.
func (h *Heap) SizeAt(block sys.Addr) uintptr {
	granule := h.Granule(block)
	if granule >= h.CommittedPlain() {
		return 0
	}
	class := classOf(uintptr(h.OwnerWord(granule).Word16()))
	if class == 0 || h.judge(class, block) != returnedFine {
		return 0
	}
	return uintptr(classTable[class&63].bytes)
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

// Book counts bytes that the caller has of the system itself against the limit; negative ones no longer. It returns
// false, and counts nothing, if the limit has no room for them.
func (h *Heap) Book(bytes int64) bool {
	if bytes > 0 && !h.mayGrow(h.noCache, uintptr(bytes)) {
		h.overLimit()
		return false
	}
	h.countLive(bytes)
	return true
}
