package gc

import (
	"math/bits"

	"granary/internal/core/sys"
)

// This file: a walk over the objects that the last collection has marked, in the order of their addresses.

// NextMarked is the first marked object that begins behind an address, 0 for none; 0 as the address begins the walk.
// Objects made since the last collection are met or not. The caller is between Hold and Unhold.
func (h *Heap) NextMarked(after sys.Addr) sys.Addr {
	block, granule := firstBlock, uintptr(0)
	if after != 0 {
		offset := uintptr(after - h.Base)
		block, granule = blockRef(offset>>blockShift), offset&(BlockBytes-1)>>granuleShift+1
		if h.header(block).state == stateLarge || granule == granulesPerBlock {
			block, granule = h.blockAfter(block), 0
		}
	}
	for limit := h.blockLimit(); block < limit; block, granule = h.blockAfter(block), 0 {
		hd := h.header(block)
		if hd.state != stateSmall && hd.state != stateLarge || h.isStale(hd) {
			continue
		}
		for word := granule >> 6; word < 4; word++ {
			set := hd.marks[word&3]
			if word == granule>>6 {
				set &^= 1<<(granule&63) - 1
			}
			if set != 0 {
				return h.startOf(place{block, word<<6 | uintptr(bits.TrailingZeros64(set))})
			}
		}
	}
	return 0
}

// MarkFromKind marks what the dead objects of a kind hold, but not these: for kinds whose disclaim procedure looks at
// that. It is called between the last root and FinishMarking, after Drain has returned true, which has to be called
// again. Free objects are looked into as well, which read as zero if the kind is cleared.
func (h *Heap) MarkFromKind(kind uint32) {
	m := h.marker(0)
	h.setUp(m, 0)
	limit := h.blockLimit()
	for block := firstBlock; block < limit; block = h.blockAfter(block) {
		hd := h.header(block)
		if uint32(hd.kind) != kind || hd.state != stateSmall && hd.state != stateLarge {
			continue
		}
		h.freshen(hd)
		for i := uintptr(0); i < uintptr(hd.objects); i++ {
			granule := i * uintptr(hd.granules)
			if hd.isFound(granule) {
				continue
			}
			object := h.startOf(place{block, granule})
			h.recordRoot(object, rootContentsOnly)
			h.scanDescriptor(m, hd, object, hd.descriptor)
		}
	}
}
