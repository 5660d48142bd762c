package gc

import "granary/internal/core/sys"

// This file: when to collect, and when to grow.

// pace decides between collecting and growing. Under Heap.lock.
type pace struct {
	divisor   uintptr
	allocated uintptr // bytes handed to caches and large objects since the last collection
	freed     uintptr // bytes freed explicitly since
	target    uintptr // allocated, less freed, at which a collection is due
}

const (
	defaultDivisor = 3
	leastTarget    = 256 << 10
)

func (h *Heap) startPace() {
	h.pace.divisor = defaultDivisor
	h.pace.target = leastTarget
}

// SetDivisor sets how much is allocated between two collections: what is alive, twice, divided by it. 0 means 3.
func (h *Heap) SetDivisor(divisor uintptr) {
	if !sys.Lock(&h.lock) {
		return
	}
	if divisor == 0 {
		divisor = defaultDivisor
	}
	h.pace.divisor = divisor
	sys.Unlock(&h.lock)
}

// SetLimit sets the most bytes that blocks may take, 0 for what the range holds. What they take already stays.
func (h *Heap) SetLimit(bytes uintptr) {
	if sys.Lock(&h.lock) {
		h.limit = bytes
		sys.Unlock(&h.lock)
	}
}

// since is what was allocated since the last collection and not freed; at least an eighth of what was allocated.
func (p *pace) since() uintptr {
	if p.freed > p.allocated/8*7 {
		return p.allocated / 8
	}
	return p.allocated - p.freed
}

func (p *pace) due() bool { return p.since() >= p.target }

// ShouldCollect reports whether enough was allocated since the last collection for the next one.
func (h *Heap) ShouldCollect() bool { return h.pace.due() }

// settle sets the target after a collection that left that many bytes alive.
func (p *pace) settle(scanned, pointerFree uintptr) {
	target := (2*scanned + pointerFree/4) / p.divisor
	if target < leastTarget {
		target = leastTarget
	}
	p.target = target
	p.allocated, p.freed = 0, 0
}
