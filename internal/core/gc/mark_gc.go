//go:build gc

package gc

import "granary/internal/core/sys"

// Procedure is called for an object whose descriptor is a procedure: its number, the object, the marker, which it
// passes on to MarkFromProcedure, and the descriptor's environment. Workers call it at the same time.
var Procedure func(h *Heap, number uint32, object, marker sys.Addr, environment uintptr)

// DifferenceHandler is told in ModeVerify of the first object on which the two markers differ.
var DifferenceHandler func(object sys.Addr, bytes uintptr, what uint32)

func (h *Heap) callProcedure(number uint32, object, marker sys.Addr, environment uintptr) {
	if Procedure != nil {
		Procedure(h, number, object, marker, environment)
	}
}

func reportDifference(object sys.Addr, bytes uintptr, what uint32) {
	if DifferenceHandler == nil {
		panic("granary: BUG: marking differs from the reference marker's, and nobody wants to know")
	}
	DifferenceHandler(object, bytes, what)
}
