package gc

import (
	"math/bits"
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: what becomes of one address that a marker finds, and the queue of blocks.

// later notes an address found in the heap, outside of the block that is being scanned. Its header is fetched into
// the cache meanwhile; the address that has waited longest is looked at instead.
func (h *Heap) later(m *marker, offset uintptr) {
	hd := h.headers + sys.Addr(offset>>blockShift<<headerShift)
	sys.Prefetch(hd)
	sys.PrefetchWrite(hd + marksAt)
	if m.own.head == 0 {
		sys.Prefetch(h.Base + sys.Addr(offset)) // it will be scanned soon
	}
	to := m.ringTo
	if to-m.ringFrom == ringSlots {
		oldest := m.ring[to&(ringSlots-1)]
		m.ring[to&(ringSlots-1)] = offset
		m.ringFrom++
		m.ringTo = to + 1
		h.found(m, oldest)
		return
	}
	m.ring[to&(ringSlots-1)] = offset
	m.ringTo = to + 1
}

// emptyRing looks at all addresses that wait.
func (h *Heap) emptyRing(m *marker) {
	for m.ringFrom != m.ringTo {
		offset := m.ring[m.ringFrom&(ringSlots-1)]
		m.ringFrom++
		h.found(m, offset)
	}
}

// found marks the object at an offset below m.highest, if there is one that such an address keeps alive.
func (h *Heap) found(m *marker, offset uintptr) {
	first := *h.indexEntry(blockRef(offset >> blockShift))
	if first == 0 {
		return
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
			return
		}
		granule = index * uintptr(hd.granules)
		if m.interior == 0 && inner != granule<<granuleShift && !h.isDisplaced(inner-granule<<granuleShift) {
			return
		}
	} else if !h.keepsLarge(first, hd, offset, m.interior != 0) {
		return
	}
	h.shade(m, first, hd, granule)
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
		h.shadeShared(m, first, hd, granule)
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

// shadeShared is shade while other workers write the same words.
func (h *Heap) shadeShared(m *marker, first blockRef, hd *header, granule uintptr) {
	bit := uint64(1) << (granule & 63)
	if hd.flags&flagPointerFree != 0 {
		orShared(&hd.marks[granule>>6&3], bit)
		return
	}
	// The grey bit comes first, then the look at the queue: a worker that gives the block up does it in the other
	// order (leaveBlock), so that one of the two sees it.
	if orShared(&hd.grey[granule>>6&3], bit) && atomic.LoadUint32(hd.link()) == 0 &&
		atomic.CompareAndSwapUint32(hd.link(), 0, uint32(endOfQueue)) {
		h.enqueue(&m.own, first, first, 1)
	}
}

// orShared sets a bit and reports whether it was not set before.
func orShared(word *uint64, bit uint64) bool {
	for {
		old := atomic.LoadUint64(word)
		if old&bit != 0 {
			return false
		}
		if atomic.CompareAndSwapUint64(word, old, old|bit) {
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
