package object

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// Delete ends an object: every reference to it is Null from now on. It returns false, and does nothing, if the object
// is not alive.
func (w *World) Delete(ref Ref) bool {
	index := ref.index()
	if uintptr(index) > w.mask() || !ref.isLife() {
		return false
	}
	t := w.typeAt(w.entryOf(index).of)
	if t == nil {
		return false
	}
	n := w.node(index)
	if t.flags&FlagSingleOwner == 0 && !sys.TryLock(&t.lock) {
		t.lockSlow()
	}
	ended := ref.generation() + 1
	if n.generation != ended-1 {
		t.leave()
		return false
	}
	n.generation = ended // even: whoever gets here deletes, and nobody else
	t.deleted++
	if n.count != 1 || t.care != 0 || ended == 0 {
		w.deleteSlow(t, ref, n)
		return true
	}
	// Nothing to let go of, and only the list holds it.
	n.count = 0
	w.unlinkLocked(t, n)
	w.pushFree(t, index, n)
	t.leave()
	return true
}

// deleteSlow goes on after the generation has changed. It gives the type's lock up.
//
//go:noinline
func (w *World) deleteSlow(t *Type, ref Ref, n *node) {
	index := ref.index()
	t.tombstones++
	if t.care >= careRun {
		holdInRuns(t, index, n)
	}
	if t.care&careFields != 0 || w.hasHandle(index) {
		t.leave() // the list still holds the node: it stays where it is
		w.empty(t, index)
		t.enter()
	}
	// Without misuse the list still holds it. Variables that were copied and let go twice may have taken its count.
	if n.count != 0 && n.generation == ref.generation()+1 {
		w.dropLocked(t, index, n)
	}
	t.leave()
}

// empty lets go of all that an object holds: fields first, then its handle. No lock is held, as other types' are taken.
//
//go:noinline
func (w *World) empty(t *Type, index uint32) {
	if fields := w.fields(t, index); fields != 0 {
		w.release(t.layout, 0, t.layoutCount, fields)
		if t.flags&FlagDiagnose != 0 {
			poison(fields, t.bytes, t.layout, t.layoutCount)
			w.site(index).deleted = stackHere()
		}
	}
	if w.hasHandle(index) {
		w.eraseHandle(index)
	}
}

// dropLocked takes one from the count of a node that is in the list. One that was deleted is freed with the last.
func (w *World) dropLocked(t *Type, index uint32, n *node) {
	if n.count == countMost {
		return
	}
	n.count--
	if n.count == 0 {
		w.unlinkLocked(t, n)
		t.tombstones--
		if n.generation == 0 { // all generations are used up
			n.next, n.prev = 0, 0
			t.retired++
			return
		}
		w.pushFree(t, index, n)
	}
}

// Retain counts a variable that refers to an object from now on, which may be deleted as long as it is held. It returns
// false, and does nothing, if the object has no place in its list any more.
func (w *World) Retain(ref Ref) bool {
	t := w.TypeOf(ref)
	if t == nil {
		return false
	}
	t.enter()
	n := w.placeLocked(ref)
	if n != nil && n.count != countMost {
		n.count++
	}
	t.leave()
	return n != nil
}

// Release undoes one Retain. One that was not counted does no harm: the count of an object that is alive does not go
// below that of its list, and one that was freed is known by its generation.
func (w *World) Release(ref Ref) {
	t := w.TypeOf(ref)
	if t == nil {
		return
	}
	t.enter()
	w.releaseLocked(t, ref)
	t.leave()
}

func (w *World) releaseLocked(t *Type, ref Ref) {
	if n := w.placeLocked(ref); n != nil && (n.count > 1 || !n.isAlive()) {
		w.dropLocked(t, ref.index(), n)
	}
}

// DeleteAll deletes every object of a type, in the order of the list, and returns how many that were. An object that it
// stands at is pinned, so whatever goes on beside it the walk does not lose its place.
func (w *World) DeleteAll(t *Type) uint64 {
	deleted := uint64(0)
	for ref := w.Step(t, 0); ref != 0; ref = w.Step(t, ref) {
		if w.Delete(ref) {
			deleted++
		}
	}
	return deleted
}

// Trim gives the memory of chunks back in which nothing is alive or held, and returns how many bytes that were. The
// slots stay, and get memory again when their turn comes. Beside others who make objects it may leave some for the next
// time.
func (w *World) Trim(t *Type) uint64 {
	total := uint64(0)
	t.enter()
	chunk := t.newestChunk
	t.leave()
	for ; chunk != 0; chunk = w.entry(chunk).older {
		e := w.entry(chunk)
		t.enter()
		fields := e.fields
		if fields != 0 && w.isUnused(t, chunk) {
			atomic.StoreUintptr((*uintptr)(&e.fields), 0)
		} else {
			fields = 0
		}
		t.leave()
		if fields != 0 {
			free(fields)
			total += uint64(uintptr(t.slots) * t.stride)
		}
	}
	return total
}

// isUnused reports whether every slot of a chunk is free or retired. While New clears one, which does not show it, no
// chunk of the type is.
func (w *World) isUnused(t *Type, chunk uint32) bool {
	if t.clearing != 0 {
		return false
	}
	start := chunk << chunkShift
	for index := start; index < start+t.slots; index++ {
		if n := w.node(index); n.count != 0 || n.isAlive() || index >= t.freshNext && index < t.freshEnd {
			return false
		}
	}
	return true
}
