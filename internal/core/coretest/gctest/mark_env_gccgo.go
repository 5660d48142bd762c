//go:build gccgo

package gctest

import (
	"granary/internal/core/coretest/kit"
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

// markFaultTests are about collections while the system gives no memory.
var markFaultTests = []Test{
	{Name: "without memory the reference marker finds no difference, and marking goes on", Run: testMarkWithoutMemory},
}

func testMarkWithoutMemory(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify|gc.ModeInterior)
	random := newRandom(31)
	refusals := 0
	for _, call := range []int{callReserve, callCommit} {
		for after := 0; after < 12; after++ {
			r.graph(random, 3000)
			failCalls(call, after, always)
			r.collect(after % 2)
			refusals += failedCalls(call)
			failCalls(call, 0, 0)
			r.compare("without memory", true)
		}
	}
	if refusals < 8 {
		t.Errorf("the system refused only %d times", refusals)
	}
	r.check("with memory again", 0)
	r.close()
}
