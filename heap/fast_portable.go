//go:build granary_nolinkname

package heap

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/heap"
	"granary/internal/core/sys"
)

// This file: the fast paths without linkname, for builds with the tag granary_nolinkname. A goroutine takes a cache
// out of a slot for the time of its call, and puts it back: two atomic exchanges in place of a pin. The slots belong
// to nobody; goroutines start to look at one that depends on where their stack lies.

const portableSlots = 64

// shardStart is a number that goroutines seldom share. Calls of one goroutine at some levels of depth have the same:
// most stacks lie in one piece of this size.
func shardStart() uintptr {
	const stackPieceShift = 13
	var here byte
	return uintptr(unsafe.Pointer(&here)) >> stackPieceShift * 0x9e3779b97f4a7c15 >> 32
}

func slotCache(s *slot) *uintptr { return (*uintptr)(&s.cache) }

// borrow takes a cache out of a slot. cache is 0 if neither of two slots has one.
func (h *Heap) borrow() (s *slot, c core.Cache) {
	if h.slots == nil { // a zero Heap
		return nil, 0
	}
	start := shardStart()
	for i := uintptr(0); i < 2; i++ {
		s = h.slot((start + i) % portableSlots)
		if c = core.Cache(atomic.SwapUintptr(slotCache(s), 0)); c != 0 {
			return s, c
		}
	}
	return s, 0
}

// lend puts it back.
func (h *Heap) lend(s *slot, c core.Cache) {
	if was := core.Cache(atomic.SwapUintptr(slotCache(s), uintptr(c))); was != 0 {
		h.spareCache(was)
	}
}

// Alloc returns a block of at least size bytes at a multiple of 16. Its contents are undefined.
func (h *Heap) Alloc(size int) (unsafe.Pointer, error) {
	if uint(size) <= core.SmallMaxBytes {
		if s, c := h.borrow(); c != 0 {
			block, ok := sys.Addr(0), false
			if h.counted(s, size) {
				block, ok = c.TryMalloc(uintptr(size))
			}
			h.lend(s, c)
			if ok {
				if raceEnabled {
					raceAcquire(block)
				}
				return block.Pointer(), nil
			}
		}
	}
	return h.allocSlow(size, 0, false)
}

// Free takes a block back. A nil pointer is none. What is wrong with a pointer is said by a *MisuseError; a block that
// was freed before is not always recognised outside of debug mode.
func (h *Heap) Free(p unsafe.Pointer) error {
	block := sys.Addr(uintptr(p))
	if raceEnabled && p != nil {
		raceRelease(block)
	}
	if s, c := h.borrow(); c != 0 {
		ok := h.core.TryFree(c, block)
		h.lend(s, c)
		if ok {
			return nil
		}
	}
	return h.freeSlow(block)
}

// tryCalloc takes a block from a cache, 0 if there is none, and says whether it reads as zero.
func (h *Heap) tryCalloc(size uintptr) (block sys.Addr, zero bool) {
	s, c := h.borrow()
	if c == 0 {
		return 0, false
	}
	if h.counted(s, int(size)) {
		block, zero, _ = c.TryCalloc(size)
	}
	h.lend(s, c)
	return block, zero
}

// fastState is what a Heap has for this build alone.
type fastState struct {
	due atomic.Int64 // the mean of a slot's distance that ended, 0 if none did
}

// counted takes a size off the slot's count. It returns false if the allocation is to take the slow path.
func (h *Heap) counted(s *slot, size int) bool {
	if s.take(size) {
		return true
	}
	if h.samples == nil {
		s.left = math.MaxInt64
	} else if ended := s.restart(h.samples.rate, rand.ExpFloat64(), sys.Now()); ended != 0 {
		h.due.Store(ended)
	}
	return false
}

// sampleDue returns the mean of a distance that ended; 0: no sample is due.
func (h *Heap) sampleDue(int) (ended int64) {
	if h.due.Load() == 0 {
		return 0
	}
	return h.due.Swap(0)
}

// swapSlot puts a cache, or 0, into a slot and returns what was there.
func (h *Heap) swapSlot(c core.Cache) core.Cache {
	at := shardStart() % portableSlots
	h.noteSlot(at)
	return core.Cache(atomic.SwapUintptr(slotCache(h.slot(at)), uintptr(c)))
}

// shard is a number below counterShards that goroutines seldom share.
func shard() int { return int(shardStart() & (counterShards - 1)) }
