package heap

import (
	"unsafe"

	"granary/internal/core/sys"
)

// Cache is the address of a thread's cache: bins, each with its slots behind it, then the header (offsets in
// sizeclass_table.go). It belongs to one thread at a time; in a Go program to whoever is pinned to its P.
//
// A Cache of zeros sends every call to the slow path: that is all it takes to have no cache. See Heap.noCache.
type Cache sys.Addr

// bin is one class of a cache: a stack of free blocks. Its newest block lies in the bin itself, the others in slots
// that fill from the end; with R for classInfo.room:
//
//	slot   0 ... room-1    room ... R-1             R
//	       undefined       newer ... older block    0
//
// Empty: newest is 0 and room is R+1. The 0 in slot R makes the last block's successor 'none' without a test; a
// push on an empty bin writes it again. Full: room is 0. Bit 0 of a block's address is set if the block reads as zero.
//
// That malloc finds its block in the bin, and not one load further, shortens the chain of loads through which a
// malloc waits for the free before it.
type bin struct {
	newest  uintptr
	room    uint32  // free slots
	class   uint32  // const
	mask    uintptr // const: bytes of a span - 1
	magic   uintptr // const: ceil(2^64 / block size), 2^32 where words have 32 bits; see isStart
	mallocs uint64  // blocks handed out by this bin since the start of the process
	asked   uint64  // bytes asked for in those calls
	_       [16 + 12*(1-sys.Is64Bit)]byte
}

// A bin is as large as binBytes says, or this does not compile.
var _ [binBytes - unsafe.Sizeof(bin{})]byte
var _ [unsafe.Sizeof(bin{}) - binBytes]byte

// header follows the bins. The normal tier's counts belong to the thread as the bins' do.
type header struct {
	next      Cache  // of all caches of the heap; const
	nextFree  Cache  // of those without a thread; under Heap.cachesLock
	used      uint32 // 1 while a thread has it; under Heap.cachesLock
	shard     uint32 // const: which depot its thread uses first
	lastFlush uint64 // time of the last release sweep of this cache's thread
	normal    normalCounts
	_         [8]byte
}

const (
	halfWordBits = 16 + 16*sys.Is64Bit

	slotBytes = sys.WordBytes
	freshTag  = 1 // bit 0 of a slot
)

func (c Cache) bin(offset uintptr) *bin {
	return (*bin)((sys.Addr(c) + sys.Addr(offset)).Pointer())
}

func (c Cache) classBin(class uintptr) *bin { return c.bin(uintptr(classTable[class&63].binOffset)) }

func (c Cache) header() *header {
	return (*header)((sys.Addr(c) + cacheHeaderOffset).Pointer())
}

// slot is the bin's slot of that index.
func (b *bin) slot(index uintptr) *uintptr {
	return (*uintptr)(unsafe.Add(unsafe.Pointer(b), binBytes+index*slotBytes))
}

// slotAddr is the address of a slot. A cache lies outside of the Go heap, so its address does not change.
func (b *bin) slotAddr(index uint32) sys.Addr {
	return sys.Addr(uintptr(unsafe.Pointer(b))) + binBytes + sys.Addr(index)*slotBytes
}

// count is the number of blocks in the bin.
func (b *bin) count() uint32 {
	return classTable[b.class&63].room + 1 - b.room
}

// binOf is the offset of the bin for a size up to SmallMaxBytes.
func binOf(size uintptr) uintptr {
	units := (size + 15) >> 4
	return uintptr(*(*uint16)(unsafe.Add(unsafe.Pointer(&binOfUnits), units*2)))
}

// classOf is the class of the bin at an offset, 0 for bin 0.
func classOf(binOffset uintptr) uintptr { return uintptr(classOfBin[binOffset/binBytes&511]) }

// initCache fills zeroed memory of cacheBytes.
func initCache(c Cache) {
	for class := uintptr(1); class <= ClassCount; class++ {
		info := &classTable[class&63]
		b := c.classBin(class)
		b.room = info.room + 1
		b.class = uint32(class)
		b.mask = uintptr(info.spanBytes) - 1
		b.magic = ^uintptr(0)/uintptr(info.bytes) + 1
	}
}

