package object

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// A handle is a number that stands for an object: given when it is first asked for, counted from 1 over all types, and
// never given again. The table has those of objects alive: open addressing, so an entry lies at the place of its number
// or behind it, with no free place between.
//
//	number   meaning
//	0        the place is free
type handleEntry struct {
	number uint64
	ref    Ref
}

const (
	handleEntryBytes = 16
	handleRoomLeast  = 256
)

func (w *World) handleAt(place uintptr) *handleEntry {
	return (*handleEntry)((w.handleTable + sys.Addr(place*handleEntryBytes)).Pointer())
}

// handleHome is the place where a number belongs: numbers in a row, which is how they are given, lie side by side.
func (w *World) handleHome(number uint64) uintptr { return uintptr(number) & (w.handleRoom - 1) }

// handleOf is where the handle of a slot's object is kept. The chunk has a side.
func (w *World) handleOf(index uint32) *uint64 {
	side := sys.Addr(atomic.LoadUintptr((*uintptr)(&w.entryOf(index).side)))
	return (*uint64)((side + sys.Addr(slotOf(index)*handleBytes)).Pointer())
}

func (w *World) hasHandle(index uint32) bool {
	return w.entryOf(index).side != 0 && *w.handleOf(index) != 0
}

func (w *World) lockHandles() {
	if !sys.Lock(&w.handleLock) {
		reentered()
	}
}

// Handle returns the handle of an object. It is 0 for one that is not alive, and if there is no memory.
func (w *World) Handle(ref Ref) uint64 {
	t := w.TypeOf(ref)
	if t == nil || !w.giveSide(ref.index()) || !w.giveRoom() {
		return 0
	}
	for {
		t.enter()
		if !w.IsAlive(ref) {
			t.leave()
			return 0
		}
		w.lockHandles()
		kept := w.handleOf(ref.index())
		if *kept == 0 && w.hasRoom() {
			t.care |= careHandles
			w.lastHandle++
			w.insertHandle(w.lastHandle, ref)
			*kept = w.lastHandle
		}
		number := *kept
		sys.Unlock(&w.handleLock)
		t.leave()
		if number != 0 {
			return number
		}
		if !w.giveRoom() { // others took what there was
			return 0
		}
	}
}

// FromHandle returns the object of a type that has this handle; 0 if the number is unknown, or the handle of a deleted
// object or of one of another type.
func (w *World) FromHandle(t *Type, number uint64) Ref {
	if number == 0 {
		return 0
	}
	ref := Ref(0)
	w.lockHandles()
	if w.handleRoom != 0 {
		for place := w.handleHome(number); ; place = (place + 1) & (w.handleRoom - 1) {
			e := w.handleAt(place)
			if e.number == number {
				ref = e.ref
			}
			if e.number == number || e.number == 0 {
				break
			}
		}
	}
	sys.Unlock(&w.handleLock)
	if ref == 0 || w.TypeOf(ref) != t || !w.IsAlive(ref) {
		return 0
	}
	return ref
}

// giveSide makes sure that a chunk has a side.
func (w *World) giveSide(index uint32) bool {
	side := (*uintptr)(&w.entryOf(index).side)
	if atomic.LoadUintptr(side) != 0 {
		return true
	}
	memory := allocate(sideHandleBytes)
	if memory == 0 {
		return false
	}
	if !atomic.CompareAndSwapUintptr(side, 0, uintptr(memory)) {
		free(memory)
	}
	return true
}

// hasRoom reports whether another handle fits: at least a quarter of the places stay free.
func (w *World) hasRoom() bool { return w.handleCount < w.handleRoom-w.handleRoom>>2 }

// giveRoom makes the table larger if it is full, or returns false. No lock is held.
func (w *World) giveRoom() bool {
	w.lockHandles()
	room, old := w.handleRoom, sys.Addr(0)
	full := !w.hasRoom()
	sys.Unlock(&w.handleLock)
	if !full {
		return true
	}
	larger := room * 2
	if larger < handleRoomLeast {
		larger = handleRoomLeast
	}
	table := allocate(larger * handleEntryBytes)
	if table == 0 {
		return false
	}
	w.lockHandles()
	if w.handleRoom == room {
		old = w.handleTable
		w.handleTable, w.handleRoom, w.handleCount = table, larger, 0
		for place := uintptr(0); place < room; place++ {
			if e := (*handleEntry)((old + sys.Addr(place*handleEntryBytes)).Pointer()); e.number != 0 {
				w.insertHandle(e.number, e.ref)
			}
		}
	} else { // somebody else did
		old = table
	}
	sys.Unlock(&w.handleLock)
	freeIfAny(old)
	return true
}

// insertHandle puts an entry into the table, which has room. handleLock is held.
func (w *World) insertHandle(number uint64, ref Ref) {
	place := w.handleHome(number)
	for w.handleAt(place).number != 0 {
		place = (place + 1) & (w.handleRoom - 1)
	}
	*w.handleAt(place) = handleEntry{number, ref}
	w.handleCount++
}

// eraseHandle takes the handle of a slot's object out of the table. Entries behind it move up if they belong there.
func (w *World) eraseHandle(index uint32) {
	w.lockHandles()
	kept := w.handleOf(index)
	mask := w.handleRoom - 1
	hole := w.handleHome(*kept)
	for w.handleAt(hole).number != *kept {
		hole = (hole + 1) & mask
	}
	*kept = 0
	for place := (hole + 1) & mask; w.handleAt(place).number != 0; place = (place + 1) & mask {
		// An entry may move to the hole if the hole is not before its home.
		if home := w.handleHome(w.handleAt(place).number); (place-home)&mask >= (place-hole)&mask {
			*w.handleAt(hole) = *w.handleAt(place)
			hole = place
		}
	}
	*w.handleAt(hole) = handleEntry{}
	w.handleCount--
	sys.Unlock(&w.handleLock)
}
