//go:build gccgo

package gc

import (
	"unsafe"

	"granary/internal/core/sys"
)

// scanRanges scans the bytes between two offsets (marker.from, marker.to) of the pending objects of the marker's own
// block, and of those that it finds there meanwhile. This is the loop in which a collection spends its time, so each
// compiler has its own: this one checks less where memory is read and written by address, and has a prefetch in one
// instruction. First in, first out: so the objects found are on their way into the cache, in whatever direction a
// structure lies in memory.
func (h *Heap) scanRanges(m *marker, block blockRef, hd *header) {
	base, highest := uintptr(h.Base), m.highest
	start := h.blockAddr(block)
	first, length := start+sys.Addr(m.from), sys.Addr(m.to-m.from)
	marks := addrOfHeader(hd) + marksAt
	starts := sys.Addr(uintptr(unsafe.Pointer(h.startsOf(hd))))
	pending := m.pendingAddr()
	head, tail := sys.Addr(0), sys.Addr(m.depth)
	m.depth = 0
	if m.near == 0 {
		for at := head; at < tail; at++ {
			sys.Prefetch(start + sys.Addr(byteAt(pending+at&(granulesPerBlock-1)))<<granuleShift)
		}
	}
	for head != tail {
		if head&(objectsPerFetch-1) == objectsPerFetch-1 && m.ahead < m.aheadEnd {
			sys.PrefetchBytes(m.ahead)
			m.ahead += sys.PrefetchedBytes
		}
		at := first + sys.Addr(byteAt(pending+head&(granulesPerBlock-1)))<<granuleShift
		head++
		for end := at + length; at < end; at += sys.WordBytes {
			word := at.Word()
			inner := word - uintptr(start)
			if inner >= BlockBytes {
				if offset := word - base; offset < highest {
					h.wait(m, offset)
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
				if found = h.startInside(m, hd, inner); found == noGranule || hd.isFound(found) {
					continue
				}
				marked = marks + sys.Addr(found>>6<<3)
				bit = found & 63
			}
			marked.SetWord(marked.Word() | 1<<bit)
			sys.Prefetch(start + sys.Addr(found<<granuleShift))
			setByteAt(pending+tail&(granulesPerBlock-1), uint8(found))
			tail++
		}
	}
}

// wait is later and turn out of line, so that the loop keeps its registers. Objects of an interpreter name their types,
// the same few again and again: an address that went into the ring a while ago need not go there once more.
//
//go:noinline
func (h *Heap) wait(m *marker, offset uintptr) {
	seen := &m.seen[(offset>>granuleShift^offset>>(granuleShift+6))&(seenSlots-1)]
	if *seen == offset {
		return
	}
	*seen = offset
	if m.later(offset) {
		h.turn(m)
	}
}
