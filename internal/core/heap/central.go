package heap

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// central is one class of the shared pool. Everything but the depots is under its lock.
//
// Free blocks of the class that no cache holds are in one of two places: in batches, as they were handed over
// (newest on top, taken first: still warm), or sorted into their spans. Equation (Check):
//
//	out = live blocks of all spans of the class = the program's + in caches + in batches
type central struct {
	lock   uint32
	listed uint32 // bit i is set if lists[i] is not empty
	lists  [16]space.Ref

	empty  uint32  // empty spans; more than one only while several threads take their first block
	single uintptr // a slot for one block on its way to or from a thread without a cache

	out, outPeak     uint64
	spans, spansPeak uint32
	spansTaken       uint64

	depots [depotShards]depot // each under its own lock
	_      [sys.LineBytes]byte
}

// refill fills the empty bin of a class. It returns false if no block is to be had.
func (h *Heap) refill(c Cache, class uintptr) bool {
	b := c.classBin(class)
	info := &classTable[class&63]
	slots := b.slotAddr(info.room - info.batch)
	n, _ := h.obtain(c, class, slots, info.batch)
	if n == 0 {
		return false
	}
	if n < info.batch {
		sys.Move(b.slotAddr(info.room-n), slots, uintptr(n)*slotBytes)
	}
	*b.slot(uintptr(info.room)) = 0
	b.newest = *b.slot(uintptr(info.room - n))
	b.room = info.room - n + 1
	return true
}

// obtain takes up to want blocks of a class from the shared pool, or from a new span, to slots. It returns how many,
// and the first: 0 if there is no memory, or a signal handler interrupted the core.
func (h *Heap) obtain(c Cache, class uintptr, slots sys.Addr, want uint32) (n uint32, first uintptr) {
	info := &classTable[class&63]
	ctl := &h.classes[class&63]
	if want == info.batch && ctl.takeBatch(h.shardOf(c), info, slots) {
		return want, slots.Word()
	}
	if !sys.Lock(&ctl.lock) {
		return 0, 0
	}
	n = h.takeFromSpansLocked(ctl, info, slots, want)
	for n == 0 {
		sys.Unlock(&ctl.lock)
		ref := h.newSpan(c, class, info)
		sys.Lock(&ctl.lock) // it was free for this call before, so no interrupted one holds it
		if ref != 0 {
			h.addSpanLocked(ctl, class, ref)
		}
		// Where no span is to be had newSpan has sorted the blocks that waited: some may be of this class.
		n = h.takeFromSpansLocked(ctl, info, slots, want)
		if n == 0 && ref == 0 {
			sys.Unlock(&ctl.lock)
			return 0, 0
		}
	}
	first = slots.Word()
	sys.Unlock(&ctl.lock)
	return n, first
}

// obtainOne takes one block for a thread without a cache, or returns 0.
func (h *Heap) obtainOne(class uintptr) uintptr {
	_, block := h.obtain(h.noCache, class, h.classes[class&63].singleSlot(), 1)
	return block
}

// singleSlot is the address of single. A central lies outside of the Go heap, so its address does not change.
func (ctl *central) singleSlot() sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(&ctl.single))) }

// takeFromSpansLocked takes blocks from the fullest spans.
func (h *Heap) takeFromSpansLocked(ctl *central, info *classInfo, slots sys.Addr, want uint32) uint32 {
	taken := uint32(0)
	for taken < want && ctl.listed != 0 {
		index := bits.Len32(ctl.listed) - 1
		ref := ctl.lists[index&spanListIndexMask]
		s := h.span(ref)
		if s.live == 0 {
			ctl.empty--
		}
		taken += h.takeBlocks(ref, info, slots+sys.Addr(taken)*slotBytes, want-taken)
		h.relistSpan(ctl, ref)
	}
	ctl.out += uint64(taken)
	if ctl.out > ctl.outPeak {
		ctl.outPeak = ctl.out
	}
	return taken
}

// addSpanLocked makes a span of newSpan one of the class. That it sets the span's class, and newSpan does not, is for
// the sweep: it finds spans by their owner values, which it reads without a lock and may see before all that newSpan
// wrote, and asks here, under the lock, whether the span is one of the class.
func (h *Heap) addSpanLocked(ctl *central, class uintptr, ref space.Ref) {
	h.span(ref).class = uint8(class)
	ctl.spans++
	ctl.spansTaken++
	if ctl.spans > ctl.spansPeak {
		ctl.spansPeak = ctl.spans
	}
	ctl.empty++
	h.listSpan(ctl, ref)
}

// giving collects the spans that returnBlocks found empty, to be given to the space when the lock is free.
type giving struct {
	count uint32
	refs  [batchMost]space.Ref
}

