package gc

import "granary/internal/core/sys"

// This file: toggles, references that the program switches between strong and weak before each collection, as it finds
// out whether somebody outside still needs the object (bdwgc's toggle-refs; bridges to reference-counted worlds).
//
// An entry is the object's address, and 1 if the reference is strong.

const toggleShift = 4

// What a toggle is set to.
const (
	ToggleDrop   = iota // it is removed; nothing keeps the object for its sake
	ToggleStrong        // it keeps the object alive
	ToggleWeak          // it does not, and is removed when the object dies
	toggleStates
)

// SetToggle makes or changes the toggle of an object. It returns false if obj is not the start of an object, the state
// is none of the three, or there is no memory.
func (h *Heap) SetToggle(obj sys.Addr, state int) bool {
	if obj == 0 || uint(state) >= toggleStates || h.BaseOf(obj) != obj || !sys.Lock(&h.lock) {
		return false
	}
	toggles, done := &h.final.toggles, true
	e := toggles.find(uintptr(obj))
	if state == ToggleDrop {
		if e != 0 {
			toggles.remove(e)
		}
	} else {
		if e == 0 {
			e = h.insertEntry(toggles, toggleShift, uintptr(obj))
		}
		if done = e != 0; done {
			(e + sys.WordBytes).SetWord(uintptr(state))
		}
	}
	sys.Unlock(&h.lock)
	return done
}

// NextToggle is the object of the next toggle from cursor on, which starts at 0, and where to go on: there, or, if the
// toggle was dropped, at one less. 0 is the end. A toggle can be met twice if others were dropped meanwhile.
func (h *Heap) NextToggle(cursor uintptr) (obj sys.Addr, next uintptr) {
	if !sys.Lock(&h.lock) {
		return 0, cursor
	}
	toggles := &h.final.toggles
	for ; obj == 0 && cursor < toggles.slots(); cursor++ {
		obj = sys.Addr(toggles.entry(cursor).Word())
	}
	sys.Unlock(&h.lock)
	return obj, cursor
}

// markToggles marks the objects of strong toggles.
func (h *Heap) markToggles() {
	toggles := &h.final.toggles
	for slot := uintptr(0); slot < toggles.slots(); slot++ {
		e := toggles.entry(slot)
		if e.Word() != 0 && (e+sys.WordBytes).Word() == ToggleStrong {
			h.keep(sys.Addr(e.Word()))
		}
	}
	if toggles.count != 0 {
		h.drainAll()
	}
}

// clearToggles removes the toggles of objects that are not marked.
func (h *Heap) clearToggles() {
	toggles := &h.final.toggles
	for slot := uintptr(0); slot < toggles.slots(); {
		e := toggles.entry(slot)
		if e.Word() == 0 || h.fate(sys.Addr(e.Word())) == fateAlive {
			slot++
			continue
		}
		toggles.remove(e)
	}
	h.trimTable(toggles)
}
