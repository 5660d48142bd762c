package object

import (
	"sync/atomic"
)

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

// BatchMost is how many objects Fill counts at once.
const BatchMost = 32

// Batch is the state of an iteration that takes the type's lock once for many objects.
//
//	refs[at-1]                   what the iteration stands at
//	refs[0] ... refs[count-1]    counted once more each
type Batch struct {
	refs  [BatchMost]Ref
	at    uint32
	count uint32
	moves uint32 // the type's when the batch was filled
}

// Fill lets go of a batch and counts the objects that come after the one where the iteration stands. It returns false
// at the end. The order of the list is that of the time of the call:
//
//	for w.Fill(t, b) {
//		for b.HasMore(t) {
//			if ref := b.Next(); w.IsAlive(ref) { ... }
//		}
//	}
//
// Objects that were deleted between are given back with the next call.
func (w *World) Fill(t *Type, b *Batch) bool {
	t.enter()
	index := t.first
	if b.at != 0 {
		n := w.placeLocked(b.refs[(b.at-1)&(BatchMost-1)])
		if n == nil { // somebody let go of what he did not hold
			index = 0
		} else {
			index = n.next
		}
	}
	var next Batch
	for index != 0 && next.count < BatchMost {
		n := w.node(index)
		if n.isAlive() {
			next.refs[next.count&(BatchMost-1)] = makeRef(index, n.generation)
			next.count++
			if n.count != countMost {
				n.count++
			}
		}
		index = n.next
	}
	w.releaseBatchLocked(t, b)
	next.moves = t.moves
	*b = next
	t.leave()
	return b.count != 0
}

// HasMore reports whether Next may be called: there is another object, and none got another place meanwhile.
func (b *Batch) HasMore(t *Type) bool {
	return b.at < b.count && b.moves == atomic.LoadUint32(&t.moves)
}

// Next goes on to the next object of the batch.
func (b *Batch) Next() Ref {
	ref := b.refs[b.at&(BatchMost-1)]
	b.at++
	return ref
}

func (w *World) releaseBatchLocked(t *Type, b *Batch) {
	for i := uint32(0); i < b.count; i++ {
		ref := b.refs[i&(BatchMost-1)]
		if n := w.node(ref.index()); n.generation == ref.generation() && n.count > 1 && n.count != countMost {
			n.count--
		} else {
			w.releaseLocked(t, ref)
		}
	}
}

// LeaveBatch lets go of what a batch holds. An iteration that came to its end needs no such call.
func (w *World) LeaveBatch(t *Type, b *Batch) {
	if b.count == 0 {
		return
	}
	t.enter()
	w.releaseBatchLocked(t, b)
	b.at, b.count = 0, 0
	t.leave()
}

// StepOwned is Step for a type with a single owner in the usual case: the object where the iteration stands is alive or
// held, and so is its neighbour. It returns 0 otherwise, and nothing has changed.
func (w *World) StepOwned(current Ref) Ref {
	n := w.node(current.index())
	next := n.next
	to := w.node(next)
	if n.count < 2 || next == 0 || !to.isAlive() || n.generation != current.generation() {
		return 0
	}
	n.count--
	to.count++
	return makeRef(next, to.generation)
}
