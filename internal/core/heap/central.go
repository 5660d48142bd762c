package heap

import (
	"math/bits"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// central is one class of the shared pool. Everything is under its lock.
//
// Free blocks of the class that no cache holds are in one of two places: in batches, as they were handed over
// (newest on top, taken first: still warm), or sorted into their spans. Equation (Check):
//
//	out = live blocks of all spans of the class = the program's + in caches + in batches
type central struct {
	lock   uint32
	listed uint32 // bit i is set if lists[i] is not empty
	lists  [16]space.Ref

	depot      sys.Addr // room for classInfo.depot batches of addresses, 0 until the first
	depotCount uint32   // batches in it
	empty      uint32   // empty spans; more than one only while several threads take their first block
	recent     uint32   // 1: a cache was refilled since the last release sweep

	out, outPeak          uint64
	batchesIn, batchesOut uint64
	spans, spansPeak      uint32
	spansTaken            uint64
}

// refill fills the empty bin of a class. It returns false if no block is to be had.
func (h *Heap) refill(c Cache, class uintptr) bool {
	var blocks blockList
	b := c.classBin(class)
	n := h.obtain(class, &blocks, classTable[class&63].batch)
	if n == 0 {
		return false
	}
	room := classTable[class&63].room - (n - 1)
	for i := uint32(1); i < n; i++ {
		*b.slot(uintptr(room + i - 1)) = blocks[i&(batchMost-1)]
	}
	*b.slot(uintptr(classTable[class&63].room)) = 0
	b.newest = blocks[0]
	b.room = int(room)
	b.refills++
	return true
}

// obtain takes up to want blocks of a class from the shared pool, or from a new span. It returns how many: 0 if there
// is no memory, or a signal handler interrupted the core.
func (h *Heap) obtain(class uintptr, blocks *blockList, want uint32) uint32 {
	info := &classTable[class&63]
	ctl := &h.classes[class&63]
	if !sys.Lock(&ctl.lock) {
		return 0
	}
	ctl.recent = 1
	n := uint32(0)
	if want == info.batch {
		n = h.takeBatchLocked(ctl, info, blocks)
	}
	if n == 0 {
		n = h.takeFromSpansLocked(ctl, info, blocks, want)
	}
	for n == 0 {
		sys.Unlock(&ctl.lock)
		ref := h.newSpan(class, info)
		if ref == 0 || !sys.Lock(&ctl.lock) {
			return 0
		}
		h.addSpanLocked(ctl, ref)
		n = h.takeFromSpansLocked(ctl, info, blocks, want)
	}
	sys.Unlock(&ctl.lock)
	return n
}

// takeBatchLocked takes the newest batch of the shared pool.
func (h *Heap) takeBatchLocked(ctl *central, info *classInfo, blocks *blockList) uint32 {
	if ctl.depotCount == 0 {
		return 0
	}
	ctl.depotCount--
	ctl.batchesOut++
	slots := ctl.depot + sys.Addr(uintptr(ctl.depotCount*info.batch)*slotBytes)
	for i := uint32(0); i < info.batch; i++ {
		blocks[i&(batchMost-1)] = (slots + sys.Addr(i)*slotBytes).Word()
	}
	return info.batch
}

// takeFromSpansLocked takes blocks from the fullest spans.
func (h *Heap) takeFromSpansLocked(ctl *central, info *classInfo, blocks *blockList, want uint32) uint32 {
	taken := uint32(0)
	for taken < want && ctl.listed != 0 {
		index := bits.Len32(ctl.listed) - 1
		ref := ctl.lists[index&spanListIndexMask]
		s := h.span(ref)
		if s.live == 0 {
			ctl.empty--
			s.cold = 0
		}
		h.unlistSpan(ctl, ref)
		taken = h.takeBlocks(ref, info, blocks, taken, want)
		if s.live < s.blocks {
			h.listSpan(ctl, ref)
		}
	}
	ctl.out += uint64(taken)
	if ctl.out > ctl.outPeak {
		ctl.outPeak = ctl.out
	}
	return taken
}

func (h *Heap) addSpanLocked(ctl *central, ref space.Ref) {
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

// blockList is room for the addresses of a batch. Blocks on their way from a cache to the spans are taken off the
// cache first, so that no signal or fork between the two steps sees them in both places.
type blockList [batchMost]uintptr

// returnBlocksLocked sorts blocks into their spans. A block that is not out is left alone, and the last such is
// returned for a message, with what is wrong.
func (h *Heap) returnBlocksLocked(ctl *central, class uintptr, blocks *blockList, count uint32,
	give *giving) (wrong sys.Addr, what int) {
	info := &classTable[class&63]
	give.count = 0
	for i := uint32(0); i < count; i++ {
		block := sys.Addr(blocks[i&(batchMost-1)] &^ freshTag)
		ref := h.spanOf(block, info)
		if result := h.returnBlock(ctl, ref, info, block); result != returnedFine {
			wrong, what = block, result
			continue
		}
		ctl.out--
		s := h.span(ref)
		if s.live != 0 {
			continue
		}
		s.emptySpan()
		if ctl.empty == 0 {
			ctl.empty = 1
			continue
		}
		h.unlistSpan(ctl, ref)
		ctl.spans--
		give.refs[give.count&(batchMost-1)] = ref
		give.count++
	}
	return wrong, what
}

// returnBlocks sorts up to batchMost blocks of a class into their spans. It returns false if the class's lock is
// this thread's already (a signal handler).
func (h *Heap) returnBlocks(class uintptr, blocks *blockList, count uint32) bool {
	ctl := &h.classes[class&63]
	var give giving
	if !sys.Lock(&ctl.lock) {
		return false
	}
	wrong, what := h.returnBlocksLocked(ctl, class, blocks, count, &give)
	sys.Unlock(&ctl.lock)
	// The owner values of the spans are cleared by whoever emptied them, before anybody else can have them.
	for i := uint32(0); i < give.count; i++ {
		ref := give.refs[i&(batchMost-1)]
		h.SetOwner(ref, 0)
		h.Give(ref)
	}
	if wrong != 0 {
		h.misuse(wrong, class, what)
	}
	return true
}

// takeOff moves the oldest blocks of a bin to a list, up to most.
func (b *bin) takeOff(blocks *blockList, most uint32) uint32 {
	end := uintptr(classTable[b.class&63].room)
	have := b.count()
	if have == 0 {
		return 0
	}
	slots := uint32(end) - uint32(b.room) // all but the newest
	n := slots
	if n > most {
		n = most
	}
	for i := uint32(0); i < n; i++ {
		blocks[i&(batchMost-1)] = *b.slot(end - uintptr(n) + uintptr(i))
	}
	if n == slots && n < most {
		blocks[n&(batchMost-1)] = b.newest
		b.newest, b.room = 0, int(end)+1
		return n + 1
	}
	for i := end - uintptr(n); i > uintptr(b.room); i-- {
		*b.slot(i - 1 + uintptr(n)) = *b.slot(i - 1)
	}
	b.room += int(n)
	return n
}

// flush makes room in a full bin: its older half goes to the shared pool as a batch, or to the spans if the pool
// has its fill. It returns false if the class's lock is this thread's already (a signal handler).
func (h *Heap) flush(c Cache, class uintptr) bool {
	info := &classTable[class&63]
	ctl := &h.classes[class&63]
	var blocks blockList
	if ctl.depot == 0 {
		h.makeDepot(ctl, info)
	}
	if sys.LockMine(&ctl.lock) {
		return false
	}
	b := c.classBin(class)
	b.flushes++
	count := b.takeOff(&blocks, info.batch)
	sys.Lock(&ctl.lock)
	if ctl.depot == 0 || ctl.depotCount >= info.depot || count != info.batch {
		sys.Unlock(&ctl.lock)
		return h.returnBlocks(class, &blocks, count)
	}
	slots := ctl.depot + sys.Addr(uintptr(ctl.depotCount*info.batch)*slotBytes)
	for i := uint32(0); i < count; i++ {
		(slots + sys.Addr(i)*slotBytes).SetWord(blocks[i&(batchMost-1)])
	}
	ctl.depotCount++
	ctl.batchesIn++
	sys.Unlock(&ctl.lock)
	return true
}

// makeDepot takes the memory for a class's batches.
func (h *Heap) makeDepot(ctl *central, info *classInfo) {
	memory := h.TakeMeta(sys.AlignUp(uintptr(info.depot*info.batch)*slotBytes, 64))
	if memory == 0 || !sys.Lock(&ctl.lock) {
		return
	}
	if ctl.depot == 0 {
		ctl.depot = memory
	}
	sys.Unlock(&ctl.lock)
}

// drainDepot sorts the waiting batches of a class into their spans.
func (h *Heap) drainDepot(class uintptr) {
	ctl := &h.classes[class&63]
	info := &classTable[class&63]
	var blocks blockList
	for ctl.depotCount != 0 && sys.Lock(&ctl.lock) {
		count := uint32(0)
		if ctl.depotCount != 0 {
			ctl.depotCount--
			slots := ctl.depot + sys.Addr(uintptr(ctl.depotCount*info.batch)*slotBytes)
			for ; count < info.batch; count++ {
				blocks[count&(batchMost-1)] = (slots + sys.Addr(count)*slotBytes).Word()
			}
		}
		sys.Unlock(&ctl.lock)
		h.returnBlocks(class, &blocks, count)
	}
}

// flushAll hands all blocks of a cache to their spans.
func (h *Heap) flushAll(c Cache) {
	var blocks blockList
	for class := uintptr(1); class <= ClassCount; class++ {
		b := c.classBin(class)
		for b.newest != 0 && !sys.LockMine(&h.classes[class&63].lock) {
			count := b.takeOff(&blocks, batchMost)
			h.returnBlocks(class, &blocks, count)
		}
	}
}
