package heap

import (
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: what a caller needs that holds a cache for a moment only, as Go programs do that are pinned to their P:
// the fast paths alone, which neither wait nor fail, and the checks that belong before the slow ones.

// The steps of pop and push one by one, each small enough to be inlined: calls are what costs most in the fast paths of
// Go programs. They do not call each other, since each call that is inlined can leave an instruction behind that does
// nothing.

// Bin is one class of a cache.
type Bin = bin

// BinOf is the bin for a size up to SmallMaxBytes; see binOf.
func (c Cache) BinOf(size uintptr) *Bin {
	return (*bin)(unsafe.Add(unsafe.Pointer(nil),
		uintptr(c)+uintptr(*(*uint16)(unsafe.Add(unsafe.Pointer(&binOfUnits), (size+15)>>4*2)))))
}

// Newest is the value of the bin's newest block, 0 if it is empty.
func (b *Bin) Newest() uintptr { return b.newest }

// Take takes the newest block, which has that value, off the bin for a request of size bytes. It is no longer marked
// as freed.
func (b *Bin) Take(newest, size uintptr) sys.Addr {
	room := uintptr(b.room)
	b.newest = *(*uintptr)(unsafe.Add(unsafe.Pointer(b), binBytes+room*slotBytes))
	b.room = uint32(room) + 1
	b.mallocs++
	b.asked += uint64(size)
	*(*uintptr)(unsafe.Add(unsafe.Pointer(nil), newest&^freshTag+sys.WordBytes)) = 0
	return sys.Addr(newest &^ freshTag)
}

// Reach is what a free needs to know of the range: where it and its owner table begin, and how many granules were
// committed when it was asked for. Who keeps it beside the cache need not read the words of the Space, in whose line
// other threads write.
type Reach struct {
	Base     sys.Addr
	owners   sys.Addr
	granules uintptr
}

// Reach is the heap's, now. Blocks that are made later can lie beyond it.
func (h *Heap) Reach() Reach { return Reach{h.Base, h.OwnerWord(0), h.Committed()} }

// Covers reports whether BinAt may be asked about an address.
func (r *Reach) Covers(block sys.Addr) bool {
	return uintptr(block-r.Base)>>space.GranuleShift < r.granules
}

// BinAt is the bin for an address that is covered: one without room if no class has blocks there.
func (r *Reach) BinAt(c Cache, block sys.Addr) *Bin {
	owners := unsafe.Add(unsafe.Pointer(nil), uintptr(r.owners))
	offset := *(*uint16)(unsafe.Add(owners, uintptr(block-r.Base)>>space.GranuleShift*space.OwnerBytes))
	return (*bin)(unsafe.Add(unsafe.Pointer(nil), uintptr(c)+uintptr(offset)))
}

// Room is how many blocks Put can take; see push.
func (b *Bin) Room() uintptr { return uintptr(b.room) }

// Accepts reports whether Put may take the address, if the bin has room.
func (b *Bin) Accepts(base, block sys.Addr) bool {
	return b.isStart(uintptr(block)) && (block+sys.WordBytes).Word() != uintptr(base)
}

// Put takes a block back that the bin accepts.
func (b *Bin) Put(room uintptr, base, block sys.Addr) {
	*(*uintptr)(unsafe.Add(unsafe.Pointer(nil), uintptr(block)+sys.WordBytes)) = uintptr(base)
	*(*uintptr)(unsafe.Add(unsafe.Pointer(b), binBytes-slotBytes+room*slotBytes)) = b.newest
	b.newest = uintptr(block)
	b.room = uint32(room - 1)
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
	offset, ok := h.binOffset(block)
	return ok && c.bin(offset).push(h.Base, block)
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
