//go:build gc

package gc

import "granary/internal/core/sys"

// fetchLeast is how many objects of its own block a marker finds before it has them fetched.
const fetchLeast = 4

// scanRanges scans the bytes between two offsets (marker.from, marker.to) of the pending objects of the marker's own
// block, and of those that it finds there meanwhile. This is the loop in which a collection spends its time, so each
// compiler has its own: this one spills what it has no registers for, so here is little to keep. One comparison tells
// an address that may be an object of the block from all other words. First in, first out: so the objects found are on
// their way into the cache, in whatever direction a structure lies in memory.
func (h *Heap) scanRanges(m *marker, block blockRef, hd *header) {
	start := uintptr(h.blockAddr(block))
	starts := h.startsOf(hd)
	head, tail, fetched := uintptr(0), m.depth, uintptr(0)
	m.depth = 0
	for head != tail {
		if head&(objectsPerFetch-1) == objectsPerFetch-1 && m.ahead < m.aheadEnd {
			sys.PrefetchBytes(m.ahead)
			m.ahead += sys.PrefetchedBytes
		}
		if tail-fetched >= fetchLeast && m.near == 0 {
			sys.PrefetchGranules(m.pendingAddr(), fetched, tail, sys.Addr(start))
			fetched = tail
		}
		object := sys.Addr(start + uintptr(m.pending[head&(granulesPerBlock-1)])<<granuleShift)
		head++
		end := object + sys.Addr(m.to)
		for at := object + sys.Addr(m.from); at < end; at += sys.WordBytes {
			word := at.Word()
			// What is not in the block, or not at a granule's start, gives a number that is too large.
			granule := (word-start)>>granuleShift | (word-start)<<(wordBits-granuleShift)
			if granule >= granulesPerBlock || starts[granule>>6]>>(granule&63)&1 == 0 {
				if word-start >= BlockBytes {
					if offset := word - m.base; offset < m.highest && m.later(offset) {
						h.turn(m)
					}
					continue
				}
				if granule = h.startInside(m, hd, word-start); granule == noGranule {
					continue
				}
			}
			marked := &hd.marks[granule>>6&3]
			if *marked>>(granule&63)&1 != 0 {
				continue
			}
			*marked |= 1 << (granule & 63)
			m.pending[tail&(granulesPerBlock-1)] = uint8(granule)
			tail++
		}
	}
}
