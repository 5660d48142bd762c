package gc

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// This file: what becomes of one address that a marker finds, and the queue of blocks.

// later notes an address found in the heap, outside of the block that is being scanned. It reports whether a half of
// the ring is full with it: then the caller calls turn.
func (m *marker) later(offset uintptr) bool {
	m.ring[m.ringTo&(ringSlots-1)] = offset
	m.ringTo++
	return m.ringTo&(ringHalf-1) == 0
}

// forget empties the list of offsets that went into the ring: the program may have run since, and freed objects there.
func (m *marker) forget() {
	for i := range m.seen {
		m.seen[i] = 0
	}
}

// turn has the headers of the newest addresses fetched into the cache, and looks at those that were fetched last time.
//
//go:noinline
func (h *Heap) turn(m *marker) {
	half := m.ringTo - ringHalf
	h.fetch(m, half)
	h.lookAt(m, half)
}

// fetch begins to bring into the cache what the looks at the addresses from a number on will need.
func (h *Heap) fetch(m *marker, from uintptr) {
	list := sys.Addr(uintptr(unsafe.Pointer(&m.ring[from&(ringSlots-1)])))
	sys.PrefetchRecords(list, m.ringTo-from, h.headers, blockShift-headerShift, headerBytes)
	if m.own.head == 0 { // the objects will be scanned soon
		sys.PrefetchEach(list, m.ringTo-from, h.Base)
	}
}

// emptyRing looks at all addresses that wait, and leaves none of its objects to be made grey.
func (h *Heap) emptyRing(m *marker) {
	if half := m.ringTo &^ (ringHalf - 1); half != m.ringTo {
		h.fetch(m, half)
	}
	h.lookAt(m, m.ringTo)
	m.ringFrom, m.ringTo = 0, 0
	h.shadeCollected(m)
}

// lookAt looks at the addresses that wait, up to a number: it makes the objects grey that they keep alive and that are
// not found yet.
func (h *Heap) lookAt(m *marker, to uintptr) {
	for at := m.ringFrom; at != to; at++ {
		offset := m.ring[at&(ringSlots-1)]
		first := *h.indexEntry(blockRef(offset >> blockShift))
		if first == 0 {
			continue
		}
		hd := h.header(first)
		if atomic.LoadUint32(&hd.markedIn) != m.full {
			h.freshen(hd)
		}
		granule := uintptr(0)
		if hd.state == stateSmall {
			inner := offset & (BlockBytes - 1)
			index := inner >> granuleShift * uintptr(hd.reciprocal) >> 16
			if index >= uintptr(hd.objects) {
				continue
			}
			granule = index * uintptr(hd.granules)
			if m.interior == 0 && inner != granule<<granuleShift && !h.isDisplaced(inner-granule<<granuleShift) {
				continue
			}
		} else if !h.keepsLarge(first, hd, offset, m.interior != 0) {
			continue
		}
		word := granule >> 6 & 3
		bit := uint64(1) << (granule & 63)
		switch {
		case (hd.marks[word]|hd.grey[word])&bit != 0:
		case m.shared != 0:
			h.shade(m, first, hd, granule)
		case hd.flags&flagPointerFree != 0:
			hd.marks[word] |= bit
		default:
			hd.grey[word] |= bit
			if hd.queueNext == 0 {
				hd.queueNext = endOfQueue
				h.enqueue(&m.own, first, first, 1)
			}
		}
	}
	m.ringFrom = to
}

// keepsLarge reports whether an address keeps a large object alive.
func (h *Heap) keepsLarge(first blockRef, hd *header, offset uintptr, interior bool) bool {
	inner := offset - uintptr(first)<<blockShift
	if hd.state != stateLarge || inner >= hd.bytes {
		return false
	}
	if inner >= BlockBytes && hd.flags&flagIgnoreOffPage != 0 {
		return false
	}
	return interior || inner == 0 || h.isDisplaced(inner)
}

// rootWord marks the object that holds an address found in a root: wherever in the object it is.
func (h *Heap) rootWord(m *marker, word uintptr) {
	offset := word - uintptr(h.Base)
	if offset >= m.highest {
		return
	}
	p, ok := h.locate(offset)
	if !ok {
		return
	}
	hd := h.header(p.block)
	if hd.flags&flagIgnoreOffPage != 0 && offset-uintptr(p.block)<<blockShift >= BlockBytes {
		return
	}
	h.recordRoot(h.startOf(p), rootObject)
	h.freshen(hd)
	h.shade(m, p.block, hd, p.granule)
}

