package gc

import (
	"granary/internal/core/sys"
)

// This file: where the chains of free objects come from. doc.go has the order.

const (
	refillLeast = 16 // objects that a refill should bring, so that threads seldom meet at the lock
	refillMost  = 8  // blocks
)

// refillBlocks is how many blocks one refill takes for a class.
func refillBlocks(class uintptr) uintptr {
	granules := granulesOf(class)
	return (granules*refillLeast + granulesPerBlock - 1) / granulesPerBlock
}

// refillObjects is how many objects that brings at most.
func refillObjects(class uintptr) uintptr {
	return granulesPerBlock / granulesOf(class) * refillBlocks(class)
}

// chain is a chain of free objects that is being built.
type chain struct {
	first, last sys.Addr
}

// add puts the objects of size bytes from one address up to another behind the chain. implicit says that their first
// words are zero, so that they need no links.
func (ch *chain) add(from, to sys.Addr, size uintptr, implicit bool) {
	if ch.last != 0 {
		ch.last.SetWord(uintptr(from))
	} else {
		ch.first = from
	}
	last := to - sys.Addr(size)
	if !implicit {
		for at := from; at < last; at += sys.Addr(size) {
			at.SetWord(uintptr(at) + size)
		}
	}
	ch.last = last
}

// end closes the chain and returns its head.
func (ch *chain) end() sys.Addr {
	if ch.last != 0 {
		ch.last.SetWord(endOfChain)
	}
	return ch.first
}

// work is what a refill takes under the lock: blocks linked through header.next, to be swept or to be cut.
type work struct {
	sweep   blockRef
	cut     blockRef
	objects uintptr // that are free in them; a kind's procedure may keep some
}

// sharedChain is a chain that no cache has. Under Heap.lock.
type sharedChain struct {
	head  sys.Addr
	count uintptr
}

func (h *Heap) sharedChain(kind uint32, class uintptr) *sharedChain {
	return &h.shared[kind&(kindMost-1)][class&(classCount-1)]
}

// AllocSlow is an allocation that Alloc could not do: an object of a kind for at least that many bytes, zero if the
// kind is cleared. If it returns 0, need says what it takes: NeedCollect or NeedMemory.
func (h *Heap) AllocSlow(c Cache, bytes uintptr, kind, flags uint32) (object sys.Addr, need uint32) {
	if kind >= h.kindCount || bytes > requestMost {
		return 0, NeedMemory
	}
	granules := (bytes + h.extra(kind) + GranuleBytes - 1) >> granuleShift
	if granules > smallMaxGranules {
		return h.allocLarge(granules<<granuleShift, kind, flags)
	}
	class := classFor(granules)
	if c.isNone() || !h.kind(kind).cached(kind) {
		return h.allocShared(kind, class, flags)
	}
	head, need := h.filledHead(c, kind, class, flags)
	if need != NeedNothing {
		return 0, need
	}
	object = *head
	unchain(head, object, granulesOf(class)<<granuleShift)
	return object, NeedNothing
}

// filledHead is the head of a cache's chain, which holds an object if need is NeedNothing.
func (h *Heap) filledHead(c Cache, kind uint32, class uintptr, flags uint32) (head *sys.Addr, need uint32) {
	head = c.head(slotOf(kind, class))
	if *head == 0 {
		need = h.refill(c, kind, class, flags)
	}
	return head, need
}

// refill fills a cache's empty chain.
//
//go:noinline
func (h *Heap) refill(c Cache, kind uint32, class uintptr, flags uint32) (need uint32) {
	if !sys.Lock(&c.state().busy) {
		return NeedMemory
	}
	head := c.head(slotOf(kind, class))
	for *head == 0 && need == NeedNothing {
		if !sys.Lock(&h.lock) {
			need = NeedMemory
			break
		}
		if shared := h.sharedChain(kind, class); shared.head != 0 {
			*head = shared.head
			h.pace.allocated += shared.count * granulesOf(class) << granuleShift
			shared.head, shared.count = 0, 0
			sys.Unlock(&h.lock)
			break
		}
		var w work
		need = h.obtainLocked(&w, kind, class, refillBlocks(class), flags)
		h.pace.allocated += w.objects * granulesOf(class) << granuleShift
		sys.Unlock(&h.lock)
		if need == NeedNothing {
			*head = h.process(&w)
		}
	}
	sys.Unlock(&c.state().busy)
	return need
}

