package managed

import (
	"sync/atomic"
	"time"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// pacer spreads the slices of an automatic collection over the allocations of the mutators: by the time that half of
// what was allocated between two collections has been allocated anew, the collection should be over. It begins when it
// is due and no more blocks are free than are taken until then: if none were, each collection would make the heap
// larger.
//
//	due     what is allocated until the next slice, or the next look whether to begin; below 0 it is due; any mutator
//	every   bytes between two slices; whoever holds Heap.collecting writes it
//	rate    bytes alive that were marked a nanosecond in the last collections; the same
type pacer struct {
	due   atomic.Int64
	every atomic.Int64
	rate  float64
}

const (
	leastEvery    = 64 << 10
	firstRate     = 0.5 // GB/s; the first collection tells more
	leastToFollow = 1 << 20
)

// settle learns from a collection.
func (p *pacer) settle(h *Heap, c *Collection, s *core.Stats) {
	worked := c.Pause - c.Waited
	if c.LiveBytes > leastToFollow && worked > 0 {
		p.rate = float64(c.LiveBytes) / float64(worked)
	}
	p.due.Store(max(p.plan(h, s), leastEvery))
}

// plan sets how much is allocated between two slices of the next collection, and returns what may be allocated before
// that is to begin.
func (p *pacer) plan(h *Heap, s *core.Stats) (left int64) {
	rate := p.rate
	if rate == 0 {
		rate = firstRate
	}
	slice := max(float64(h.slice.Load()), float64(time.Microsecond))
	slices := 1 + float64(s.LiveBytes)/(rate*slice)
	every := max(int64(float64(s.TargetBytes)/2/slices), leastEvery)
	p.every.Store(every)
	reserve := int64(float64(every) * slices * 9 / 8)
	return max(int64(s.TargetBytes)-int64(s.SinceBytes), int64(s.FreeBytes)-reserve)
}

// refillBytes is what the core takes for an object that no cache has, if it takes free blocks: those for 16 objects if
// caches have such ones, for one if it is large; else a part of a block.
func (h *Heap) refillBytes(size int, kind Kind) int64 {
	bytes := h.core.RoundedSize(uintptr(size), uint32(kind))
	switch {
	case bytes > core.SmallMaxBytes:
		bytes = sys.AlignUp(bytes, core.BlockBytes)
	case kind == Uncollectable, kind == PointerFreeUncollectable:
	case h.core.ChainOf(uintptr(size), uint32(kind)) != (core.Chain{}):
		bytes = sys.AlignUp(bytes*16, core.BlockBytes)
	}
	return int64(bytes)
}

// startSlices begins an automatic collection in slices, if the heap has those and none is going on; one that has
// nothing left to do it ends. It reports whether the heap has them.
func (m *Mutator) startSlices() bool {
	h := m.heap
	if h.slice.Load() == 0 || Mode(h.mode.Load()) != Enabled {
		return false
	}
	if !h.hasWork() {
		m.work(h.collections.Load(), true)
	}
	return true
}

// hasWork reports whether there is something to be marked or sorted. The collection that is going on may have none
// left, since allocations sort too: it is to be ended then.
func (h *Heap) hasWork() bool { return h.core.IsMarking() || h.core.IsSorting() }

// pace makes a slice, if one is due when an object is allocated that no cache has.
func (m *Mutator) pace(size int, kind Kind) {
	h := m.heap
	if h.slice.Load() == 0 || Mode(h.mode.Load()) != Enabled {
		return
	}
	seen := h.collections.Load()
	if h.pacer.due.Add(-h.refillBytes(size, kind)) < 0 {
		m.work(seen, false)
	}
}

// work makes one slice, unless a collection has ended since the number seen. The first one of a collection it makes if
// one is to begin, or now says so.
func (m *Mutator) work(seen uint64, now bool) {
	h := m.heap
	m.Blocking(func() {
		h.collecting.Lock()
		if !h.usable() || h.collections.Load() != seen {
			h.collecting.Unlock()
			return
		}
		if h.cycle.active && h.hasWork() && h.pacer.due.Load() >= 0 {
			h.collecting.Unlock() // somebody else has just made one
			return
		}
		if !h.cycle.active {
			var s core.Stats
			h.core.ReadStats(&s)
			if left := h.pacer.plan(h, &s); left > 0 && !now {
				h.pacer.due.Store(max(left, leastEvery))
				h.collecting.Unlock()
				return
			}
		}
		h.pacer.due.Store(max(h.pacer.every.Load(), leastEvery))
		h.sliceAndUnlock(time.Duration(h.slice.Load()), CauseAllocation)
	})
}
