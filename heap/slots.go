package heap

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/heap"
)

// slot is where a P finds its cache. Slots lie outside of the Go heap, one for each P that a program can reasonably
// have; Ps beyond do without a cache.
//
//	cache is   the cache belongs to
//	not 0      the P's goroutine while it is pinned
//	0          whoever exchanged it for 0: a goroutine on its slow path, or drain after a grace period
type slot struct {
	cache core.Cache
	reach core.Reach
	distance
	traffic uint64 // of the cache, as the last tick saw it; under Heap.sweeping
	_       [slotBytes - 64]byte
}

const (
	slotBytes = 128 // two cache lines, which processors like to fetch together
	slotCount = 1024
)

var _ [slotBytes - unsafe.Sizeof(slot{})]byte

func (h *Heap) slot(index uintptr) *slot { return (*slot)(unsafe.Add(h.slots, index*slotBytes)) }

// noteSlot keeps the number of slots that were ever used, for those who look at all.
func (h *Heap) noteSlot(index uintptr) {
	for {
		used := h.slotsUsed.Load()
		if uint64(index) < used || h.slotsUsed.CompareAndSwap(used, uint64(index)+1) {
			return
		}
	}
}

// takeCache makes a cache the caller's alone. It may be the heap's noCache, with which everything works, one block at
// a time.
func (h *Heap) takeCache() core.Cache {
	if c := h.swapSlot(0); c != 0 {
		return c
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if last := len(h.spare) - 1; last >= 0 {
		c := h.spare[last]
		h.spare = h.spare[:last]
		return c
	}
	if h.caches >= 4*runtime.GOMAXPROCS(0) {
		return h.place.noCache
	}
	c := h.core.NewCache()
	if c != h.place.noCache {
		h.caches++
	}
	return c
}

// putCache gives it to the P that the goroutine runs on.
func (h *Heap) putCache(c core.Cache) {
	if c == h.place.noCache {
		return
	}
	if was := h.swapSlot(c); was != 0 {
		h.spareCache(was)
	}
}

// spareCache keeps a cache for which no P has a use now.
func (h *Heap) spareCache(c core.Cache) {
	h.mu.Lock()
	keep := len(h.spare) < runtime.GOMAXPROCS(0)
	if keep {
		h.spare = append(h.spare, c)
	} else {
		h.caches--
	}
	h.mu.Unlock()
	if !keep {
		h.core.DropCache(c)
	}
}

// drain hands the blocks in the caches of all Ps to their spans; those of Ps that went away, too. If quiet is set,
// only of caches from which nothing was taken since the last call. h.sweeping is held.
func (h *Heap) drain(quiet bool) {
	var taken []core.Cache
	for i := uintptr(0); i < uintptr(h.slotsUsed.Load()); i++ {
		s := h.slot(i)
		c := core.Cache(atomic.LoadUintptr((*uintptr)(&s.cache)))
		if c == 0 {
			continue
		}
		traffic := c.Traffic()
		active := traffic != s.traffic
		s.traffic = traffic
		if quiet && (active || c.Empty()) {
			continue
		}
		if c = core.Cache(atomic.SwapUintptr((*uintptr)(&s.cache), 0)); c != 0 {
			taken = append(taken, c)
		}
	}
	if len(taken) != 0 {
		waitForPinned()
	}
	h.mu.Lock()
	taken = append(taken, h.spare...)
	h.spare = nil
	h.mu.Unlock()
	for _, c := range taken {
		h.core.FlushCache(c)
		h.spareCache(c)
	}
}

// takeAllCaches takes the caches out of all slots, for good. Nobody is on a slow path any more, but without linkname
// goroutines may have borrowed caches, which they put back.
func (h *Heap) takeAllCaches() {
	for taken := 0; ; runtime.Gosched() {
		for i := uintptr(0); i < uintptr(h.slotsUsed.Load()); i++ {
			if atomic.SwapUintptr((*uintptr)(&h.slot(i).cache), 0) != 0 {
				taken++
			}
		}
		h.mu.Lock()
		all := taken+len(h.spare) >= h.caches
		h.mu.Unlock()
		if all {
			break
		}
	}
	waitForPinned()
}

// waitForPinned returns when every goroutine that was pinned at the call has been unpinned: one of them may have read
// a cache out of its slot before it was exchanged. A goroutine that is pinned cannot be stopped, so stopping the
// world takes just that long. runtime.Stack with no room for text does nothing else, for some ten microseconds.
func waitForPinned() { runtime.Stack(nil, true) }

// cachesHold reports whether a cache of a P or a spare one holds a block.
func (h *Heap) cachesHold() bool {
	for i := uintptr(0); i < uintptr(h.slotsUsed.Load()); i++ {
		c := core.Cache(atomic.LoadUintptr((*uintptr)(&h.slot(i).cache)))
		if c != 0 && !c.Empty() {
			return true
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.spare {
		if !c.Empty() {
			return true
		}
	}
	return false
}