// obtainLocked takes blocks for a refill: some to be swept, for which blocks may have to be sorted first, else free
// ones.
func (h *Heap) obtainLocked(w *work, kind uint32, class, blocks uintptr, flags uint32) (need uint32) {
	list := h.reclaimList(kind, class)
	for tries := 0; *list == 0 && h.sorting.on != 0 && tries < sortTries; tries++ {
		h.sortPiece()
	}
	if h.marking.active == 0 && *list != 0 {
		h.takeUnswept(w, list, blocks)
		return NeedNothing
	}
	first := h.takeBlocks(blocks)
	if first == 0 && blocks > 1 {
		if first = h.takeBlocks(1); first != 0 {
			blocks = 1
		}
	}
	if first == 0 {
		first, need = h.obtainBlocks(blocks, flags)
		if need != NeedNothing && h.marking.active == 0 && *list != 0 { // sorted meanwhile
			h.takeUnswept(w, list, blocks)
			return NeedNothing
		}
		if need != NeedNothing {
			return need
		}
	}
	h.startSmall(first, blocks, kind, class)
	w.cut = first
	w.objects = blocks * uintptr(h.header(first).objects)
	return NeedNothing
}

// takeUnswept takes the first blocks of a list of those to be swept.
func (h *Heap) takeUnswept(w *work, list *blockRef, blocks uintptr) {
	w.sweep = *list
	for last := *list; ; last = h.header(last).next {
		hd := h.header(last)
		hd.epoch = h.marking.epoch
		w.objects += uintptr(uint32(hd.objects) - hd.marked)
		h.counts.unswept--
		if blocks--; blocks == 0 || hd.next == 0 {
			*list = hd.next
			hd.next = 0
			return
		}
	}
}

// obtainBlocks takes free blocks that lie side by side, or makes the heap larger.
func (h *Heap) obtainBlocks(blocks uintptr, flags uint32) (first blockRef, need uint32) {
	for tries := 0; ; tries++ {
		if first = h.takeBlocks(blocks); first != 0 {
			return first, NeedNothing
		}
		if h.sorting.on == 0 || h.marking.sliced != 0 && tries == sortTries {
			break
		}
		h.sortPiece()
	}
	if flags&FlagExpand == 0 && h.pace.due() {
		return 0, NeedCollect
	}
	if !h.expandLocked(blocks) {
		h.sortAll()
	}
	if first = h.takeBlocks(blocks); first != 0 {
		return first, NeedNothing
	}
	if flags&FlagExpand == 0 && h.pace.allocated != 0 {
		return 0, NeedCollect
	}
	return 0, NeedMemory
}

// startSmall makes blocks, linked through next, hold objects of a kind and class. In a collection all of them are
// marked, which is what new objects are then.
func (h *Heap) startSmall(first blockRef, blocks uintptr, kind uint32, class uintptr) {
	info := h.kind(kind)
	granules := granulesOf(class)
	objects := granulesPerBlock / granules
	for block := first; block < first+blockRef(blocks); block++ {
		*h.indexEntry(block) = block
		hd := h.header(block)
		*hd = header{
			state: stateSmall, flags: info.flags(), kind: uint8(kind),
			granules: uint16(granules), objects: uint16(objects), reciprocal: uint32(1<<16/granules + 1),
			blocks: 1, bytes: granules << granuleShift, descriptor: info.describe(granules << granuleShift),
			epoch: h.marking.epoch, markedIn: h.marking.full,
		}
		if info.uncollectable {
			h.noteRooted(block)
		}
		if block+1 < first+blockRef(blocks) {
			hd.next = block + 1
		}
		if h.marking.active != 0 && !info.uncollectable {
			hd.markAll()
		}
	}
}

