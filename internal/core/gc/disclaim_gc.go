//go:build gc

package gc

import "granary/internal/core/sys"

// Disclaim, if set, is asked about each dead object of a kind with such a procedure; true keeps the object alive. It is
// called with locks held and must not call the heap.
var Disclaim func(procedure uint32, object sys.Addr) bool

func callDisclaim(procedure uint32, object sys.Addr) bool {
	return Disclaim != nil && Disclaim(procedure, object)
}
