package gc

import (
	"math/bits"
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: scanning the grey objects of blocks.

// scanBlock scans what is grey in a block that was taken out of a queue, and whatever becomes grey in it meanwhile; of
// a large object it scans a piece. It reports whether it is one.
func (h *Heap) scanBlock(m *marker, block blockRef) (large bool) {
	hd := h.header(block)
	if hd.state != stateSmall {
		h.scanLargePiece(m, block, hd)
		return true
	}
	m.here = uintptr(block)
	m.from, m.to = scannedRange(hd)
	for {
		for takeGrey(m, hd) {
			switch {
			case m.from < m.to:
				h.scanRanges(m, block, hd)
			case hd.descriptor&formMask == formBitmap:
				h.scanBitmaps(m, block, hd)
			default:
				h.scanDescribed(m, block, hd)
			}
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
	return false
}

// takeGrey marks the grey objects of the marker's own block and makes them its pending ones.
func takeGrey(m *marker, hd *header) bool {
	for word := uintptr(0); word < 4; word++ {
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
		for ; grey != 0; grey &= grey - 1 {
			m.pend(word<<6 | uintptr(bits.TrailingZeros64(grey)))
		}
	}
	return m.depth != 0
}

// pend adds an object of the marker's own block to the pending ones. There are at most as many as granules, as each is
// marked before.
func (m *marker) pend(granule uintptr) {
	m.pending[m.depth&(granulesPerBlock-1)] = uint8(granule)
	m.depth++
}

// leaveBlock gives a block up. It returns false if there is something grey in it after all, and nobody else has come to
// scan it: it is the marker's own again.
func leaveBlock(hd *header) bool {
	atomic.StoreUint32(hd.link(), 0)
	grey := atomic.LoadUint64(&hd.grey[0]) | atomic.LoadUint64(&hd.grey[1]) |
		atomic.LoadUint64(&hd.grey[2]) | atomic.LoadUint64(&hd.grey[3])
	return grey == 0 || !atomic.CompareAndSwapUint32(hd.link(), 0, uint32(endOfQueue))
}

// objectsPerFetch is how many objects are scanned for sys.PrefetchedBytes of the block that comes next.
const objectsPerFetch = 4

// scanBitmaps is scanRanges for objects of which a bitmap says which words may be addresses.
func (h *Heap) scanBitmaps(m *marker, block blockRef, hd *header) {
	start := h.blockAddr(block)
	for m.depth != 0 {
		m.depth--
		at := start + sys.Addr(m.pending[m.depth&(granulesPerBlock-1)])<<granuleShift
		for words := uint64(hd.descriptor &^ formMask); words != 0; words <<= 1 {
			if words>>(wordBits-1) != 0 {
				word := at.Word()
				if inner := word - uintptr(start); inner < BlockBytes {
					h.foundInside(m, hd, inner)
				} else if offset := word - m.base; offset < m.highest && m.later(offset) {
					h.turn(m)
				}
			}
			at += sys.WordBytes
		}
	}
}

// scanDescribed is scanRanges for objects of other descriptors.
func (h *Heap) scanDescribed(m *marker, block blockRef, hd *header) {
	start := h.blockAddr(block)
	for m.depth != 0 {
		m.depth--
		granule := sys.Addr(m.pending[m.depth&(granulesPerBlock-1)])
		h.scanDescriptor(m, hd, start+granule<<granuleShift, hd.descriptor)
	}
}

// startInside is the granule at which the object begins that an address so many bytes into the block keeps alive,
// else noGranule.
func (h *Heap) startInside(m *marker, hd *header, inner uintptr) uintptr {
	index := inner >> granuleShift * uintptr(hd.reciprocal) >> 16
	granule := index * uintptr(hd.granules)
	if index >= uintptr(hd.objects) {
		return noGranule
	}
	if m.interior == 0 && inner != granule<<granuleShift && !h.isDisplaced(inner-granule<<granuleShift) {
		return noGranule
	}
	return granule
}

// foundInside marks an object that lies in the small block which this marker is scanning.
func (h *Heap) foundInside(m *marker, hd *header, inner uintptr) {
	granule := h.startInside(m, hd, inner)
	if granule != noGranule && !hd.isFound(granule) {
		hd.marks[granule>>6&3] |= 1 << (granule & 63)
		m.pend(granule)
	}
}

// scanWords looks at words that lie in no block of the marker's own.
func (h *Heap) scanWords(m *marker, at, end sys.Addr) {
	base, highest := uintptr(h.Base), m.highest
	for ; at < end; at += sys.WordBytes {
		if offset := at.Word() - base; offset < highest && m.later(offset) {
			h.turn(m)
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
		h.foundInside(m, hd, offset&(BlockBytes-1))
	} else if m.later(offset) {
		h.turn(m)
	}
}

// scanLargePiece scans the next piece of a large object that was taken out of a queue. What is left of it goes to the
// front of the queue first, where others find it: the blocks that it leads to are scanned when all of it has been.
func (h *Heap) scanLargePiece(m *marker, block blockRef, hd *header) {
	if hd.grey[0] != 0 {
		atomic.StoreUint64(&hd.grey[0], 0)
		hd.marks[0] |= 1
		atomic.StoreUint64(&hd.stamp, 0)
	}
	object := h.blockAddr(block)
	length, isLength := scannedLength(hd)
	if !isLength {
		h.scanDescriptor(m, hd, object, hd.descriptor)
		length = 0
	}
	from := h.takePiece(m, hd)
	if from+pieceBytes < length {
		h.putBack(&m.own, block, hd)
		if m.shared != 0 {
			h.offer(block)
		}
		h.scanWords(m, object+sys.Addr(from), object+sys.Addr(from+pieceBytes))
		return
	}
	h.scanWords(m, object+sys.Addr(from), object+sys.Addr(length))
	if m.shared == 0 {
		hd.queueNext = 0
	} else if !leaveBlock(hd) {
		h.enqueue(&m.own, block, block, 1)
	}
}

// takePiece is where the next piece of a large object begins that nobody scans yet; perhaps there is none any more.
func (h *Heap) takePiece(m *marker, hd *header) uintptr {
	if m.shared != 0 {
		return uintptr(atomic.AddUint64(&hd.stamp, pieceBytes)) - pieceBytes
	}
	hd.stamp += pieceBytes
	return uintptr(hd.stamp) - pieceBytes
}

// assist scans a piece of a large object that another worker has in its queue.
func (h *Heap) assist(m *marker) {
	hd := h.header(m.assists)
	object := h.blockAddr(m.assists)
	length, _ := scannedLength(hd)
	from := h.takePiece(m, hd)
	to := from + pieceBytes
	if to >= length {
		to = length
		m.assists = 0
	}
	h.scanWords(m, object+sys.Addr(from), object+sys.Addr(to))
}
