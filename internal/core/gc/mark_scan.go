package gc

import (
	"math/bits"
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: scanning the grey objects of blocks.

// scanBlock scans what is grey in a block that was taken out of a queue, and whatever becomes grey in it meanwhile.
func (h *Heap) scanBlock(m *marker, block blockRef) {
	hd := h.header(block)
	if hd.state != stateSmall {
		h.scanLargePiece(m, block, hd)
		return
	}
	m.here = uintptr(block)
	for {
		for h.takeGrey(m, hd) {
			h.scanPending(m, block, hd)
		}
		if m.shared == 0 {
			hd.queueNext = 0
			break
		}
		if leaveBlock(hd) {
			break
		}
	}
	m.here = noBlock
}

// takeGrey marks the grey objects of the marker's own block and makes them its pending ones.
func (h *Heap) takeGrey(m *marker, hd *header) bool {
	any := uint64(0)
	for word := 0; word < 4; word++ {
		grey := hd.grey[word&3]
		if grey == 0 {
			continue
		}
		if m.shared == 0 {
			hd.grey[word&3] = 0
		} else {
			grey = atomic.SwapUint64(&hd.grey[word&3], 0)
		}
		hd.marks[word&3] |= grey
		m.pending[word&3] = grey
		any |= grey
	}
	return any != 0
}

// leaveBlock gives a block up. It returns false if there is something grey in it after all, and nobody else has come to
// scan it: it is the marker's own again.
func leaveBlock(hd *header) bool {
	atomic.StoreUint32(hd.link(), 0)
	grey := atomic.LoadUint64(&hd.grey[0]) | atomic.LoadUint64(&hd.grey[1]) |
		atomic.LoadUint64(&hd.grey[2]) | atomic.LoadUint64(&hd.grey[3])
	return grey == 0 || !atomic.CompareAndSwapUint32(hd.link(), 0, uint32(endOfQueue))
}

// scanPending scans the pending objects of the marker's own block, and those that it finds there meanwhile.
func (h *Heap) scanPending(m *marker, block blockRef, hd *header) {
	start := h.blockAddr(block)
	length, isLength := scannedLength(hd)
	for m.pending[0]|m.pending[1]|m.pending[2]|m.pending[3] != 0 {
		for word := sys.Addr(0); word < 4; word++ {
			for m.pending[word&3] != 0 {
				pending := m.pending[word&3]
				m.pending[word&3] = pending & (pending - 1)
				object := start + (word<<6|sys.Addr(bits.TrailingZeros64(pending)))<<granuleShift
				if isLength {
					h.scanInside(m, hd, object, object+sys.Addr(length))
				} else {
					h.scanDescriptor(m, hd, object, hd.descriptor)
				}
			}
		}
	}
}

// scanInside looks at the words of an object in the marker's own block.
func (h *Heap) scanInside(m *marker, hd *header, at, end sys.Addr) {
	base, highest, here := uintptr(h.Base), m.highest, m.here
	for ; at < end; at += sys.WordBytes {
		offset := at.Word() - base
		if offset >= highest {
			continue
		}
		if offset>>blockShift == here {
			h.foundInside(m, hd, offset)
		} else {
			h.later(m, offset)
		}
	}
}

// scanWords looks at words that lie in no block of the marker's own.
func (h *Heap) scanWords(m *marker, at, end sys.Addr) {
	base, highest := uintptr(h.Base), m.highest
	for ; at < end; at += sys.WordBytes {
		if offset := at.Word() - base; offset < highest {
			h.later(m, offset)
		}
	}
}

// scanWord looks at one word of an object.
func (h *Heap) scanWord(m *marker, hd *header, word uintptr) {
	offset := word - uintptr(h.Base)
	if offset >= m.highest {
		return
	}
	if offset>>blockShift == m.here {
		h.foundInside(m, hd, offset)
	} else {
		h.later(m, offset)
	}
}

// scanLargePiece scans the next piece of a large object that was taken out of a queue. What is left of it goes to the
// end of the queue first, where others find it.
func (h *Heap) scanLargePiece(m *marker, block blockRef, hd *header) {
	if hd.grey[0] != 0 {
		atomic.StoreUint64(&hd.grey[0], 0)
		hd.marks[0] |= 1
		hd.stamp = 0
	}
	object := h.blockAddr(block)
	length, isLength := scannedLength(hd)
	if !isLength {
		h.scanDescriptor(m, hd, object, hd.descriptor)
		length = 0
	}
	from := uintptr(hd.stamp)
	to := from + pieceBytes
	if to < length {
		hd.stamp = uint64(to)
		h.enqueue(&m.own, block, block, 1)
		h.scanWords(m, object+sys.Addr(from), object+sys.Addr(to))
		return
	}
	h.scanWords(m, object+sys.Addr(from), object+sys.Addr(length))
	if m.shared == 0 {
		hd.queueNext = 0
	} else if !leaveBlock(hd) {
		h.enqueue(&m.own, block, block, 1)
	}
}
