package managed

import (
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/gc"
)

// slot is where a P finds its cache. Slots lie outside of the Go heap, one for each P that a program can reasonably
// have; Ps beyond do without a cache.
//
//	cache is   the cache belongs to
//	not 0      the P's goroutine while it is pinned
//	0          whoever exchanged it for 0: a mutator on its slow path
//
// No collection takes a cache away: the core empties all caches while the mutators stand at safepoints, where none is
// pinned or on a slow path.
type slot struct {
	cache core.Cache
	_     [slotBytes - 8]byte
}

const (
	slotBytes = 128 // two cache lines, which processors like to fetch together
	slotCount = 1024
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
	if h.caches >= slotCount {
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

// swapWord exchanges what is in a slot.
func (s *slot) swap(c core.Cache) core.Cache {
	return core.Cache(atomic.SwapUintptr(s.word(), uintptr(c)))
}
