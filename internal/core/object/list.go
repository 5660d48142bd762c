package object

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// clearLockedMost is how many bytes are cleared with the type's lock held; more are cleared without it.
const clearLockedMost = 4096

// New makes an object: its fields are zero, it is the last of its type's list, and only the list holds it. It returns 0
// if there is no memory.
func (w *World) New(t *Type) Ref {
	if t.flags&FlagSingleOwner == 0 && !sys.TryLock(&t.lock) {
		t.lockSlow()
	}
	index := t.freeHead
	fields := w.entryOf(index).fields
	if t.freeCount <= t.quickAfter || fields == 0 {
		return w.newSlow(t)
	}
	t.freeHead = w.node(index).next
	t.freeCount--
	fields += sys.Addr(slotOf(index) * t.stride)
	end := fields + sys.Addr(t.stride)
	for ; fields+4*sys.WordBytes <= end; fields += 4 * sys.WordBytes {
		*(*[4]uint64)(fields.Pointer()) = [4]uint64{}
	}
	for ; fields < end; fields += sys.WordBytes {
		fields.SetWord(0)
	}
	generation := w.linkLast(t, index)
	t.leave()
	return makeRef(index, generation)
}

// newSlow is New for a type that is diagnosed, has slots never used, has none that may be used again, or whose objects
// are large. The lock is held, and given up.
//
//go:noinline
func (w *World) newSlow(t *Type) Ref {
	stack := uint32(0)
	if t.flags&FlagDiagnose != 0 {
		t.leave()
		stack = stackHere()
		t.enter()
	}
	index := w.takeSlot(t)
	if index == 0 {
		return 0 // and the lock was given up
	}
	generation := w.linkLast(t, index)
	if t.flags&FlagDiagnose != 0 {
		*w.site(index) = site{made: stack}
	}
	t.leave()
	return makeRef(index, generation)
}

// linkLast brings a slot to life as the last of the list, and returns its generation.
func (w *World) linkLast(t *Type, index uint32) uint32 {
	n := w.node(index)
	last := t.last
	n.generation++
	n.count, n.next, n.prev = 1, 0, last
	t.last = index
	if last != 0 {
		w.node(last).next = index
	} else {
		t.first = index
	}
	t.made++
	return n.generation
}

// takeSlot takes the slot that has been free for longest, or one of a new chunk; its fields are zero. The type's lock
// is held before and after, but given up if there is none (0).
//
//go:noinline
func (w *World) takeSlot(t *Type) uint32 {
	for {
		if index := t.freshNext; index != t.freshEnd {
			t.freshNext = index + 1
			if t.freshNext == t.freshEnd && t.stride <= clearLockedMost && t.flags&FlagDiagnose == 0 {
				t.quickAfter = t.reuseAfter
			}
			return index
		}
		index, chunk := t.freeHead, uint32(0)
		if t.freeCount > t.reuseAfter {
			if fields := w.fields(t, index); fields != 0 {
				t.freeHead = w.node(index).next
				t.freeCount--
				t.clearing++
				t.leave() // nobody else knows of the slot now
				sys.Clear(fields, t.stride)
				t.enter()
				t.clearing--
				return index
			}
			chunk = index >> chunkShift
		}
		t.leave()
		if chunk != 0 && !w.refill(t, chunk) || chunk == 0 && !w.grow(t) {
			return 0
		}
		t.enter()
	}
}

// grow adds a chunk to a type, or returns false. No lock is held.
func (w *World) grow(t *Type) bool {
	fields, side := allocate(uintptr(t.slots)*t.stride), sys.Addr(0)
	if fields == 0 {
		return false
	}
	if t.flags&FlagDiagnose != 0 {
		if side = allocate(sideBytes); side == 0 {
			free(fields)
			return false
		}
	}
	chunk := w.addChunk(t, fields, side)
	if chunk == 0 {
		free(fields)
		freeIfAny(side)
		return false
	}
	t.enter()
	// Another thread may have added one at the same time: what is left of that waits with the free slots.
	for ; t.freshNext != t.freshEnd; t.freshNext++ {
		w.pushFree(t, t.freshNext, w.node(t.freshNext))
	}
	w.entry(chunk).older, t.newestChunk = t.newestChunk, chunk
	t.chunks++
	t.freshNext = chunk << chunkShift
	t.freshEnd = t.freshNext + t.slots
	t.quickAfter = quickNever
	t.leave()
	return true
}

