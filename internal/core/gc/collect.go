package gc

import (
	"math/bits"
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: one collection, as its driver sees it. The driver is one thread; it has called Hold in all of these
// functions, and the world stands; in StartSweep (sort.go) it may run again. Between two calls of Drain the world may
// run, after Unhold.
//
//	BeginCycle, roots, Drain (until it returns true), FinishMarking, StartSweep
//
// and then, with the world at work, Sort.

// BeginCycle begins a collection. A full one forgets what is marked: the marks of a block are cleared when it is first
// met. One that is not full looks only for objects made since the last one: its driver has the written blocks scanned
// again (RescanBlock) and gives the roots as ever.
func (h *Heap) BeginCycle(full bool) {
	w := &h.marking
	h.sortAll()
	w.epoch++
	w.sliced = 0
	w.partial = 1
	if full {
		w.partial = 0
		w.full++
	}
	h.pace.roots = 0
	h.dropRecorded()
	h.settleChains()
	h.setUp(h.marker(0), 0)
	atomic.StoreUint32(&w.active, 1)
}

// MarkRange takes the words from lo up to hi as roots. Those that are addresses in an object, wherever in it, keep the
// object alive.
func (h *Heap) MarkRange(lo, hi sys.Addr) {
	m := h.marker(0)
	h.setUp(m, 0)
	if h.marking.sliced == 0 && lo < hi {
		h.pace.roots += uintptr(hi - lo)
	}
	for at := sys.Addr(sys.AlignUp(uintptr(lo), sys.WordBytes)); at+sys.WordBytes <= hi; at += sys.WordBytes {
		h.rootWord(m, at.Word())
	}
}

// MarkAddress takes one word as a root.
func (h *Heap) MarkAddress(word uintptr) {
	m := h.marker(0)
	h.setUp(m, 0)
	h.rootWord(m, word)
}

// MarkUncollectable takes all uncollectable objects in use as roots, and what finalizers need.
func (h *Heap) MarkUncollectable() {
	h.markFinalRoots()
	m := h.marker(0)
	h.setUp(m, 0)
	limit := h.blockLimit()
	for word := firstBlock >> 6; word<<6 < limit; word++ {
		for set := *h.rootedWord(word << 6); set != 0; set &= set - 1 {
			block := word<<6 | blockRef(bits.TrailingZeros64(set))
			hd := h.header(block)
			if hd.flags&flagUncollectable == 0 || hd.state != stateSmall && hd.state != stateLarge {
				*h.rootedWord(block) &^= 1 << (block & 63)
				continue
			}
			h.freshen(hd)
			h.greyMarked(m, block, hd)
			h.recordMarked(block, hd)
		}
	}
}

// rootedWord is where the bit of a block lies that says whether uncollectable objects begin in it.
func (h *Heap) rootedWord(block blockRef) *uint64 {
	return (*uint64)((h.rooted + sys.Addr(block>>6)*8).Pointer())
}

// noteRooted sets it. MarkUncollectable clears it when they do not any more.
func (h *Heap) noteRooted(block blockRef) { *h.rootedWord(block) |= 1 << (block & 63) }

// recordMarked notes all marked objects of a block as roots, for the reference marker.
func (h *Heap) recordMarked(block blockRef, hd *header) {
	if h.mode&ModeVerify == 0 {
		return
	}
	for word := uintptr(0); word < 4; word++ {
		for set := hd.marks[word&3]; set != 0; set &= set - 1 {
			h.recordRoot(h.startOf(place{block, word<<6 | uintptr(bits.TrailingZeros64(set))}), rootObject)
		}
	}
}

// Drain marks what can be reached of what is grey. It returns false if that was not done at the time deadline (as
// sys.Now counts; 0: no deadline): the world may run then, and Drain is called again later.
func (h *Heap) Drain(deadline uint64) bool {
	done := false
	if h.marking.helpers != 0 {
		done = h.drainShared(deadline)
	} else {
		m := h.marker(0)
		h.setUp(m, 0)
		m.forget()
		if h.marking.queue.head != 0 { // of a slice with helpers
			h.moveAll(&m.own, &h.marking.queue)
		}
		done = h.drainOwn(m, deadline)
	}
	if !done {
		h.marking.sliced = 1
	}
	return done
}

const blocksPerClock = 16 // blocks that are scanned between two looks at the clock; a piece of a large object is eight

// drainOwn scans what a worker has in its queue and finds there. It returns false if time is up, or the driver has
// told all to stop.
func (h *Heap) drainOwn(m *marker, deadline uint64) bool {
	w := &h.marking
	for blocks := uint32(0); ; {
		switch {
		case m.own.head != 0:
			if h.scanBlock(m, h.dequeue(m)) {
				blocks |= shareEvery - 1
			}
		case m.assists != 0:
			h.assist(m)
			blocks |= shareEvery - 1
		case m.ringFrom == m.ringTo && m.shaded == 0:
			return true
		default:
			h.emptyRing(m)
			continue
		}
		blocks++
		if m.shared != 0 && blocks%shareEvery == 0 {
			if atomic.LoadUint32(&w.stop) != 0 {
				return false
			}
			if atomic.LoadUint32(&w.idle) != 0 {
				h.share(m)
			}
		}
		if deadline != 0 && blocks%blocksPerClock == 0 && sys.Now() >= deadline {
			return false
		}
	}
}

// FinishMarking ends marking after Drain has returned true: weak links and finalizers are seen to, and what they keep
// alive is marked.
func (h *Heap) FinishMarking() {
	w := &h.marking
	h.drainAll()
	h.finishFinalization()
	h.StartHelpers(0)
	if h.mode&ModeVerify != 0 && w.partial == 0 {
		h.verify()
	}
	atomic.StoreUint32(&w.active, 0)
}

// keep marks an object that finalization keeps alive; drainAll marks what it leads to.
func (h *Heap) keep(object sys.Addr) { h.MarkAddress(uintptr(object)) }

// keepContents marks what an object holds, but not the object.
func (h *Heap) keepContents(object sys.Addr) {
	p, ok := h.locate(uintptr(object - h.Base))
	if !ok {
		return
	}
	hd := h.header(p.block)
	if hd.flags&flagPointerFree != 0 {
		return
	}
	start := h.startOf(p)
	h.recordRoot(start, rootContentsOnly)
	m := h.marker(0)
	h.setUp(m, 0)
	h.scanDescriptor(m, hd, start, hd.descriptor)
}

// drainAll marks all that can be reached of what is grey.
func (h *Heap) drainAll() { h.Drain(0) }