// shade makes an object grey that is not marked. An object without addresses is marked at once.
func (h *Heap) shade(m *marker, first blockRef, hd *header, granule uintptr) {
	word := granule >> 6 & 3
	bit := uint64(1) << (granule & 63)
	if (hd.marks[word]|hd.grey[word])&bit != 0 {
		return
	}
	if m.shared != 0 {
		if m.shadedIn != first || m.shadedWord != word {
			h.shadeCollected(m)
			m.shadedIn, m.shadedWord = first, word
		}
		m.shaded |= bit
		return
	}
	if hd.flags&flagPointerFree != 0 {
		hd.marks[word] |= bit
		return
	}
	hd.grey[word] |= bit
	if hd.queueNext == 0 {
		hd.queueNext = endOfQueue
		h.enqueue(&m.own, first, first, 1)
	}
}

// shadeCollected makes the objects grey that shade has collected while other workers write the same words: those that
// were found one after another and whose bits are in one word. Of an array of addresses that may be many.
func (h *Heap) shadeCollected(m *marker) {
	if bits := m.shaded; bits != 0 {
		m.shaded = 0
		h.shadeShared(m, m.shadedIn, h.header(m.shadedIn), m.shadedWord, bits)
	}
}

// shadeShared makes the objects grey whose bits are given, of a word of bits that others write too.
func (h *Heap) shadeShared(m *marker, first blockRef, hd *header, word uintptr, bits uint64) {
	if hd.flags&flagPointerFree != 0 {
		orShared(&hd.marks[word&3], bits)
		return
	}
	// The grey bit comes first, then the look at the queue: a worker that gives the block up does it in the other
	// order (leaveBlock), so that one of the two sees it.
	if orShared(&hd.grey[word&3], bits) && atomic.LoadUint32(hd.link()) == 0 &&
		atomic.CompareAndSwapUint32(hd.link(), 0, uint32(endOfQueue)) {
		h.enqueue(&m.own, first, first, 1)
	}
}

// orShared sets bits and reports whether one of them was not set before.
func orShared(word *uint64, bits uint64) bool {
	for {
		old := atomic.LoadUint64(word)
		if old&bits == bits {
			return false
		}
		if atomic.CompareAndSwapUint64(word, old, old|bits) {
			return true
		}
	}
}

// link is queueNext for atomic access.
func (hd *header) link() *uint32 { return (*uint32)(&hd.queueNext) }

// enqueue appends blocks that are linked already, the last one to endOfQueue.
func (h *Heap) enqueue(q *blockQueue, first, last blockRef, count uint32) {
	if q.tail == 0 {
		q.head = first
	} else {
		h.header(q.tail).queueNext = first
	}
	q.tail = last
	q.count += count // others only look at the shared queue's, and look again under the lock
}

// putBack makes a block that was taken out the first of the queue again.
func (h *Heap) putBack(q *blockQueue, block blockRef, hd *header) {
	if q.head == 0 {
		q.tail = block
	} else {
		hd.queueNext = q.head
	}
	q.head = block
	q.count++
}

// dequeue takes the block that has waited longest out of the marker's queue. What will be wanted next is fetched into
// the cache; of a block that nobody has scanned yet that may be all, which is fetched bit by bit (marker.ahead).
func (h *Heap) dequeue(m *marker) blockRef {
	q := &m.own
	first := q.head
	hd := h.header(first)
	next := hd.queueNext
	hd.queueNext = endOfQueue
	q.count--
	m.near = 0
	if end := h.blockAddr(first) + BlockBytes; m.ahead == end && m.aheadEnd == end {
		m.near = 1
	}
	m.ahead, m.aheadEnd = 0, 0
	if next == endOfQueue {
		q.head, q.tail = 0, 0
		return first
	}
	q.head = next
	soon := h.header(next)
	if after := soon.queueNext; after != endOfQueue {
		hd := h.headers + sys.Addr(after)<<headerShift
		sys.Prefetch(hd)
		sys.Prefetch(hd + marksAt)
	}
	if soon.state == stateSmall {
		h.prefetchGrey(next, soon)
		if soon.marks[0]|soon.marks[1]|soon.marks[2]|soon.marks[3] == 0 {
			m.ahead = h.blockAddr(next)
			m.aheadEnd = m.ahead + BlockBytes
		}
	}
	return first
}

// prefetchGrey fetches the first grey object of each quarter of a block.
func (h *Heap) prefetchGrey(block blockRef, hd *header) {
	start := h.blockAddr(block)
	for word := sys.Addr(0); word < 4; word++ {
		if grey := hd.grey[word&3]; grey != 0 {
			sys.Prefetch(start + (word<<6|sys.Addr(bits.TrailingZeros64(grey)))<<granuleShift)
		}
	}
}
