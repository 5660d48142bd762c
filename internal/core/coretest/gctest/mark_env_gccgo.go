//go:build gccgo

package gctest

import (
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

//extern granary_test_procedure_heap
func cProcedureHeap(h *gc.Heap)

//extern granary_test_expect_differences
func cExpectDifferences(expect bool)

//extern granary_test_difference
func cDifference() uintptr

// useProcedures makes procedure procedureUse look at the words of its object whose bits are set in its environment.
func useProcedures(h *gc.Heap) { cProcedureHeap(h) }

// differences runs f and returns the objects on which the two markers differed meanwhile, the first one at most.
func differences(f func()) []sys.Addr {
	var found []sys.Addr
	cExpectDifferences(true)
	f()
	if object := cDifference(); object != 0 {
		found = append(found, sys.Addr(object))
	}
	cExpectDifferences(false)
	return found
}
