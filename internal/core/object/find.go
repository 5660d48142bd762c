//go:build !race

package object

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// Find returns where the fields of an object lie whose slots are stride bytes apart; nil if it is not alive. It may be
// called by anybody at any time with any reference. The place of the fields is read first: if the generation matches
// after that, the place was right.
//
// It is written to be small enough for the ordinary compiler to make it part of its callers: the mask and the bit keep
// references that were never given to anybody inside of the table and away from slots that are not alive. The mask only
// rises, and a plain load reads it whole; find_race_gc.go has an atomic one.
func (w *World) Find(ref Ref, stride sys.Addr) unsafe.Pointer {
	i := sys.Addr(ref) & w.indexMask
	fields := atomic.LoadUintptr((*uintptr)(unsafe.Add(unsafe.Pointer(nil), w.directory+i>>chunkShift<<entryShift)))
	if *(*uint32)(unsafe.Add(unsafe.Pointer(nil), w.nodes+i<<nodeShift)) == uint32(ref>>32)|1 {
		return unsafe.Add(unsafe.Pointer(nil), sys.Addr(fields)+i%chunkSlots*stride)
	}
	return nil
}
