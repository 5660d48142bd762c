package managed

import (
	"sync/atomic"
	"time"

	core "granary/internal/core/gc"
)

// pacer spreads the slices of an automatic collection over the allocations of the mutators: by the time that half of
// what was allocated between two collections has been allocated anew, the collection should be over.
//
//	due     what is allocated until the next slice; below 0 it is due; any mutator
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
	refillBytes   = 4096
	leastToFollow = 1 << 20
)

// settle learns from a collection.
func (p *pacer) settle(h *Heap, c *Collection, s *core.Stats) {
	worked := c.Pause - c.Waited
	if c.LiveBytes > leastToFollow && worked > 0 {
		p.rate = float64(c.LiveBytes) / float64(worked)
	}
	p.plan(h, s)
}

// plan sets how much is allocated between two slices of the next collection.
func (p *pacer) plan(h *Heap, s *core.Stats) {
	rate := p.rate
	if rate == 0 {
		rate = firstRate
	}
	slice := max(float64(h.slice.Load()), float64(time.Microsecond))
	slices := 1 + float64(s.LiveBytes)/(rate*slice)
	p.every.Store(max(int64(float64(s.TargetBytes)/2/slices), leastEvery))
}

// startSlices begins an automatic collection in slices, if the heap has those and none is going on; one that has
// nothing left to do it ends. It reports whether the heap has them.
func (m *Mutator) startSlices() bool {
	h := m.heap
	if h.slice.Load() == 0 || Mode(h.mode.Load()) != Enabled {
		return false
	}
	if !h.hasWork() {
		m.work(h.collections.Load())
	}
	return true
}

// hasWork reports whether there is something to be marked or sorted. The collection that is going on may have none
// left, since allocations sort too: it is to be ended then.
func (h *Heap) hasWork() bool { return h.core.IsMarking() || h.core.IsSorting() }

// pace makes a slice of the collection that is going on, if one is due when size more bytes are allocated.
func (m *Mutator) pace(size int) {
	h := m.heap
	seen := h.collections.Load()
	if h.begun.Load() == seen || h.slice.Load() == 0 || Mode(h.mode.Load()) != Enabled {
		return
	}
	if h.pacer.due.Add(-max(int64(size), refillBytes)) < 0 {
		m.work(seen)
	}
}

// work makes one slice, unless a collection has ended since the number seen.
func (m *Mutator) work(seen uint64) {
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
			h.pacer.plan(h, &s)
		}
		h.pacer.due.Store(max(h.pacer.every.Load(), leastEvery))
		h.sliceAndUnlock(time.Duration(h.slice.Load()), CauseAllocation)
	})
}
