package managed

import (
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/gc"
)

// slot is where a P keeps a cache for the next mutator that runs on it. A mutator takes it with its first allocation
// and gives it back when it stops running, to the P that it is on by then. Slots lie outside of the Go heap, one for
// each P that a program can reasonably have.
//
//	a cache is in   it belongs to
//	a slot          whoever exchanges it for 0
//	Mutator.cache   the mutator, until it leaves
//	Heap.spare      whoever holds spareMu
//
// No collection takes a cache away: the collector empties all of them while the mutators stand.
type slot struct {
	cache core.Cache
	_     [slotBytes - 8]byte
}

const (
	slotBytes = 128 // two cache lines, which processors like to fetch together
	slotCount = 1024

	// cachesMost bounds the caches of mutators that run at the same time; more of them allocate more slowly.
	cachesMost = 4096
)

func (h *Heap) slot(index uintptr) *slot { return (*slot)(unsafe.Add(h.slots, index*slotBytes)) }

func (s *slot) word() *uintptr { return (*uintptr)(&s.cache) }

// takeCache makes a cache the caller's alone. It may be 0, with which everything works, one object at a time.
func (h *Heap) takeCache() core.Cache {
	if c := h.swapSlot(0); c != 0 {
		return c
	}
	h.spareMu.Lock()
	defer h.spareMu.Unlock()
	if last := len(h.spare) - 1; last >= 0 {
		c := h.spare[last]
		h.spare = h.spare[:last]
		return c
	}
	if h.caches >= cachesMost {
		return 0
	}
	c := h.core.NewCache()
	if c != 0 {
		h.caches++
	}
	return c
}

// putCache gives it to the P that the goroutine runs on.
func (h *Heap) putCache(c core.Cache) {
	if c == 0 {
		return
	}
	if was := h.swapSlot(c); was != 0 {
		h.spareCache(was)
	}
}

// spareCache keeps a cache for which no P has a use now.
func (h *Heap) spareCache(c core.Cache) {
	h.spareMu.Lock()
	h.spare = append(h.spare, c)
	h.spareMu.Unlock()
}

// dropSpares gives caches back that no P wanted since the last call: those of Ps that went away.
func (h *Heap) dropSpares() {
	h.spareMu.Lock()
	drop := h.spare
	if len(drop) < 2 {
		drop = nil
	} else {
		drop, h.spare = drop[1:], drop[:1:1]
		h.caches -= len(drop)
	}
	h.spareMu.Unlock()
	for _, c := range drop {
		h.core.DropCache(c)
	}
}

// swap exchanges what is in a slot.
func (s *slot) swap(c core.Cache) core.Cache {
	return core.Cache(atomic.SwapUintptr(s.word(), uintptr(c)))
}
