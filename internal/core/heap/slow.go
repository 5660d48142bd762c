package heap

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: what the fast paths of cache.go leave to be done. No function here needs more than 1 KiB of stack in
// all: threads may have 16 KiB.

//go:noinline
func (h *Heap) mallocSlow(c Cache, size uintptr) sys.Addr {
	block, _ := h.allocate(c, size)
	return block
}

// allocate does the work of mallocSlow and callocSlow, and says whether the block reads as zero.
func (h *Heap) allocate(c Cache, size uintptr) (block sys.Addr, zero bool) {
	if h.without(c) {
		c = enterThread(h)
	}
	if h.mode&(ModeSystem|ModeGuard) != 0 {
		if h.mode&ModeGuard != 0 {
			return guardMalloc(size, 16), false
		}
		return systemMalloc(size), false
	}
	if size > SmallMaxBytes {
		return h.normalMalloc(c, size), false
	}
	class := classOf(binOf(size))
	if h.without(c) {
		return h.allocateUncached(class, size)
	}
	b := c.classBin(class)
	if b.newest == 0 && !h.refill(c, class) {
		return h.overflowMalloc(size), false
	}
	newest := b.newest
	b.drop(size)
	return unmarked(newest)
}

// unmarked makes a block of what lay in a bin, and says whether it reads as zero.
func unmarked(value uintptr) (block sys.Addr, zero bool) {
	block = sys.Addr(value &^ freshTag)
	if value&freshTag != 0 {
		return block, true
	}
	(block + sys.WordBytes).SetWord(0)
	return block, false
}

// allocateUncached serves a thread without a cache: one at its end, or one for which there was no memory.
func (h *Heap) allocateUncached(class, size uintptr) (block sys.Addr, zero bool) {
	one := h.obtainOne(class)
	if one == 0 {
		return h.overflowMalloc(size), false
	}
	return unmarked(one)
}

//go:noinline
func (h *Heap) callocSlow(c Cache, total uintptr) sys.Addr {
	if total > SmallMaxBytes || h.mode&ModeSystem != 0 {
		if h.without(c) {
			c = enterThread(h)
		}
		if h.mode&ModeSystem != 0 {
			return systemCalloc(total)
		}
		if h.mode&ModeGuard == 0 {
			return h.normalCalloc(c, total)
		}
	}
	block, zero := h.allocate(c, total)
	if block != 0 && !zero {
		sys.Clear(block, total)
	}
	return block
}

// tooLarge is the answer to a request that no address space could hold.
//
//go:noinline
func (h *Heap) tooLarge() sys.Addr {
	noMemory()
	return 0
}

//go:noinline
func (h *Heap) freeSlow(c Cache, block sys.Addr) {
	if block == 0 {
		return
	}
	if h.without(c) {
		c = enterThread(h)
	}
	if h.mode&ModeGuard != 0 {
		guardFree(block)
		return
	}
	if !h.Owns(block) || h.mode&ModeSystem != 0 {
		h.foreignFree(c, block)
		return
	}
	if ref := h.normalBlock(block); ref != 0 {
		h.normalFree(c, ref)
		return
	}
	class := classOf(uintptr(h.OwnerOf(block)))
	if !h.validate(class, block) {
		return
	}
	if h.without(c) {
		h.freeUncached(class, block)
		return
	}
	b := c.classBin(class)
	if b.room == 0 && !h.flush(c, class) {
		h.freeDeferred(block)
		return
	}
	if h.deferred != 0 {
		h.freeDeferredBlocks()
	}
	(block + sys.WordBytes).SetWord(0) // a mark that is not ours does not count
	b.push(h.Base, block)
}

// validate reports a pointer that is no block the program may free. It returns false if the free must not happen.
func (h *Heap) validate(class uintptr, block sys.Addr) bool {
	what := h.judge(class, block)
	if what != returnedFine {
		h.misuse(block, class, what)
	}
	return what == returnedFine
}

// judge says what is wrong with an address of the range in a granule of that class: returnedFine or a Misuse... value.
// Blocks of the normal tier that are in use are not its business.
func (h *Heap) judge(class uintptr, block sys.Addr) int {
	if class == 0 {
		granule := h.Granule(block)
		if granule < h.Committed() && h.normalAt(space.Ref(granule), block, classNormalFreed) {
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

// isFree looks for a block whose mark says that it was freed: the program could have copied the mark there. The
// caches of other threads are read while they work, which can at worst miss a block that is just being moved.
func (h *Heap) isFree(class uintptr, block sys.Addr) bool {
	info := &classTable[class&63]
	ctl := &h.classes[class&63]
	for c := h.firstCache(); c != 0; c = c.header().next {
		b := c.classBin(class)
		if b.newest&^freshTag == uintptr(block) || b.holds(block) {
			return true
		}
	}
	if !sys.Lock(&ctl.lock) {
		return false
	}
	s := h.span(h.spanOf(block, info))
	index := uint32(block-h.Addr(h.spanOf(block, info))) / info.bytes
	free := index >= s.fresh || s.free[uintptr(index/wordBits)&bitmapIndexMask]>>(index%wordBits)&1 != 0
	sys.Unlock(&ctl.lock)
	return free || ctl.holds(info, block)
}

func (b *bin) holds(block sys.Addr) bool {
	room := uintptr(b.room)
	end := uintptr(classTable[b.class&63].room)
	return room < end && holds(sys.Addr(uintptr(unsafe.Pointer(b.slot(room)))), end-room, block)
}

func holds(slots sys.Addr, count uintptr, block sys.Addr) bool {
	for i := uintptr(0); i < count; i++ {
		if (slots+sys.Addr(i)*slotBytes).Word()&^freshTag == uintptr(block) {
			return true
		}
	}
	return false
}

func (h *Heap) freeUncached(class uintptr, block sys.Addr) {
	if !h.returnOne(class, block) {
		h.freeDeferred(block)
	}
}

// freeDeferred keeps a block that a signal handler freed while its thread was inside the core.
func (h *Heap) freeDeferred(block sys.Addr) {
	for {
		head := atomic.LoadUintptr(&h.deferred)
		block.SetWord(head)
		if atomic.CompareAndSwapUintptr(&h.deferred, head, uintptr(block)) {
			return
		}
	}
}

// freeDeferredBlocks frees what freeDeferred kept.
func (h *Heap) freeDeferredBlocks() {
	block := sys.Addr(atomic.SwapUintptr(&h.deferred, 0))
	for block != 0 {
		next := sys.Addr(block.Word())
		h.freeUncached(classOf(uintptr(h.OwnerOf(block))), block)
		block = next
	}
}
