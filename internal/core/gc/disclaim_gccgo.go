//go:build gccgo

package gc

import "granary/internal/core/sys"

// callDisclaim asks about a dead object of a kind with such a procedure; true keeps the object alive. It is called with
// locks held and must not call the heap.
//
//extern granary_gc_disclaim
func callDisclaim(procedure uint32, object sys.Addr) bool
