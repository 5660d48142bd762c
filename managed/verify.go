package managed

import (
	"sync"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// This file: WithVerify. The core's reference marker goes from the roots that a collection was given, over the objects
// as they are at its end. verifyRoots looks at the roots as they are at the end, and gives them to it as well. So of
// what is reachable then nothing is missed, wherever it was put without Set meanwhile.

// differences are what the core's two markers found, by heap: it tells while the heap is held.
var differences struct {
	sync.Mutex
	found map[*core.Heap]*VerifyError
}

var tellOfDifferences = sync.OnceFunc(func() {
	core.DifferenceHandler = func(object sys.Addr, bytes uintptr, what uint32) {
		h := find(uintptr(object))
		if h == nil {
			return
		}
		differences.Lock()
		defer differences.Unlock()
		if differences.found == nil {
			differences.found = map[*core.Heap]*VerifyError{}
		}
		differences.found[h.core] = &VerifyError{
			Heap: h.Name(), Lost: what == core.DifferenceLost, Incremental: h.cycle.sliced,
			Addr: uintptr(object), Size: int(bytes), Type: h.typeName(object),
		}
	}
})

// verifyRoots checks that what the roots name is marked, when nothing is left to be marked, and marks it.
func (h *Heap) verifyRoots() {
	if !h.cycle.sliced {
		return
	}
	h.cycle.lost = h.lostRoot()
	h.markRoots()
	h.drain(0)
}

// takeDifferences keeps what was found wrong until no lock is held, so that the program may be told.
func (h *Heap) takeDifferences() {
	if h.options.verify == nil {
		return
	}
	differences.Lock()
	found := differences.found[h.core]
	delete(differences.found, h.core)
	differences.Unlock()
	if lost := h.cycle.lost; lost != 0 {
		found = &VerifyError{
			Heap: h.Name(), Lost: true, Incremental: true,
			Addr: uintptr(lost), Size: int(h.core.SizeOf(lost)), Type: h.typeName(lost),
		}
	}
	if found != nil {
		h.pausesMu.Lock()
		h.wrong = append(h.wrong, found)
		h.pausesMu.Unlock()
	}
}
