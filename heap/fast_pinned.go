//go:build !granary_nolinkname

package heap

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/heap"
	"granary/internal/core/sys"
)

// This file: the fast paths under pin. fast_portable.go has them for builds without linkname.
//
// While a goroutine is pinned to its P nobody else runs on that P, so the P's cache is the goroutine's. It must not
// wait, call user code or fault meanwhile: the runtime would end the process. What happens between procPin and
// procUnpin reads and writes the heap's own memory only.

// The runtime keeps the two for packages like this one: https://go.dev/issue/67401.

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

// Alloc and Free do not look for room on the stack (nosplit), which saves some 7 % of a pair: they need little, and
// what they call looks for itself.

// isMade is asked before the pin: of a nil Heap it panics, as the use of any nil pointer does, and a zero one has no
// slots. Under the pin a fault would end the process, and no recover could help.
func (h *Heap) isMade() bool { return h.slots != nil }

// owner is the cache in the slot, loaded once: drain may exchange it for 0 at any moment, and then waits until the
// goroutine is no longer pinned.
func (s *slot) owner() core.Cache { return core.Cache(atomic.LoadUintptr((*uintptr)(&s.cache))) }

// Alloc returns a block of at least size bytes at a multiple of 16. Its contents are undefined.
//
//go:nosplit
func (h *Heap) Alloc(size int) (unsafe.Pointer, error) {
	if uint(size) <= core.SmallMaxBytes && h.isMade() {
		if id := procPin(); uint(id) < slotCount {
			s := h.slot(uintptr(id))
			c := s.owner()
			if s.left >= int64(size) && c != 0 {
				bin := c.BinOf(uintptr(size))
				if newest := bin.Newest(); newest != 0 {
					s.left -= int64(size)
					block := bin.Take(newest, uintptr(size))
					procUnpin()
					if raceEnabled {
						raceAcquire(block)
					}
					return block.Pointer(), nil
				}
			}
		}
		procUnpin()
	}
	return h.allocSlow(size, 0, false)
}

// Free takes a block back. A nil pointer is none. What is wrong with a pointer is said by a *MisuseError; a block that
// was freed before is not always recognised outside of debug mode.
//
//go:nosplit
func (h *Heap) Free(p unsafe.Pointer) error {
	block := sys.Addr(uintptr(p))
	if raceEnabled && p != nil {
		raceRelease(block)
	}
	if !h.isMade() {
		return h.freeSlow(block)
	}
	if id := procPin(); uint(id) < slotCount {
		s := h.slot(uintptr(id))
		if c := s.owner(); c != 0 && s.reach.Covers(block) {
			if bin := s.reach.BinAt(c, block); bin.Room() != 0 && bin.Accepts(s.reach.Base, block) {
				bin.Put(bin.Room(), s.reach.Base, block)
				procUnpin()
				return nil
			}
		}
	}
	procUnpin()
	return h.freeSlow(block)
}

// tryCalloc takes a block from the cache of the goroutine's P, 0 if there is none, and says whether it reads as zero.
func (h *Heap) tryCalloc(size uintptr) (block sys.Addr, zero bool) {
	if !h.isMade() {
		return 0, false
	}
	if id := procPin(); uint(id) < slotCount {
		s := h.slot(uintptr(id))
		c := s.owner()
		if s.left >= int64(size) && c != 0 {
			if block, zero, _ = c.TryCalloc(size); block != 0 {
				s.left -= int64(size)
			}
		}
	}
	procUnpin()
	return block, zero
}

// fastState is what a Heap has for this build alone: nothing.
type fastState struct{}

// sampleDue counts an allocation that the fast path did not serve. If the P's distance ends with it, it begins the next
// one and returns the mean of the one that ended; 0: no sample is due.
func (h *Heap) sampleDue(size int) (ended int64) {
	draw, now := 0.0, uint64(0)
	if h.samples != nil {
		draw, now = rand.ExpFloat64(), sys.Now()
	}
	if id := procPin(); uint(id) < slotCount {
		switch s := h.slot(uintptr(id)); {
		case s.take(size):
		case h.samples == nil:
			s.left = math.MaxInt64
		default:
			ended = s.restart(h.samples.rate, draw, now)
		}
	}
	procUnpin()
	return ended
}

// swapSlot puts a cache, or 0, into the slot of the goroutine's P and returns what was there.
func (h *Heap) swapSlot(c core.Cache) core.Cache {
	was := core.Cache(0)
	if id := procPin(); uint(id) < slotCount {
		h.noteSlot(uintptr(id))
		s := h.slot(uintptr(id))
		s.reach = h.core.Reach()
		was = core.Cache(atomic.SwapUintptr((*uintptr)(&s.cache), uintptr(c)))
	} else {
		was = c
	}
	procUnpin()
	return was
}

// shard is a number below counterShards that goroutines on different Ps seldom share.
func shard() int {
	id := procPin()
	procUnpin()
	return id & (counterShards - 1)
}
