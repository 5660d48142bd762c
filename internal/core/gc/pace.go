package gc

import "granary/internal/core/sys"

// This file: when to collect, and when to grow.

// pace decides between collecting and growing. Under Heap.lock.
type pace struct {
	divisor   uintptr
	allocated uintptr // bytes handed to caches and large objects since the last collection
	freed     uintptr // bytes freed explicitly since
	target    uintptr // allocated, less freed, at which a collection is due
	least     uintptr // that the target may be
	roots     uintptr // bytes of them that the collection looked at
	unsettled uint32  // 1: how much is alive after the last collection is not known yet
}

const (
	defaultDivisor = 3
	leastTarget    = 256 << 10
	survivalPart   = 5 // a collection that freed less than this part of what was allocated was of little use
	buildingBytes  = 4 << 20
	extraMost      = 1 << 20
)

func (h *Heap) startPace() {
	h.pace.divisor = defaultDivisor
	h.pace.least = leastTarget
	h.pace.target = leastTarget
}

// SetLeastTarget sets how much is allocated at least between two collections, however little is alive; 0 means 256 KiB.
// Where stopping the threads costs more than marking, that should be more. The caller is between Hold and Unhold.
func (h *Heap) SetLeastTarget(bytes uintptr) {
	if bytes == 0 {
		bytes = leastTarget
	}
	h.pace.least = bytes
}

// SetDivisor sets how much is allocated between two collections: what one of them has to look at, divided by it; 0
// means 3.
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

func (p *pace) due() bool { return p.since() >= p.target && p.unsettled == 0 }

// start has what is allocated from now on count for the next collection, and returns what counted for the last one. No
// collection is due until settlePace.
func (p *pace) start(n *counts) (since uintptr) {
	since = p.since()
	n.allocated += uint64(p.allocated)
	n.freed += uint64(p.freed)
	p.allocated, p.freed = 0, 0
	p.unsettled = 1
	return since
}

// left is what may be allocated before the next collection is due, 0 if it is.
func (p *pace) left() uintptr {
	if since := p.since(); since < p.target {
		return p.target - since
	}
	return 0
}

// ShouldCollect reports whether enough was allocated since the last collection for the next one.
func (h *Heap) ShouldCollect() bool { return h.pace.due() }

// settlePace counts a collection, and sets the target for the next one: what is alive decides, and how much of what
// was allocated since the last one the collection freed. While a program builds something big nothing becomes garbage,
// and collections at ever the same distance would look at the whole again and again. The larger the heap, the less the
// distance grows: what is built last may become garbage at once. The distance is bdwgc's, and a little more in small
// heaps, as bdwgc's there grow by more than the distance asks for; see RATIONALE.md.
func (h *Heap) settlePace(scanned, plain uintptr) {
	p, n := &h.pace, &h.counts
	live := scanned + plain
	extra := scanned / 2
	if extra > extraMost {
		extra = extraMost
	}
	target := (2*scanned + extra + plain/4 + p.roots) / p.divisor
	if live+h.sorting.since/survivalPart > h.sorting.before {
		more := target
		if live > buildingBytes {
			more = target * (buildingBytes >> blockShift) / (live >> blockShift)
			if more < target/3 {
				more = target / 3
			}
		}
		target += more
	}
	if target < p.least {
		target = p.least
	}
	p.target = target
	n.collections++
	n.before = h.sorting.before
	n.scanned, n.plain = scanned, plain
	p.unsettled = 0
}

// lastLive is how much the last collection left alive.
func (h *Heap) lastLive() uintptr { return h.counts.scanned + h.counts.plain }

// Expand makes the heap larger by that many bytes, rounded up to 64 KiB: no collection is due until they are used. It
// returns false if the limit, the range or the system do not allow it.
func (h *Heap) Expand(bytes uintptr) bool {
	if bytes > requestMost || !sys.Lock(&h.lock) {
		return false
	}
	done := h.expandLocked((bytes + BlockBytes - 1) >> blockShift)
	sys.Unlock(&h.lock)
	return done
}