// isStart reports whether the offset of an address in its span is a multiple of the class's block size; spans start
// at multiples of their size. For a multiple, offset*magic mod 2^64 is less than the span's bytes; for anything else it
// is at least 2^64/32768. (After Lemire, Kaser, Kurz: Faster Remainder by Direct Computation, 2019, with one constant
// bound for all divisors.) Where words have 32 bits the bound depends on the divisor; the generator of the classes has
// tried that with every offset.
func (b *bin) isStart(address uintptr) bool {
	if sys.Is64Bit == 0 {
		return (address&b.mask)*b.magic < b.magic
	}
	return (address&b.mask)*b.magic < smallSpanBytes
}

// Malloc returns a block of at least size bytes, aligned to 16, contents undefined, or 0 if there is no memory.
func (h *Heap) Malloc(c Cache, size uintptr) sys.Addr {
	if size <= SmallMaxBytes {
		if block, ok := c.pop(size); ok {
			return block
		}
	}
	return h.mallocSlow(c, size)
}

// pop is the fast path of malloc: the newest block of the bin.
func (c Cache) pop(size uintptr) (block sys.Addr, ok bool) {
	b := c.bin(binOf(size))
	newest := b.newest
	if newest <= freshTag { // 0, said so that what is returned below is seen to be none
		return 0, false
	}
	b.drop(size)
	block = sys.Addr(newest &^ freshTag)
	(block + sys.WordBytes).SetWord(0) // no longer marked as freed
	return block, true
}

// drop takes the newest block off the stack, for a request of size bytes.
func (b *bin) drop(size uintptr) {
	room := b.room
	b.newest = *b.slot(uintptr(room))
	b.room = room + 1
	b.mallocs++
	b.asked += uint64(size)
}

// Free takes a block back. An address that is not a block of this heap goes to the system allocator.
func (h *Heap) Free(c Cache, block sys.Addr) {
	if offset, ok := h.binOffset(block); !ok || !c.bin(offset).push(h.Base, block) {
		h.freeSlow(c, block)
	}
}

// binOffset is the offset of the bin for the blocks of an address's granule: that of bin 0 if the granule belongs to
// no class. ok is false for addresses outside of the range.
func (h *Heap) binOffset(block sys.Addr) (offset uintptr, ok bool) {
	granule := h.Granule(block)
	if granule >= h.CommittedPlain() {
		return 0, false
	}
	return uintptr(h.OwnerWord(granule).Word16()), true
}

// push is the fast path of free. It returns false, and has done nothing, unless the address is the start of a block
// that is not marked as freed and there is room for it. The mark of a freed block is the address of the range, which
// no block has.
func (b *bin) push(base, block sys.Addr) bool {
	// Whether there is room comes first: the bins that have none are also those of no class, and in their granules
	// nothing need lie behind the address.
	room := uintptr(b.room)
	if room == 0 || !b.isStart(uintptr(block)) || (block+sys.WordBytes).Word() == uintptr(base) {
		return false
	}
	(block + sys.WordBytes).SetWord(uintptr(base))
	*b.slot(room - 1) = b.newest
	b.newest = uintptr(block)
	b.room--
	return true
}

// Calloc returns a block of count*size bytes that read as zero, or 0 if there is no memory or the product
// overflows. A block never used before is not cleared again.
func (h *Heap) Calloc(c Cache, count, size uintptr) sys.Addr {
	total := count * size
	if (count|size)>>halfWordBits != 0 && count != 0 && total/count != size {
		return h.tooLarge()
	}
	if total > SmallMaxBytes {
		return h.callocSlow(c, total)
	}
	b := c.bin(binOf(total))
	newest := b.newest
	if newest == 0 {
		return h.callocSlow(c, total)
	}
	b.drop(total)
	block, zero := unmarked(newest)
	if !zero {
		sys.Clear(block, total)
	}
	return block
}
