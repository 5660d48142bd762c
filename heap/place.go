package heap

import (
	"runtime"
	"sync"
	"unsafe"

	"granary/internal/core/guard"
	core "granary/internal/core/heap"
	"granary/internal/core/sys"
)

// place is the memory that a Heap is made of. It outlives the heap: its addresses stay reserved and serve another one,
// at once. The slots do not belong to it; see freeSlots.
type place struct {
	core       *core.Heap
	noCache    core.Cache
	image      sys.Addr     // of the core right after it began; see core.Heap.Restart
	huge       bool         // the range was said to have huge pages
	rangeBytes uintptr      // as asked for
	guard      *guard.Guard // of the core, once it was debugged
}

var places struct {
	sync.Mutex
	free    []*place
	slots   []unsafe.Pointer // of closed heaps that nobody can reach any more
	noCache core.Cache       // memory that stays zero, for all
}

// takePlace finds or makes a place whose core is ready.
func takePlace(o *options) (*place, error) {
	places.Lock()
	defer places.Unlock()
	mode := uint32(0)
	if o.debug {
		mode = core.ModeGuard
	}
	for i, p := range places.free {
		if p.rangeBytes != o.rangeBytes {
			continue
		}
		places.free = append(places.free[:i], places.free[i+1:]...)
		if p.core.Restart(p.image, mode, o.limit) {
			p.useHugePages(o.huge)
			return p, nil
		}
		break // the system refused to take memory back: the addresses are lost
	}
	if places.noCache == 0 {
		places.noCache = core.Cache(memory(core.NoCacheBytes))
	}
	page := sys.PageBytes()
	structBytes := sys.AlignUp(unsafe.Sizeof(core.Heap{}), page)
	start := memory(structBytes + core.ImageBytes())
	if start == 0 || places.noCache == 0 {
		return nil, ErrNoMemory
	}
	p := &place{
		core:       (*core.Heap)(start.Pointer()),
		image:      start + sys.Addr(structBytes),
		noCache:    places.noCache,
		rangeBytes: o.rangeBytes,
	}
	if !p.core.Init(o.rangeBytes, p.noCache, mode, o.limit) {
		sys.Release(start, structBytes+core.ImageBytes()) // nobody has seen an address of it
		return nil, ErrNoMemory
	}
	p.core.SaveImage(p.image)
	p.useHugePages(o.huge)
	return p, nil
}

// useHugePages tells the system what the heap wants, if that differs from what it was told last.
func (p *place) useHugePages(on bool) {
	if on != p.huge && adviseHugePages(p.core.Base, p.core.Space.Stats().Range, on) {
		p.huge = on
	}
}

// memory takes zeroed memory outside of the Go heap, or returns 0.
func memory(bytes uintptr) sys.Addr { return sys.Map(sys.AlignUp(bytes, sys.PageBytes())) }

// givePlace ends the core's heap: its memory goes back at once, its addresses wait for another one.
func givePlace(p *place) {
	if !p.core.Restart(p.image, 0, 0) {
		return
	}
	places.Lock()
	places.free = append(places.free, p)
	places.Unlock()
}

// takeSlots finds or makes the slots of a heap, all empty; nil if there is no memory.
func takeSlots() unsafe.Pointer {
	places.Lock()
	defer places.Unlock()
	for last := len(places.slots) - 1; last >= 0; last-- {
		slots := places.slots[last]
		places.slots = places.slots[:last]
		if sys.Decommit(sys.Addr(uintptr(slots)), slotCount*slotBytes) {
			return slots
		}
	}
	if start := memory(slotCount * slotBytes); start != 0 {
		return start.Pointer()
	}
	return nil
}

// freeSlots lets another heap have the slots of one that was closed, once nobody can reach that one any more. Until
// then they stay empty, and so its fast paths, which do not ask whether it is closed, never find a cache: the one in
// the same slot of another heap would give them that heap's blocks.
func (h *Heap) freeSlots() {
	sys.Decommit(sys.Addr(uintptr(h.slots)), slotCount*slotBytes)
	runtime.AddCleanup(h, giveSlots, h.slots)
}

func giveSlots(slots unsafe.Pointer) {
	places.Lock()
	defer places.Unlock()
	places.slots = append(places.slots, slots)
}
