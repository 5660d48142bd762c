package object

import "sync/atomic"

// Step goes on with an iteration: it lets go of the object that stands at current, unless that is 0, and returns the
// next one alive, counted once more; 0 at the end. What was deleted stays in the list while it is counted, so nothing
// that happens between two steps makes an iteration lose its place.
//
//	for ref := w.Step(t, 0); ref != 0; ref = w.Step(t, ref) { ... }
//
// Who leaves earlier calls Release with the object that he stands at.
func (w *World) Step(t *Type, current Ref) Ref {
	t.enter()
	index := t.first
	if current != 0 {
		n := w.placeLocked(current)
		if n == nil { // somebody let go of what he did not hold
			t.leave()
			return 0
		}
		index = n.next
	}
	found := w.forwardLocked(index)
	if found != 0 {
		w.pinLocked(found)
	}
	if current != 0 {
		w.releaseLocked(t, current)
	}
	t.leave()
	return found
}

func (w *World) pinLocked(ref Ref) {
	if n := w.node(ref.index()); n.count != countMost {
		n.count++
	}
}

// run is a row of slots that an iteration holds without counting each of them: objects that follow one another in the
// list as their indexes do, which is so as long as nobody moved one, and all alive when the iteration came there. One
// of them that is deleted meanwhile gets the iteration's count at that time (holdInRuns).
//
//	end = 0                  the run is not in use
//	held                     how often a slot from first up to end was deleted since: as many counts are the run's
type run struct {
	first uint32
	end   uint32
	held  uint32
}

const (
	runsMost = 8 // iterations of a type at a time; those that get no run count objects
	// runLeast is how many objects make a run: fewer are counted.
	runLeast = 4
	// runSlots is how many objects an iteration holds in a run.
	runSlots = 64
	// batchMost is how many it holds by counting.
	batchMost = 32
)

// Batch is the state of an iteration that takes the type's lock once for many objects. It has a run if place is not 0,
// else it counts objects.
//
//	first + at - 1, refs[at-1]   what the iteration stands at
type Batch struct {
	at    uint32
	count uint32 // objects of this batch
	first uint32 // of a run: the index
	place uint32 // of a run: in runs, from 1
	moves uint32 // the type's when the batch was filled
	refs  [batchMost]Ref
}

// Fill lets go of a batch and holds the objects that come after the one where the iteration stands. It returns false
// at the end. The order of the list is that of the time of the call:
//
//	for w.Fill(t, b) {
//		for b.HasMore(t) {
//			if ref := w.Next(b); ref != 0 { ... }
//		}
//	}
//
// Objects that were deleted between are given back with the next call.
func (w *World) Fill(t *Type, b *Batch) bool {
	t.enter()
	index := w.standsAtLocked(t, b)
	for index != 0 && !w.node(index).isAlive() {
		index = w.node(index).next
	}
	w.releaseBatchLocked(t, b) // not what is at index: that is alive
	b.at, b.count, b.place, b.moves = 0, 0, 0, t.moves
	if index != 0 && !w.takeRun(t, b, index) {
		w.countBatch(b, index)
	}
	t.leave()
	return b.count != 0
}

// standsAtLocked is the index after the object where an iteration stands.
func (w *World) standsAtLocked(t *Type, b *Batch) uint32 {
	if b.at == 0 {
		return t.first
	}
	if b.place != 0 {
		if n := w.node(b.first + b.at - 1); n.isAlive() || n.count != 0 {
			return n.next
		}
	} else if n := w.placeLocked(b.refs[(b.at-1)&(batchMost-1)]); n != nil {
		return n.next
	}
	return 0 // somebody let go of what he did not hold
}

