package gc

import "granary/internal/core/sys"

// This file: objects that are freed by hand, and objects whose size changes.

// freedMost is how many bytes a cache may collect in frees until it hands a chain over to the others.
const freedMost = 64 << 10

// startAt finds the block of the object that starts at an address, 0 if none does.
func (h *Heap) startAt(addr sys.Addr) (blockRef, uintptr) {
	p, ok := h.locate(uintptr(addr - h.Base))
	if !ok || h.startOf(p) != addr {
		return 0, 0
	}
	return p.block, p.granule
}

// isDead reports whether an object is one that the last collection found dead, in a block not swept since.
func (h *Heap) isDead(hd *header, granule uintptr) bool {
	return h.marking.active == 0 && hd.epoch != h.marking.epoch &&
		(h.isStale(hd) || hd.marks[granule>>6&3]>>(granule&63)&1 == 0)
}

// Free makes an object free before a collection finds that it is dead. Nobody may use it any more. It returns false,
// and does nothing, if the address is not the start of an object, or of one known to be free already; an object that
// is freed twice is not always known.
func (h *Heap) Free(c Cache, addr sys.Addr) bool {
	block, granule := h.startAt(addr)
	if block == 0 {
		return false
	}
	h.forgetObject(addr)
	hd := h.header(block)
	kind := uint32(hd.kind)
	info := h.kind(kind)
	if hd.state == stateLarge || c.isNone() || !info.cached(kind) {
		return h.freeShared(addr)
	}
	if !sys.Lock(&c.state().busy) {
		return false
	}
	class := classFor(uintptr(hd.granules))
	head := c.head(slotOf(kind, class))
	if h.isDead(hd, granule) || *head == addr {
		sys.Unlock(&c.state().busy)
		return false
	}
	if h.marking.active != 0 && sys.Lock(&h.lock) {
		h.shadeWords(hd, addr, hd.bytes)
		h.blacken(addr)
		sys.Unlock(&h.lock)
	}
	if info.clear {
		sys.Clear(addr, hd.bytes)
	}
	push(head, addr)
	// What is in a cache counts as allocated.
	c.state().freed += hd.bytes
	if c.state().freed >= freedMost && sys.Lock(&h.lock) {
		h.pace.freed += h.addShared(kind, class, *head) * hd.bytes
		*head = 0
		c.state().freed = 0
		sys.Unlock(&h.lock)
	}
	sys.Unlock(&c.state().busy)
	return true
}

// shadeWords has a collection that is going on look at what memory names which is about to be cleared: what could be
// reached through it as the collection began may have moved to where the collection has been already.
func (h *Heap) shadeWords(hd *header, from sys.Addr, bytes uintptr) {
	if h.marking.active == 0 || hd.flags&flagPointerFree != 0 {
		return
	}
	for offset := uintptr(0); offset+sys.WordBytes <= bytes; offset += sys.WordBytes {
		h.Shade((from + sys.Addr(offset)).Word())
	}
}

// freeShared frees what no cache takes.
func (h *Heap) freeShared(addr sys.Addr) bool {
	if !sys.Lock(&h.lock) {
		return false
	}
	block, granule := h.startAt(addr)
	freed := block != 0 && h.freeLocked(block, granule)
	sys.Unlock(&h.lock)
	return freed
}

func (h *Heap) freeLocked(block blockRef, granule uintptr) bool {
	hd := h.header(block)
	info := h.kind(uint32(hd.kind))
	bit := uint64(1) << (granule & 63)
	marked := !h.isStale(hd) && hd.marks[granule>>6&3]&bit != 0
	if info.uncollectable && !marked || !info.uncollectable && h.isDead(hd, granule) {
		return false
	}
	h.pace.freed += hd.bytes
	if marked && (hd.state == stateLarge || info.uncollectable) {
		h.sortedAlready(block, hd, hd.bytes)
	}
	h.shadeWords(hd, h.blockAddr(block)+sys.Addr(granule<<granuleShift), hd.bytes)
	if hd.state == stateLarge {
		if h.marking.active != 0 {
			// A worker may have the block in its queue. It goes when the collection is over, or with the next one.
			hd.flags |= flagPointerFree
			hd.flags &^= flagUncollectable
			hd.descriptor = 0
			return true
		}
		h.freeLarge(block)
		return true
	}
	addr := h.blockAddr(block) + sys.Addr(granule<<granuleShift)
	if info.clear {
		sys.Clear(addr, hd.bytes)
	}
	if info.uncollectable {
		hd.marks[granule>>6&3] &^= bit
		hd.grey[granule>>6&3] &^= bit
		hd.marked--
		if hd.epoch != h.marking.epoch {
			return true // the sweep finds it
		}
	} else if h.marking.active != 0 {
		h.blacken(addr)
	}
	shared := h.sharedChain(uint32(hd.kind), classFor(uintptr(hd.granules)))
	push(&shared.head, addr)
	shared.count++
	return true
}
