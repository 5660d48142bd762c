package gc

import (
	"math/bits"
	"unsafe"

	"granary/internal/core/sys"
)

// This file: what becomes of the blocks after a collection.

// nextMark is the first marked granule from one on, granulesPerBlock if there is none.
func (hd *header) nextMark(granule uintptr) uintptr {
	for word := granule >> 6; word < 4; word++ {
		set := hd.marks[word&3]
		if word == granule>>6 {
			set &= ^uint64(0) << (granule & 63)
		}
		if set != 0 {
			return word<<6 + uintptr(bits.TrailingZeros64(set))
		}
	}
	return granulesPerBlock
}

// countMarks counts the marks. (gccgo makes a call of bits.OnesCount64.)
func (hd *header) countMarks() uint32 {
	sums := sumsOfBytes(hd.marks[0]) + sumsOfBytes(hd.marks[1]) + sumsOfBytes(hd.marks[2]) + sumsOfBytes(hd.marks[3])
	sums = sums&0x00ff00ff00ff00ff + sums>>8&0x00ff00ff00ff00ff
	return uint32(sums * 0x0001000100010001 >> 48)
}

// sumsOfBytes counts the bits of each byte.
func sumsOfBytes(word uint64) uint64 {
	word -= word >> 1 & 0x5555555555555555
	word = word&0x3333333333333333 + word>>2&0x3333333333333333
	return (word + word>>4) & 0x0f0f0f0f0f0f0f0f
}

// reclaimList is the list of blocks to be swept for a kind and class.
func (h *Heap) reclaimList(kind uint32, class uintptr) *blockRef {
	return &h.reclaim[kind&(kindMost-1)][class&(classCount-1)]
}

// sweepBlock puts the objects of a block that are not marked on a chain.
func (h *Heap) sweepBlock(block blockRef, hd *header, ch *chain) {
	base := h.blockAddr(block)
	granules := uintptr(hd.granules)
	end := granules * uintptr(hd.objects)
	clear := h.kind(uint32(hd.kind)).clear
	for granule := uintptr(0); granule < end; {
		next := hd.nextMark(granule)
		if next > end {
			next = end
		}
		if next > granule {
			from, to := base+sys.Addr(granule<<granuleShift), base+sys.Addr(next<<granuleShift)
			if clear {
				sys.Clear(from, uintptr(to-from))
			}
			ch.add(from, to, hd.bytes, clear)
		}
		granule = next + granules
	}
}

// disclaimBlock asks the kind's procedure about each dead object; those that it wants to keep are marked, and counted.
func (h *Heap) disclaimBlock(block blockRef, hd *header) (kept uintptr) {
	granules := uintptr(hd.granules)
	procedure := h.kind(uint32(hd.kind)).disclaim - 1
	for granule := uintptr(0); granule < granules*uintptr(hd.objects); granule += granules {
		if hd.marks[granule>>6&3]>>(granule&63)&1 == 0 &&
			callDisclaim(procedure, h.blockAddr(block)+sys.Addr(granule<<granuleShift)) {
			hd.marks[granule>>6&3] |= 1 << (granule & 63)
			hd.marked++
			kept++
		}
	}
	return kept
}

// sweepStart is the state of the walk over all blocks after a collection.
type sweepStart struct {
	first          blockRef // blocks that are free, or become so, and are not on a list yet; 0: none
	blocks         uintptr
	dirty          uintptr
	fresh          bool // some of them were not free before
	scanned, plain uintptr
}

// StartSweep looks at every block once the marks are set. Those without a mark are free at once, the others wait until
// an allocation of their kind and size sweeps them. The caller is between Hold and Unhold; the world may go on.
func (h *Heap) StartSweep() {
	sys.Clear(sys.Addr(uintptr(unsafe.Pointer(&h.reclaim))), unsafe.Sizeof(h.reclaim))
	h.counts.unswept = 0
	var s sweepStart
	limit := h.blockLimit()
	for block := firstBlock; block < limit; {
		hd := h.header(block)
		next := h.blockAfter(block)
		switch hd.state {
		case stateFree:
			s.join(h, block, uintptr(hd.blocks), false)
		case stateSmall:
			h.sortSmall(&s, block, hd)
		case stateLarge:
			h.sortLarge(&s, block, hd)
		default:
			s.flush(h)
		}
		block = next
	}
	s.flush(h)
	h.settlePace(s.scanned, s.plain)
}

