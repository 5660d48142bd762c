package gc

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// This file: what becomes of blocks after a collection. One walk over all of them sorts them: those without a mark are
// free, the others wait in lists by kind and size until an allocation sweeps them, and what is alive is counted. The
// walk goes in pieces, by whoever holds the lock: the driver (Sort), and allocations that find no free object
// otherwise.

const (
	sortBlocks = 64 // small blocks, large objects and runs in a piece
	// sortTries are the pieces that an allocation sorts for want of a block to be swept, before it takes a free one; and
	// for want of a free one, if the collection was in slices, before it makes the heap larger.
	sortTries = 4
)

// sorting is the state of the walk. Under Heap.lock.
//
//	on 0   all blocks are sorted
//	on 1   from StartSweep on: blocks from next up to limit are not
//
// Equations (Check): next is where an object or a run begins, or lies in a large object that has grown over it; what is
// not sorted is on no list of blocks to be swept.
type sorting struct {
	on             uint32 // atomic for those who only look
	next, limit    blockRef
	first          blockRef // within a piece: blocks that are free from now on, and in no run yet; 0: none
	blocks         uintptr
	scanned, plain uintptr // bytes alive in blocks that are sorted
	before, since  uintptr // alive or allocated, and allocated, as the collection began and ended
}

// StartSweep ends a collection: blocks are to be sorted. The caller is between Hold and Unhold; the world may run
// already. After Unhold whoever allocates sorts what it needs. The collection counts, and figures are of it, when all
// blocks are sorted: the driver sees to that (Sort).
func (h *Heap) StartSweep() {
	sys.Clear(sys.Addr(uintptr(unsafe.Pointer(&h.reclaim))), unsafe.Sizeof(h.reclaim))
	h.counts.unswept = 0
	since := h.pace.start(&h.counts)
	h.sorting = sorting{
		on: 1, next: firstBlock, limit: h.blockLimit(),
		before: h.counts.scanned + h.counts.plain + since, since: since,
	}
}

// IsSorting reports whether blocks are to be sorted: whether Sort has something to do.
func (h *Heap) IsSorting() bool { return atomic.LoadUint32(&h.sorting.on) != 0 }

// Sort sorts blocks after a collection until all are sorted, or until the time deadline (0: none), and reports which.
// Others may allocate meanwhile. The caller is not between Hold and Unhold.
func (h *Heap) Sort(deadline uint64) bool {
	for h.IsSorting() {
		if !sys.Lock(&h.lock) {
			return false
		}
		if h.sorting.on != 0 {
			h.sortPiece()
		}
		sys.Unlock(&h.lock)
		if deadline != 0 && sys.Now() >= deadline {
			return !h.IsSorting()
		}
	}
	return true
}

// sortAll sorts what is left.
func (h *Heap) sortAll() {
	for h.sorting.on != 0 {
		h.sortPiece()
	}
}

// sortPiece sorts some blocks.
func (h *Heap) sortPiece() {
	s := &h.sorting
	block := s.next
	if block < s.limit {
		if first := *h.indexEntry(block); first != 0 && first < block {
			block = h.blockAfter(first)
		}
	}
	for count := 0; count < sortBlocks && block < s.limit; count++ {
		hd := h.header(block)
		next := h.blockAfter(block)
		switch hd.state {
		case stateSmall:
			h.sortSmall(block, hd)
		case stateLarge:
			h.sortLarge(block, hd)
		default:
			h.freeSorted()
		}
		block = next
	}
	s.next = block
	h.freeSorted()
	if s.next >= s.limit {
		atomic.StoreUint32(&s.on, 0)
		h.settlePace(s.scanned, s.plain)
	}
}

// passOver keeps the walk out of a free run: it goes on behind it.
func (s *sorting) passOver(first blockRef, blocks uintptr) {
	if uintptr(s.next-first) < blocks {
		s.next = first + blockRef(blocks)
	}
}

// sortFree notes blocks without a mark.
func (h *Heap) sortFree(block blockRef, blocks uintptr) {
	s := &h.sorting
	if s.blocks == 0 {
		s.first = block
	}
	s.blocks += blocks
	h.header(block).state = stateNone
	h.setIndex(block, blocks, 0)
	h.setDirty(block, blocks)
}

// freeSorted makes them free.
func (h *Heap) freeSorted() {
	s := &h.sorting
	if first, blocks := s.first, s.blocks; blocks != 0 {
		s.first, s.blocks = 0, 0
		h.giveRun(first, blocks)
	}
}

func (h *Heap) sortSmall(block blockRef, hd *header) {
	isNew := hd.epoch == h.marking.epoch // it came into use during the collection, or since
	if h.isStale(hd) {
		if hd.flags&flagHasDisclaim == 0 {
			h.sortFree(block, 1)
			return
		}
		h.freshen(hd)
	}
	hd.marked = hd.countMarks()
	if hd.marked == 0 && !isNew && hd.flags&flagHasDisclaim == 0 {
		h.sortFree(block, 1)
		return
	}
	h.freeSorted()
	h.sorting.count(hd, uintptr(hd.marked)*hd.bytes)
	if isNew {
		return
	}
	if hd.marked*8 > uint32(hd.objects)*7 && hd.flags&(flagHasDisclaim|flagUncollectable) == 0 {
		hd.epoch = h.marking.epoch // the rest is not worth a sweep
		return
	}
	list := h.reclaimList(uint32(hd.kind), classFor(uintptr(hd.granules)))
	hd.next = *list
	*list = block
	h.counts.unswept++
}

func (h *Heap) sortLarge(block blockRef, hd *header) {
	isNew := hd.epoch == h.marking.epoch
	h.freshen(hd)
	hd.marked = uint32(hd.marks[0] & 1)
	if hd.marked == 0 && !isNew {
		if hd.flags&flagHasDisclaim == 0 ||
			!callDisclaim(h.kind(uint32(hd.kind)).disclaim-1, h.blockAddr(block)) {
			h.counts.large -= uintptr(hd.blocks)
			h.sortFree(block, uintptr(hd.blocks))
			return
		}
		hd.marks[0], hd.marked = 1, 1
	}
	h.freeSorted()
	if hd.marked != 0 {
		h.sorting.count(hd, hd.bytes)
	}
	hd.epoch = h.marking.epoch
}

// count adds what is alive in a block.
func (s *sorting) count(hd *header, bytes uintptr) {
	if hd.flags&flagPointerFree != 0 {
		s.plain += bytes
	} else {
		s.scanned += bytes
	}
}

// sortedAlready counts bytes that the collection found alive in a block, but the walk will not: they are freed before
// it comes there. What it will find though it was not alive then is negative. Uncollectable objects that are made after
// StartSweep in blocks not sorted yet are not told here: they count twice, as alive and as allocated since, until the
// next collection.
func (h *Heap) sortedAlready(block blockRef, hd *header, bytes uintptr) {
	if h.sorting.on != 0 && block >= h.sorting.next {
		h.sorting.count(hd, bytes)
	}
}
