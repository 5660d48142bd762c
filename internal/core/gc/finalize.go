package gc

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// Orders of finalization: what of an unreachable object's keeps others alive while it is decided whose finalizers run.
const (
	// OrderTopological runs the finalizer of an object before those of the objects that it reaches. Objects that reach
	// themselves are in a cycle without a first one, and are never finalized (FinalizationStats.Cycles).
	OrderTopological = iota
	// OrderIgnoreSelf is the same, but addresses of the object in the object itself do not count.
	OrderIgnoreSelf
	// OrderNone runs the finalizers of all unreachable objects, whatever reaches them.
	OrderNone
	// OrderUnreachable runs the finalizer when the object is not reachable from objects with other finalizers either,
	// whatever their order; in other respects it is OrderTopological.
	OrderUnreachable
	orderCount
)

const finalizerShift = 5

// finalization holds what is to happen when objects become unreachable.
//
//	an object with a finalizer is   its entry lies in
//	reachable, or not yet found     finalizers
//	found to be unreachable         queue, until NextReady; a root meanwhile
//
// An entry is the object's address, the function, its data, and the order. What function and data are is known to the
// driver alone; they are roots, as in bdwgc.
//
// Everything is under Heap.lock, or changed while the world stands. Equations (checkFinalization): those of the
// tables, and ready = queue.length.
type finalization struct {
	ready uint32 // finalizers that may run; atomic
	plain bool   // without Java's rules: see SetJavaFinalization

	short, long table // of weak links
	finalizers  table
	toggles     table
	queue       queue

	clearedLinks uint64
	readied      uint64
	postponed    uint64   // times that a finalizer waited for another collection, as there was no memory for the queue
	cycles       uint64   // times that an object was found to be in a cycle
	cycle        sys.Addr // the last of them
}

// FinalizationStats are figures of weak links and finalizers.
type FinalizationStats struct {
	ShortLinks, LongLinks, Finalizers, Toggles uint64 // registered
	Ready                                      uint64 // finalizers waiting to run
	ClearedLinks, Readied                      uint64 // since the start
	Postponed                                  uint64 // since the start: for want of memory
	Cycles                                     uint64 // since the start: found not to be finalizable, being in a cycle
	Cycle                                      sys.Addr
	Bytes                                      uint64 // of tables
}

// ReadFinalization reads the figures.
func (h *Heap) ReadFinalization(s *FinalizationStats) {
	if !sys.Lock(&h.lock) {
		return
	}
	f := &h.final
	s.ShortLinks, s.LongLinks = uint64(f.short.count), uint64(f.long.count)
	s.Finalizers, s.Toggles = uint64(f.finalizers.count), uint64(f.toggles.count)
	s.Ready = uint64(f.queue.length())
	s.ClearedLinks, s.Readied, s.Postponed = f.clearedLinks, f.readied, f.postponed
	s.Cycles, s.Cycle = f.cycles, f.cycle
	s.Bytes = uint64(f.short.bytes() + f.long.bytes() + f.finalizers.bytes() + f.toggles.bytes() +
		f.queue.slots<<finalizerShift)
	sys.Unlock(&h.lock)
}

// SetJavaFinalization says whether what an object with a finalizer of OrderNone reaches is kept until that has run, and
// whether OrderUnreachable differs from OrderTopological. It is on unless it is switched off.
func (h *Heap) SetJavaFinalization(on bool) { h.final.plain = !on }

// JavaFinalization is what SetJavaFinalization said.
func (h *Heap) JavaFinalization() bool { return !h.final.plain }

// RegisterFinalizer has fn and data handed out by NextReady once the object is unreachable. There is one a object: a
// second call replaces the first one's; an fn of 0 takes it back. What there was before is returned. ok is false, and
// nothing has changed, if obj is not the start of an object or there is no memory.
func (h *Heap) RegisterFinalizer(obj sys.Addr, fn, data uintptr, order uint32) (oldFn, oldData uintptr, ok bool) {
	if obj == 0 || order >= orderCount || h.BaseOf(obj) != obj || !sys.Lock(&h.lock) {
		return 0, 0, false
	}
	ok = true
	finalizers := &h.final.finalizers
	e := finalizers.find(uintptr(obj))
	if e != 0 {
		oldFn, oldData = (e + sys.WordBytes).Word(), (e + 2*sys.WordBytes).Word()
	} else if fn != 0 {
		if h.final.queue.slots != 0 || h.growQueue(&h.final.queue) {
			e = h.insertEntry(finalizers, finalizerShift, uintptr(obj))
		}
		ok = e != 0
	}
	switch {
	case e == 0:
	case fn == 0:
		finalizers.remove(e)
		h.trimTable(finalizers)
		h.trimQueue()
	default:
		(e + sys.WordBytes).SetWord(fn)
		(e + 2*sys.WordBytes).SetWord(data)
		(e + 3*sys.WordBytes).SetWord(uintptr(order))
	}
	sys.Unlock(&h.lock)
	return oldFn, oldData, ok
}

// NextReady takes the next finalizer that may run out of the queue. The driver keeps the object alive while it runs.
func (h *Heap) NextReady() (obj sys.Addr, fn, data uintptr, ok bool) {
	if h.ReadyCount() == 0 || !sys.Lock(&h.lock) {
		return 0, 0, 0, false
	}
	q := &h.final.queue
	if ok = q.length() != 0; ok {
		e := q.pop()
		obj, fn, data = sys.Addr(e.Word()), (e + sys.WordBytes).Word(), (e + 2*sys.WordBytes).Word()
		h.countReady()
		h.trimQueue()
	}
	sys.Unlock(&h.lock)
	return obj, fn, data, ok
}

// ReadyCount is the number of finalizers that may run.
func (h *Heap) ReadyCount() uint32 { return atomic.LoadUint32(&h.final.ready) }

func (h *Heap) countReady() { atomic.StoreUint32(&h.final.ready, uint32(h.final.queue.length())) }

// ReadyAll makes all finalizers ready, for programs that want them to run before they end. It returns false if there
// is no memory for the queue; the rest stays registered.
func (h *Heap) ReadyAll() bool {
	if !sys.Lock(&h.lock) {
		return false
	}
	f := &h.final
	fits := true
	for slot := uintptr(0); fits && slot < f.finalizers.slots(); {
		e := f.finalizers.entry(slot)
		if e.Word() == 0 {
			slot++
			continue
		}
		fits = h.makeReady(e)
	}
	h.countReady()
	h.trimTable(&f.finalizers)
	sys.Unlock(&h.lock)
	return fits
}

// makeReady moves an entry from the table into the queue. It returns false if the queue has no memory.
func (h *Heap) makeReady(e sys.Addr) bool {
	to := h.push(&h.final.queue)
	if to == 0 {
		return false
	}
	sys.Copy(to, e, 1<<finalizerShift)
	h.final.finalizers.remove(e)
	h.final.readied++
	return true
}

// forgetObject drops the finalizer of an object that is freed explicitly, and its toggle.
func (h *Heap) forgetObject(obj sys.Addr) {
	if h.final.finalizers.count|h.final.toggles.count == 0 || !sys.Lock(&h.lock) {
		return
	}
	if e := h.final.finalizers.find(uintptr(obj)); e != 0 {
		h.final.finalizers.remove(e)
	}
	if e := h.final.toggles.find(uintptr(obj)); e != 0 {
		h.final.toggles.remove(e)
	}
	sys.Unlock(&h.lock)
}
