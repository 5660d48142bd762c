//go:build gccgo

package gc

import "granary/internal/core/sys"

//extern granary_gc_call_procedure
func callProcedure(number uint32, object, marker sys.Addr, environment uintptr)

//extern granary_gc_marks_differ
func reportDifference(object sys.Addr, bytes uintptr, what uint32)

func (h *Heap) callProcedure(number uint32, object, marker sys.Addr, environment uintptr) {
	callProcedure(number, object, marker, environment)
}
