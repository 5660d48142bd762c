package gc

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: what keeps marking right while the program runs between two slices of it. Everything that was reachable
// when the collection began is marked (a snapshot), and so is what is allocated meanwhile. So whoever overwrites an
// address in an object shades what it named; it does not matter what is written, or what becomes of roots. A driver
// that sees writes only afterwards, page by page, has the objects there scanned once more instead (RescanBlock).

// IsMarking reports whether a collection is between BeginCycle and FinishMarking: whether overwritten addresses must be
// shaded.
func (h *Heap) IsMarking() bool { return atomic.LoadUint32(&h.marking.active) != 0 }

// Shade keeps the object alive that holds the address, for this collection: one that is about to be overwritten, or was
// read of a weak link. Any thread may call it while no slice is being marked. Outside of a collection, and of words
// that are no addresses of the heap, it does nothing.
func (h *Heap) Shade(word uintptr) {
	if !h.IsMarking() {
		return
	}
	p, ok := h.locate(word - uintptr(h.Base))
	if !ok {
		return
	}
	hd := h.header(p.block)
	if !h.isStale(hd) && hd.isFound(p.granule) || !sys.Lock(&h.marking.lock) {
		return
	}
	h.freshen(hd)
	h.shadeShared(h.marker(0), p.block, hd, p.granule>>6, 1<<(p.granule&63))
	sys.Unlock(&h.marking.lock)
}

// RescanBlock has the marked objects of the block that holds the address scanned again, as the program wrote there. Of
// a large object only the words in that block are. The world stands; the driver calls it between BeginCycle and the
// last Drain.
func (h *Heap) RescanBlock(addr sys.Addr) {
	block := blockRef(uintptr(addr-h.Base) >> blockShift)
	if uintptr(addr-h.Base) >= h.highest {
		return
	}
	first := *h.indexEntry(block)
	if first == 0 {
		return
	}
	hd := h.header(first)
	h.freshen(hd)
	m := h.marker(0)
	h.setUp(m, 0)
	length, isLength := scannedLength(hd)
	if hd.state == stateLarge && isLength && hd.marks[0] != 0 && hd.flags&flagPointerFree == 0 {
		from := uintptr(block-first) << blockShift
		to := from + BlockBytes
		if to > length {
			to = length
		}
		h.scanWords(m, h.blockAddr(first)+sys.Addr(from), h.blockAddr(first)+sys.Addr(to))
		return
	}
	h.greyMarked(m, first, hd)
}

// greyMarked makes all marked objects of a block, or the marked large object, grey again.
func (h *Heap) greyMarked(m *marker, first blockRef, hd *header) {
	if hd.flags&flagPointerFree != 0 || hd.marks[0]|hd.marks[1]|hd.marks[2]|hd.marks[3] == 0 {
		return
	}
	for word := 0; word < 4; word++ {
		hd.grey[word&3] |= hd.marks[word&3]
	}
	if hd.queueNext == 0 {
		hd.queueNext = endOfQueue
		h.enqueue(&m.own, first, first, 1)
	}
}
