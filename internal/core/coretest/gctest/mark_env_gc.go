//go:build gc

package gctest

import (
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// useProcedures makes procedure procedureUse look at the words of its object whose bits are set in its environment.
func useProcedures(*gc.Heap) {
	gc.Procedure = func(h *gc.Heap, number uint32, object, marker sys.Addr, environment uintptr) {
		for word := uintptr(0); number == procedureUse && environment>>word != 0; word++ {
			if environment>>word&1 != 0 {
				h.MarkFromProcedure(marker, (object + sys.Addr(word*sys.WordBytes)).Word())
			}
		}
	}
}

// differences runs f and returns the objects on which the two markers differed meanwhile.
func differences(f func()) []sys.Addr {
	var found []sys.Addr
	gc.DifferenceHandler = func(object sys.Addr, bytes uintptr, what uint32) { found = append(found, object) }
	f()
	gc.DifferenceHandler = nil
	return found
}

// Only the gccgo build can make the system refuse memory: see mark_env_gccgo.go.
var markFaultTests []Test