// markAll marks all objects.
func (hd *header) markAll() {
	hd.marked = uint32(hd.objects)
	for granule := uintptr(0); granule < uintptr(hd.objects)*uintptr(hd.granules); granule += uintptr(hd.granules) {
		hd.marks[granule>>6&3] |= 1 << (granule & 63)
	}
}

// process sweeps and cuts the blocks of a refill, which nobody else touches meanwhile, and returns the head of their
// chain. Of the objects counted those go that a procedure keeps.
func (h *Heap) process(w *work) sys.Addr {
	var ch chain
	for block := w.sweep; block != 0; {
		hd := h.header(block)
		next := hd.next
		hd.next = 0
		if hd.flags&flagHasDisclaim != 0 {
			w.objects -= h.disclaimBlock(block, hd)
		}
		h.sweepBlock(block, hd, &ch)
		block = next
	}
	for block := w.cut; block != 0; {
		hd := h.header(block)
		next := hd.next
		hd.next = 0
		h.cutBlock(block, hd, &ch)
		block = next
	}
	return ch.end()
}

// cutBlock puts all objects of a fresh block on a chain.
func (h *Heap) cutBlock(block blockRef, hd *header, ch *chain) {
	from := h.blockAddr(block)
	used := uintptr(hd.objects) * hd.bytes
	zero := !h.isDirty(block)
	if !zero && h.kind(uint32(hd.kind)).clear {
		sys.Clear(from, used)
		zero = true
	}
	ch.add(from, from+sys.Addr(used), hd.bytes, zero)
}

// allocShared is an allocation that no cache serves.
func (h *Heap) allocShared(kind uint32, class uintptr, flags uint32) (object sys.Addr, need uint32) {
	if !sys.Lock(&h.lock) {
		return 0, NeedMemory
	}
	shared := h.sharedChain(kind, class)
	for shared.head == 0 {
		var w work
		if need = h.obtainLocked(&w, kind, class, 1, flags); need != NeedNothing {
			sys.Unlock(&h.lock)
			return 0, need
		}
		shared.head = h.process(&w)
		shared.count = w.objects
	}
	object = shared.head
	unchain(&shared.head, object, granulesOf(class)<<granuleShift)
	shared.count--
	h.pace.allocated += granulesOf(class) << granuleShift
	if h.kind(kind).uncollectable {
		hd := h.header(blockRef((object - h.Base) >> blockShift))
		h.blacken(object)
		hd.marked++
	}
	sys.Unlock(&h.lock)
	return object, NeedNothing
}

// AllocMany takes all objects of a kind and of at least that many granules that one refill brings. They are linked
// through their first words, the last one's is 0; the rest of them is zero if the kind is cleared. Objects of
// uncollectable kinds come one at a time.
func (h *Heap) AllocMany(c Cache, granules uintptr, kind, flags uint32) (first sys.Addr, need uint32) {
	if kind >= h.kindCount || granules > smallMaxGranules {
		return 0, NeedMemory
	}
	class := classFor(granules)
	if c.isNone() || !h.kind(kind).cached(kind) {
		return h.allocShared(kind, class, flags)
	}
	head, need := h.filledHead(c, kind, class, flags)
	if need != NeedNothing {
		return 0, need
	}
	// Nobody may stop this thread while the chain has no head.
	if !sys.Lock(&c.state().busy) {
		return 0, NeedMemory
	}
	first = *head
	for object := first; object != 0; {
		next := nextInChain(object, class)
		object.SetWord(uintptr(next))
		object = next
	}
	*head = 0
	sys.Unlock(&c.state().busy)
	return first, NeedNothing
}
