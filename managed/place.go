package managed

import (
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// place is the memory that a Heap is made of. Its addresses are never given back, so that a stale pointer into a
// closed heap cannot meet memory of Go's.
type place struct {
	core  *core.Heap
	slots unsafe.Pointer
}

// takePlace makes a place whose core is ready.
func takePlace(o *options) (place, error) {
	structBytes := sys.AlignUp(unsafe.Sizeof(core.Heap{}), sys.PageBytes())
	start := memory(structBytes + slotCount*slotBytes)
	if start == 0 {
		return place{}, ErrNoMemory
	}
	p := place{core: (*core.Heap)(start.Pointer()), slots: (start + sys.Addr(structBytes)).Pointer()}
	mode := uint32(0)
	if o.interior {
		mode |= core.ModeInterior
	}
	if o.verify != nil {
		mode |= core.ModeVerify
	}
	if !p.core.Init(o.rangeBytes, mode, o.limit) {
		sys.Release(start, structBytes+slotCount*slotBytes) // nobody has seen an address of it
		return place{}, ErrNoMemory
	}
	return p, nil
}

// memory takes zeroed memory outside of the Go heap, or returns 0.
func memory(bytes uintptr) sys.Addr {
	bytes = sys.AlignUp(bytes, sys.PageBytes())
	start := sys.Reserve(bytes)
	if start != 0 && !sys.Commit(start, bytes) {
		sys.Release(start, bytes)
		return 0
	}
	return start
}