// refill gives a chunk memory again that Trim took from it, or returns false. No lock is held.
func (w *World) refill(t *Type, chunk uint32) bool {
	fields := allocate(uintptr(t.slots) * t.stride)
	if fields == 0 {
		return false
	}
	e := w.entry(chunk)
	t.enter()
	if e.fields == 0 {
		atomic.StoreUintptr((*uintptr)(&e.fields), uintptr(fields))
		fields = 0
	}
	t.leave()
	freeIfAny(fields)
	return true
}

func (w *World) pushFree(t *Type, index uint32, n *node) {
	n.next, n.prev = 0, 0
	if t.freeHead != 0 {
		w.node(t.freeTail).next = index
	} else {
		t.freeHead = index
	}
	t.freeTail = index
	t.freeCount++
}

// unlinkLocked takes a node out of the list.
func (w *World) unlinkLocked(t *Type, n *node) {
	if n.prev != 0 {
		w.node(n.prev).next = n.next
	} else {
		t.first = n.next
	}
	if n.next != 0 {
		w.node(n.next).prev = n.prev
	} else {
		t.last = n.prev
	}
}

// First returns the first object of the list that is alive, 0 if there is none.
func (w *World) First(t *Type) Ref {
	t.enter()
	ref := w.forwardLocked(t.first)
	t.leave()
	return ref
}

// Last returns the last object of the list that is alive, 0 if there is none.
func (w *World) Last(t *Type) Ref {
	t.enter()
	ref := w.backwardLocked(t.last)
	t.leave()
	return ref
}

// After returns the next object that is alive. It goes on from the old place of a deleted object that is still held;
// the result is 0 for one that is not, for Null, and at the end.
func (w *World) After(ref Ref) Ref {
	return w.beside(ref, true)
}

// Before is After in the other direction.
func (w *World) Before(ref Ref) Ref {
	return w.beside(ref, false)
}

func (w *World) beside(ref Ref, after bool) (found Ref) {
	t := w.TypeOf(ref)
	if t == nil {
		return 0
	}
	t.enter()
	if n := w.placeLocked(ref); n != nil {
		if after {
			found = w.forwardLocked(n.next)
		} else {
			found = w.backwardLocked(n.prev)
		}
	}
	t.leave()
	return found
}

// forwardLocked returns the first object alive from an index of the list on.
func (w *World) forwardLocked(index uint32) Ref {
	for index != 0 {
		n := w.node(index)
		if n.isAlive() {
			return makeRef(index, n.generation)
		}
		index = n.next
	}
	return 0
}

func (w *World) backwardLocked(index uint32) Ref {
	for index != 0 {
		n := w.node(index)
		if n.isAlive() {
			return makeRef(index, n.generation)
		}
		index = n.prev
	}
	return 0
}

// Move gives an object the place right after another one of its type, or right before it. Both may be deleted as long
// as they are held. It returns false, and does nothing, if one has no place in a list, or they are of two types.
func (w *World) Move(ref, beside Ref, after bool) bool {
	t := w.TypeOf(ref)
	if t == nil || t != w.TypeOf(beside) {
		return false
	}
	t.enter()
	n, by := w.placeLocked(ref), w.placeLocked(beside)
	if n == nil || by == nil {
		t.leave()
		return false
	}
	if n != by {
		w.unlinkLocked(t, n)
		index, to := ref.index(), beside.index()
		if after {
			n.prev, n.next = to, by.next
		} else {
			n.prev, n.next = by.prev, to
		}
		if n.prev != 0 {
			w.node(n.prev).next = index
		} else {
			t.first = index
		}
		if n.next != 0 {
			w.node(n.next).prev = index
		} else {
			t.last = index
		}
		atomic.StoreUint32(&t.moves, t.moves+1)
	}
	t.leave()
	return true
}
