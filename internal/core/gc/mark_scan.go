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
	length, isLength := scannedLength(hd)
	for {
		for takeGrey(m, hd) {
			if isLength {
				h.scanLengths(m, block, hd, length)
			} else {
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

// scanLengths scans the pending objects of the marker's own block, and those that it finds there meanwhile. This is the
// loop in which a collection spends its time: so it reads and writes by address, and knows the starts of objects from a
// table instead of by multiplication. First in, first out: so the objects found are on their way into the cache, in
// whatever direction a structure lies in memory.
func (h *Heap) scanLengths(m *marker, block blockRef, hd *header, length uintptr) {
	base, highest := uintptr(h.Base), m.highest
	start := h.blockAddr(block)
	marks := addrOfHeader(hd) + marksAt
	starts := h.startsOf(hd)
	pending := m.pendingAddr()
	head, tail := sys.Addr(0), sys.Addr(m.depth)
	m.depth = 0
	ahead, aheadEnd, far := m.ahead, m.aheadEnd, m.near == 0
	for head != tail {
		if head&(objectsPerFetch-1) == objectsPerFetch-1 && ahead < aheadEnd {
			sys.PrefetchBytes(ahead)
			ahead += sys.PrefetchedBytes
		}
		at := start + sys.Addr(byteAt(pending+head&(granulesPerBlock-1)))<<granuleShift
		head++
		for end := at + sys.Addr(length); at < end; at += sys.WordBytes {
			word := at.Word()
			inner := word - uintptr(start)
			if inner >= BlockBytes {
				if offset := word - base; offset < highest && m.later(offset) {
					h.turn(m)
				}
				continue
			}
			bit := inner >> granuleShift & 63
			quarter := sys.Addr(inner >> (granuleShift + 6) << 3)
			marked := marks + quarter
			if marked.Word()>>bit&1 != 0 {
				continue
			}
			found := inner >> granuleShift
			if (starts+quarter).Word()>>bit&1 == 0 || inner&(GranuleBytes-1) != 0 {
				if found = h.startInside(m, hd, inner); found == noGranule {
					continue
				}
				marked = marks + sys.Addr(found>>6<<3)
				bit = found & 63
			}
			marked.SetWord(marked.Word() | 1<<bit)
			if far {
				sys.Prefetch(start + sys.Addr(found<<granuleShift))
			} else {
				sys.PrefetchInline(start + sys.Addr(found<<granuleShift))
			}
			setByteAt(pending+tail&(granulesPerBlock-1), uint8(found))
			tail++
		}
	}
	m.ahead = ahead
}

// objectsPerFetch is how many objects are scanned for sys.PrefetchedBytes of the block that comes next.
const objectsPerFetch = 4

// scanDescribed is scanLengths for objects of other descriptors.
func (h *Heap) scanDescribed(m *marker, block blockRef, hd *header) {
	start := h.blockAddr(block)
	for m.depth != 0 {
		m.depth--
		granule := sys.Addr(m.pending[m.depth&(granulesPerBlock-1)])
		h.scanDescriptor(m, hd, start+granule<<granuleShift, hd.descriptor)
	}
}

// startInside is the granule at which the object begins that an address so many bytes into the block keeps alive and
// that is not found yet, else noGranule.
func (h *Heap) startInside(m *marker, hd *header, inner uintptr) uintptr {
	index := inner >> granuleShift * uintptr(hd.reciprocal) >> 16
	granule := index * uintptr(hd.granules)
	if index >= uintptr(hd.objects) || hd.isFound(granule) {
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
	if granule != noGranule {
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
		h.putBack(&m.own, block, hd)
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
