package gc

import "granary/internal/core/sys"

// This file: what a collection does about finalizers and weak links. In this order, while the world stands:
//
//	markFinalRoots      with the other roots: data of finalizers, and finalizers that are ready but have not run
//	finishFinalization  when everything reachable is marked:
//	  markToggles          strong toggles keep their objects
//	  clearLinks(short)    of objects that are not marked
//	  markReferents        what objects with finalizers reach is marked, but not they themselves
//	  queueFinalizers      objects that are not marked even so are ready; they and what they reach come back to life
//	  dropLinks(short)     that lie in dead objects
//	  clearToggles         of dead objects
//	  clearLinks(long)     of objects that are dead for good
//	  dropLinks(long)

// What became of an object that a table names.
const (
	fateGone  = iota // no object begins there any more: it was freed explicitly
	fateDead         // not marked
	fateAlive        // marked
)

func (h *Heap) fate(obj sys.Addr) int {
	switch {
	case obj == 0 || h.BaseOf(obj) != obj:
		return fateGone
	case h.IsMarked(obj):
		return fateAlive
	}
	return fateDead
}

// markFinalRoots marks what finalizers need that run some day, but for their objects.
func (h *Heap) markFinalRoots() {
	f := &h.final
	for slot := uintptr(0); slot < f.finalizers.slots(); slot++ {
		if e := f.finalizers.entry(slot); e.Word() != 0 {
			h.markFunction(e)
		}
	}
	for number := f.queue.head; number != f.queue.tail; number++ {
		e := f.queue.entry(number)
		h.MarkAddress(e.Word())
		h.markFunction(e)
	}
}

// markFunction marks the function and the data of an entry: both may be addresses of objects.
func (h *Heap) markFunction(e sys.Addr) {
	h.MarkAddress((e + sys.WordBytes).Word())
	h.MarkAddress((e + 2*sys.WordBytes).Word())
}

// finishFinalization decides about all links and finalizers.
func (h *Heap) finishFinalization() {
	f := &h.final
	h.markToggles()
	h.clearLinks(&f.short)
	h.markReferents()
	h.queueFinalizers()
	h.dropLinks(&f.short)
	h.clearToggles()
	h.clearLinks(&f.long)
	h.dropLinks(&f.long)
}

// markReferents marks what unreachable objects with finalizers reach, each according to its order.
func (h *Heap) markReferents() {
	finalizers := &h.final.finalizers
	for slot := uintptr(0); slot < finalizers.slots(); slot++ {
		e := finalizers.entry(slot)
		obj := sys.Addr(e.Word())
		if obj == 0 || h.fate(obj) != fateDead {
			continue
		}
		switch (e + 3*sys.WordBytes).Word() {
		case OrderNone:
			continue
		case OrderIgnoreSelf:
			h.keepOthers(obj)
		default:
			h.keepContents(obj)
		}
		h.drainAll()
		if h.IsMarked(obj) {
			h.final.cycles++
			h.final.cycle = obj
		}
	}
}

// keepOthers marks what an object holds, but not the object, though it may hold its own address.
func (h *Heap) keepOthers(obj sys.Addr) {
	p, ok := h.locate(uintptr(obj - h.Base))
	if !ok {
		return
	}
	hd := h.header(p.block)
	if hd.flags&flagPointerFree != 0 {
		return
	}
	h.recordRoot(obj, rootOthersOnly)
	m := h.marker(0)
	h.setUp(m, 0)
	h.freshen(hd)
	mark, bit := &hd.marks[p.granule>>6&3], uint64(1)<<(p.granule&63)
	*mark |= bit // so that its own addresses in it are found marked already
	h.scanDescriptor(m, hd, obj, hd.descriptor)
	h.emptyRing(m)
	*mark &^= bit
}

// queueFinalizers moves the finalizers of objects that are not marked into the queue, and brings the objects back.
func (h *Heap) queueFinalizers() {
	f := &h.final
	first := f.queue.tail
	for slot := uintptr(0); slot < f.finalizers.slots(); {
		e := f.finalizers.entry(slot)
		obj := sys.Addr(e.Word())
		fate := fateAlive
		if obj != 0 {
			fate = h.fate(obj)
		}
		switch {
		case fate == fateAlive:
			slot++
		case fate == fateGone:
			f.finalizers.remove(e)
		case !h.makeReady(e):
			h.revive(obj) // and found again by the next collection
			f.postponed++
			slot++
		case f.plain:
			h.SetMark(obj)
		}
	}
	if !f.plain {
		h.reviveQueued(first)
		h.returnReached(first)
	}
	h.countReady()
	h.trimTable(&f.finalizers)
	h.trimQueue()
}

// revive marks an object and what it reaches.
func (h *Heap) revive(obj sys.Addr) {
	h.keep(obj)
	h.drainAll()
}

// reviveQueued marks the objects of the entries from first on and what they reach, but for those which are to be
// finalized only if nothing reaches them.
func (h *Heap) reviveQueued(first uintptr) {
	q := &h.final.queue
	for number := first; number != q.tail; number++ {
		e := q.entry(number)
		if (e + 3*sys.WordBytes).Word() != OrderUnreachable {
			h.keep(sys.Addr(e.Word()))
		}
	}
	h.drainAll()
}

// returnReached takes the objects of OrderUnreachable which others reached out of the queue again; the other ones are
// marked now.
func (h *Heap) returnReached(first uintptr) {
	f := &h.final
	kept := first
	for number := first; number != f.queue.tail; number++ {
		e := f.queue.entry(number)
		obj := sys.Addr(e.Word())
		if (e + 3*sys.WordBytes).Word() == OrderUnreachable {
			if h.IsMarked(obj) {
				// The table had room for it a moment ago.
				sys.Copy(f.finalizers.put(uintptr(obj)), e, 1<<finalizerShift)
				f.readied--
				continue
			}
			h.revive(obj)
		}
		if kept != number {
			sys.Copy(f.queue.entry(kept), e, 1<<finalizerShift)
		}
		kept++
	}
	f.queue.tail = kept
}