// takeRun has a batch hold the run that begins with an object. It returns false if that is too short.
func (w *World) takeRun(t *Type, b *Batch, first uint32) bool {
	place := uint32(0)
	for place < runsMost && t.runs[place&(runsMost-1)].end != 0 {
		place++
	}
	if place == runsMost {
		return false
	}
	end, next := first+1, w.node(first).next
	for ; next == end && end-first < runSlots; end++ {
		n := w.node(end)
		if !n.isAlive() {
			break
		}
		next = n.next
	}
	if end-first < runLeast {
		return false
	}
	t.runs[place&(runsMost-1)] = run{first: first, end: end}
	t.care += careRun
	b.first, b.count, b.place = first, end-first, place+1
	return true
}

// countBatch counts objects from an index of the list on.
func (w *World) countBatch(b *Batch, index uint32) {
	for index != 0 && b.count < batchMost {
		n := w.node(index)
		if n.isAlive() {
			b.refs[b.count&(batchMost-1)] = makeRef(index, n.generation)
			b.count++
			if n.count != countMost {
				n.count++
			}
		}
		index = n.next
	}
}

// HasMore reports whether Next may be called: there is another object, and none got another place meanwhile.
func (b *Batch) HasMore(t *Type) bool { return b.at < b.count && b.IsInOrder(t) }

// IsInOrder reports whether no object of the type got another place since the batch was filled.
func (b *Batch) IsInOrder(t *Type) bool { return b.moves == atomic.LoadUint32(&t.moves) }

// Next goes on to the next object of the batch. It returns 0 if that was deleted meanwhile: its slot is held, so that
// no other object can have it, and who is alive there is the object.
func (w *World) Next(b *Batch) Ref {
	index := b.first + b.at
	if b.place == 0 {
		index = uint32(b.refs[b.at&(batchMost-1)])
	}
	b.at++
	return w.AliveAt(index)
}

// AliveAt is the object of a slot that a batch holds, 0 if it was deleted meanwhile.
func (w *World) AliveAt(index uint32) Ref {
	if generation := atomic.LoadUint32(&w.node(index).generation); generation&1 != 0 {
		return makeRef(index, generation)
	}
	return 0
}

// Run is what the batch holds if that is a run: the indexes from first up to end. Who goes through it by himself, as
// long as it IsInOrder, says with Passed where he stopped. It has none if both are equal.
func (b *Batch) Run() (first, end uint32) {
	if b.place == 0 {
		return 0, 0
	}
	return b.first, b.first + b.count
}

// Passed says that an index of the run is the next one.
func (b *Batch) Passed(index uint32) { b.at = index - b.first }

// holdInRuns counts an object that has just been deleted once for each run that it is part of.
func holdInRuns(t *Type, index uint32, n *node) {
	for i := range t.runs {
		r := &t.runs[i]
		if index >= r.first && index < r.end {
			r.held++
			if n.count != countMost {
				n.count++
			}
		}
	}
}

func (w *World) releaseBatchLocked(t *Type, b *Batch) {
	if b.place != 0 {
		w.releaseRunLocked(t, &t.runs[(b.place-1)&(runsMost-1)])
		return
	}
	for i := uint32(0); i < b.count; i++ {
		ref := b.refs[i&(batchMost-1)]
		if n := w.node(ref.index()); n.generation == ref.generation() && n.count > 1 && n.count != countMost {
			n.count--
		} else {
			w.releaseLocked(t, ref)
		}
	}
}

func (w *World) releaseRunLocked(t *Type, r *run) {
	for index := r.first; r.held != 0 && index != r.end; index++ {
		if n := w.node(index); !n.isAlive() && n.count != 0 {
			w.dropLocked(t, index, n)
		}
	}
	*r = run{}
	t.care -= careRun
}

// LeaveBatch lets go of what a batch holds. An iteration that came to its end needs no such call.
func (w *World) LeaveBatch(t *Type, b *Batch) {
	if b.count == 0 {
		return
	}
	t.enter()
	w.releaseBatchLocked(t, b)
	b.at, b.count, b.place = 0, 0, 0
	t.leave()
}
