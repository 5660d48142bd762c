package managed

import (
	"slices"
	"sync"
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// place is the memory that a Heap is made of. It outlives the heap: its addresses stay reserved, so that a stale
// pointer into a closed heap cannot meet memory of Go's, and serve another heap.
type place struct {
	core       *core.Heap
	slots      unsafe.Pointer
	image      sys.Addr // see core.Heap.Restart
	rangeBytes uintptr  // as asked for
	mode       uint32
}

var places struct {
	sync.Mutex
	free []*place
}

// takePlace finds or makes a place whose core is ready.
func takePlace(o *options) (*place, error) {
	mode := uint32(0)
	if o.interior {
		mode |= core.ModeInterior
	}
	if o.verify != nil {
		mode |= core.ModeVerify
	}
	places.Lock()
	defer places.Unlock()
	for i, p := range places.free {
		if p.rangeBytes == o.rangeBytes && p.mode == mode {
			places.free = slices.Delete(places.free, i, i+1)
			if p.core.Restart(p.image, o.limit) {
				return p, nil
			}
			break // the system refused: the addresses are lost
		}
	}
	structBytes := sys.AlignUp(unsafe.Sizeof(core.Heap{}), sys.PageBytes())
	bytes := structBytes + slotCount*slotBytes + core.ImageBytes
	start := memory(bytes)
	if start == 0 {
		return nil, ErrNoMemory
	}
	slots := start + sys.Addr(structBytes)
	p := &place{
		core: (*core.Heap)(start.Pointer()), slots: slots.Pointer(), image: slots + slotCount*slotBytes,
		rangeBytes: o.rangeBytes, mode: mode,
	}
	if !p.core.Init(o.rangeBytes, mode, o.limit) {
		sys.Release(start, sys.AlignUp(bytes, sys.PageBytes())) // nobody has seen an address of it
		return nil, ErrNoMemory
	}
	p.core.SaveImage(p.image)
	return p, nil
}

// givePlace ends the core's heap: its memory goes back at once, its addresses wait for another one.
func givePlace(p *place) {
	if !p.core.Retire() || !sys.Decommit(addrOf(p.slots), slotCount*slotBytes) {
		return
	}
	places.Lock()
	places.free = append(places.free, p)
	places.Unlock()
}

// memory takes zeroed memory outside of the Go heap, or returns 0.
func memory(bytes uintptr) sys.Addr { return sys.Map(sys.AlignUp(bytes, sys.PageBytes())) }
