//go:build race

package object

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// Find is that of find.go, with a load of the mask that the race detector knows to be one.
func (w *World) Find(ref Ref, stride sys.Addr) unsafe.Pointer {
	i := sys.Addr(ref) & sys.Addr(w.mask())
	fields := atomic.LoadUintptr((*uintptr)(unsafe.Add(unsafe.Pointer(nil), w.directory+i>>chunkShift<<entryShift)))
	if *(*uint32)(unsafe.Add(unsafe.Pointer(nil), w.nodes+i<<nodeShift)) == uint32(ref>>32)|1 {
		return unsafe.Add(unsafe.Pointer(nil), sys.Addr(fields)+i%chunkSlots*stride)
	}
	return nil
}