// join adds free blocks to those that are not on a list.
func (s *sweepStart) join(h *Heap, block blockRef, blocks uintptr, fresh bool) {
	if s.first == 0 {
		s.first = block
	}
	if fresh {
		h.header(block).state = stateNone
		h.setIndex(block, blocks, 0)
		h.setDirty(block, blocks)
		s.dirty += blocks
	} else {
		s.dirty += uintptr(h.header(block).marked)
	}
	if s.fresh != fresh && s.blocks != 0 {
		// Free and freed blocks side by side: the run that is on a list leaves it.
		if fresh {
			h.unlinkRun(s.first)
		}
	}
	if !fresh && s.fresh {
		h.unlinkRun(block)
		fresh = true
	}
	s.fresh = fresh
	s.blocks += blocks
}

// flush puts them on a list, if they are not a run that is on one already.
func (s *sweepStart) flush(h *Heap) {
	if s.fresh {
		h.linkRun(s.first, s.blocks, s.dirty, 0)
	}
	s.first, s.blocks, s.dirty, s.fresh = 0, 0, 0, false
}

func (h *Heap) sortSmall(s *sweepStart, block blockRef, hd *header) {
	hd.marked = hd.countMarks()
	isNew := hd.epoch == h.marking.epoch // it came into use during the collection
	if hd.marked == 0 && !isNew && hd.flags&flagHasDisclaim == 0 {
		s.join(h, block, 1, true)
		return
	}
	s.flush(h)
	s.count(hd, uintptr(hd.marked)*hd.bytes)
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

func (h *Heap) sortLarge(s *sweepStart, block blockRef, hd *header) {
	hd.marked = uint32(hd.marks[0] & 1)
	if hd.marked == 0 && hd.flags&flagHasDisclaim != 0 &&
		callDisclaim(h.kind(uint32(hd.kind)).disclaim-1, h.blockAddr(block)) {
		hd.marks[0], hd.marked = 1, 1
	}
	if hd.marked == 0 {
		h.counts.large -= uintptr(hd.blocks)
		s.join(h, block, uintptr(hd.blocks), true)
		return
	}
	s.flush(h)
	s.count(hd, hd.bytes)
	hd.epoch = h.marking.epoch
}

// count adds what is alive in a block.
func (s *sweepStart) count(hd *header, bytes uintptr) {
	if hd.flags&flagPointerFree != 0 {
		s.plain += bytes
	} else {
		s.scanned += bytes
	}
}

// SweepAll sweeps up to that many of the blocks that wait for it; their free objects serve the next allocations of
// their kind and size. It returns false if some are left.
func (h *Heap) SweepAll(budget uintptr) bool {
	if !sys.Lock(&h.lock) {
		return false
	}
	for kind := uint32(0); kind < h.kindCount && h.marking.active == 0; kind++ {
		for class := uintptr(0); class < classCount; class++ {
			list := h.reclaimList(kind, class)
			for *list != 0 && budget != 0 {
				var w work
				h.takeUnswept(&w, list, 1)
				h.addShared(kind, class, h.process(&w))
				budget--
			}
		}
	}
	done := h.counts.unswept == 0
	sys.Unlock(&h.lock)
	return done
}

// addShared puts a chain in front of the one that no cache has, and returns how many objects it has.
func (h *Heap) addShared(kind uint32, class uintptr, first sys.Addr) (count uintptr) {
	if first == 0 {
		return 0
	}
	shared := h.sharedChain(kind, class)
	last := first
	count = 1
	for next := nextInChain(last, class); next != 0; next = nextInChain(last, class) {
		last = next
		count++
	}
	if shared.head != 0 {
		last.SetWord(uintptr(shared.head))
	}
	shared.head = first
	shared.count += count
	return count
}