// returnBlocksLocked sorts up to batchMost blocks into their spans; those of one span that follow each other are
// counted, and the span listed anew, once. A block that is not out is left alone, and the last such is returned for a
// message, with what is wrong.
func (h *Heap) returnBlocksLocked(ctl *central, class uintptr, slots sys.Addr, count uint32,
	give *giving) (wrong sys.Addr, what int) {
	info := &classTable[class&63]
	give.count = 0
	for end := slots + sys.Addr(count)*slotBytes; slots < end; {
		ref := h.spanOf(sys.Addr(slots.Word()), info)
		s := h.span(ref)
		first, live := h.Addr(ref), s.live
		for ; slots < end && h.spanOf(sys.Addr(slots.Word()), info) == ref; slots += slotBytes {
			block := sys.Addr(slots.Word() &^ freshTag)
			if result := s.returnBlock(uint32(block-first), info.magic); result != returnedFine {
				wrong, what = block, result
				continue
			}
			live--
		}
		ctl.out -= uint64(s.live - live)
		s.live, s.activity = live, spanActive
		if uint8(bits.Len32(live)) == s.list {
			continue
		}
		if live != 0 {
			h.relistSpan(ctl, ref)
		} else if empty := h.retireLocked(ctl, ref); empty != 0 {
			give.refs[give.count&(batchMost-1)] = empty
			give.count++
		}
	}
	return wrong, what
}

// retireLocked deals with a span that has become empty. The class keeps it, on its list, if it has no other empty one.
// Of two it keeps the lower one: so what many classes keep after a large heap has gone lies together, and the tables
// for all that lies above can go. The other is taken off its list, and the caller gives it to the space (giveSpan) when
// the lock is free. It is returned, 0 for none.
func (h *Heap) retireLocked(ctl *central, ref space.Ref) (give space.Ref) {
	h.span(ref).emptySpan()
	if ctl.empty == 0 {
		ctl.empty++
		h.relistSpan(ctl, ref)
		return 0
	}
	give = ref
	if kept := ctl.lists[0]; kept > ref {
		h.relistSpan(ctl, ref)
		give = kept
	}
	if h.span(give).list != listNone {
		h.unlistSpan(ctl, give)
	}
	ctl.spans--
	return give
}

// giveSpan gives a span that retireLocked took off its class to the space. No lock is held.
func (h *Heap) giveSpan(ref space.Ref) {
	h.SetOwner(ref, 0)
	h.Give(ref)
}

// finishReturn ends what returnBlocksLocked began, when the lock is free again.
func (h *Heap) finishReturn(class uintptr, give *giving, wrong sys.Addr, what int) {
	for i := uint32(0); i < give.count; i++ {
		h.giveSpan(give.refs[i&(batchMost-1)])
	}
	if wrong != 0 {
		h.misuse(wrong, class, what)
	}
}

// returnBlocks sorts blocks into their spans. It returns false if the class's lock is this thread's already (a signal
// handler), and has then done nothing.
func (h *Heap) returnBlocks(class uintptr, slots sys.Addr, count uint32) bool {
	ctl := &h.classes[class&63]
	var give giving
	for count > 0 {
		n := count
		if n > batchMost {
			n = batchMost
		}
		if !sys.Lock(&ctl.lock) {
			return false
		}
		wrong, what := h.returnBlocksLocked(ctl, class, slots, n, &give)
		sys.Unlock(&ctl.lock)
		h.finishReturn(class, &give, wrong, what)
		slots += sys.Addr(n) * slotBytes
		count -= n
	}
	return true
}

// returnOne sorts one block into its span; as returnBlocks.
func (h *Heap) returnOne(class uintptr, block sys.Addr) bool {
	ctl := &h.classes[class&63]
	var give giving
	if !sys.Lock(&ctl.lock) {
		return false
	}
	ctl.single = uintptr(block)
	wrong, what := h.returnBlocksLocked(ctl, class, ctl.singleSlot(), 1, &give)
	sys.Unlock(&ctl.lock)
	h.finishReturn(class, &give, wrong, what)
	return true
}

// flushBin hands all blocks of a bin to their spans. It returns false, and keeps them, if the class's lock is this
// thread's already (a signal handler).
func (h *Heap) flushBin(b *bin) bool {
	class := uintptr(b.class)
	if sys.LockMine(&h.classes[class&63].lock) {
		return false
	}
	room, count := b.room, b.count()
	if room > 0 {
		room--
		*b.slot(uintptr(room)) = b.newest
	} else {
		h.returnOne(class, sys.Addr(b.newest)&^freshTag) // no slot is free for the newest
		count--
	}
	b.newest, b.room = 0, classTable[class&63].room+1
	return h.returnBlocks(class, b.slotAddr(room), count)
}

// sortWaiting hands the blocks that wait in batches and in a cache to their spans.
func (h *Heap) sortWaiting(c Cache) {
	atomic.StoreUint32(&h.freshGranules, 0) // first, so that other threads do not come here for the same reason
	if !h.without(c) {
		h.flushAll(c)
	}
	for class := uintptr(1); class <= ClassCount; class++ {
		h.drainDepots(class)
	}
}

// flushAll hands all blocks of a cache to their spans.
func (h *Heap) flushAll(c Cache) {
	for class := uintptr(1); class <= ClassCount; class++ {
		if b := c.classBin(class); b.newest != 0 {
			h.flushBin(b)
		}
	}
}
