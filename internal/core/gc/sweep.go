package gc

import (
	"math/bits"

	"granary/internal/core/sys"
)

// This file: how the dead objects of a block become free.

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

// SweepAll sweeps up to that many of the blocks that wait for it; their free objects serve the next allocations of
// their kind and size. It returns false if some are left.
func (h *Heap) SweepAll(budget uintptr) bool {
	if !sys.Lock(&h.lock) {
		return false
	}
	for ; h.sorting.on != 0 && budget != 0; budget-- {
		h.sortPiece()
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
	done := h.counts.unswept == 0 && h.sorting.on == 0
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
