package heap

import (
	"math"
	"math/rand/v2"
	"unsafe"

	core "granary/internal/core/heap"
	"granary/internal/core/sys"
)

// Cache is a cache that one goroutine has for itself: its calls need no pinning and so cost about half. Blocks may be
// freed by any goroutine, to this Cache, another one or the Heap. A Cache itself may be used by one goroutine at a
// time.
type Cache struct {
	cache core.Cache
	reach core.Reach
	distance
	heap *Heap
	uses int // touched in race builds, so that the detector sees two goroutines using it at once
	_    [slotBytes - 48 - 24*sys.Is64Bit]byte
}

// A Cache has two lines of the processor's caches for itself, as Go aligns objects of this size at it: those of two
// goroutines do not share one.
var _ [slotBytes - unsafe.Sizeof(Cache{})]byte

// NewCache makes a cache. Close it when the goroutine ends.
func (h *Heap) NewCache() (*Cache, error) {
	if err := h.enter(); err != nil {
		return nil, err
	}
	defer h.leave()
	h.mu.Lock()
	closed := !h.open.Load() // under mu, where Close counts
	if !closed {
		h.owned++
	}
	h.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	return &Cache{cache: h.core.NewCache(), reach: h.core.Reach(), heap: h}, nil
}

// Close hands the blocks that wait in the cache to the heap. The cache must not be used any more.
func (c *Cache) Close() error {
	if c.heap == nil {
		return nil
	}
	c.heap.core.DropCache(c.cache)
	c.heap.mu.Lock()
	c.heap.owned--
	c.heap.mu.Unlock()
	c.cache, c.reach, c.heap = places.noCache, core.Reach{}, nil
	return nil
}

// Alloc is Heap.Alloc.
//
//go:nosplit
func (c *Cache) Alloc(size int) (unsafe.Pointer, error) {
	if raceEnabled {
		c.uses++
	}
	if uint(size) <= core.SmallMaxBytes && c.left >= int64(size) {
		bin := c.cache.BinOf(uintptr(size))
		if newest := bin.Newest(); newest != 0 {
			c.left -= int64(size)
			block := bin.Take(newest, uintptr(size))
			if raceEnabled {
				raceAcquire(block)
			}
			return block.Pointer(), nil
		}
	}
	return c.allocSlow(size)
}

// AllocZeroed is Heap.AllocZeroed.
func (c *Cache) AllocZeroed(size int) (unsafe.Pointer, error) {
	if h := c.heap; h != nil && uint(size) > core.SmallMaxBytes {
		return h.AllocZeroed(size) // which does not clear what the system has just given it
	}
	p, err := c.Alloc(size)
	if err == nil {
		clear(unsafe.Slice((*byte)(p), size))
	}
	return p, err
}

//go:noinline
func (c *Cache) allocSlow(size int) (unsafe.Pointer, error) {
	h := c.heap
	if h == nil {
		return nil, ErrClosed
	}
	if uint(size) > core.SmallMaxBytes || h.debug != nil {
		return h.allocSlow(size, 0, false)
	}
	if !c.take(size) {
		if mean := c.startSample(); mean != 0 {
			return h.allocWhole(uintptr(size), 0, false, mean)
		}
	}
	block := h.core.Malloc(c.cache, uintptr(size))
	if block == 0 || !h.contains(block) {
		if block != 0 { // small, but the range is full
			h.core.SystemFree(block)
		}
		return h.allocSlow(size, 0, false)
	}
	if raceEnabled {
		raceAcquire(block)
	}
	h.arm()
	return block.Pointer(), nil
}

// startSample begins to count to the next sample. It returns the mean of the distance that ended, 0 if there was none.
func (c *Cache) startSample() (ended int64) {
	if c.heap.samples == nil {
		c.left = math.MaxInt64
		return 0
	}
	return c.restart(c.heap.samples.rate, rand.ExpFloat64(), sys.Now())
}

// Free is Heap.Free.
//
//go:nosplit
func (c *Cache) Free(p unsafe.Pointer) error {
	block := sys.Addr(uintptr(p))
	if raceEnabled {
		c.uses++
		if p != nil {
			raceRelease(block)
		}
	}
	if c.reach.Covers(block) {
		if bin := c.reach.BinAt(c.cache, block); bin.Room() != 0 && bin.Accepts(c.reach.Base, block) {
			bin.Put(bin.Room(), c.reach.Base, block)
			return nil
		}
	}
	return c.freeSlow(block)
}

//go:noinline
func (c *Cache) freeSlow(block sys.Addr) error {
	h := c.heap
	if h == nil {
		return ErrClosed
	}
	if block == 0 || h.debug != nil || !h.isSmall(block) {
		return h.freeSlow(block)
	}
	if err := h.judge("free", block); err != nil {
		return err
	}
	c.reach = h.core.Reach()
	h.core.Free(c.cache, block)
	h.arm()
	return nil
}

// Realloc is Heap.Realloc.
func (c *Cache) Realloc(p unsafe.Pointer, size int) (unsafe.Pointer, error) {
	h := c.heap
	if h == nil {
		return nil, ErrClosed
	}
	if p == nil {
		return c.Alloc(size)
	}
	have := h.sizeAt(sys.Addr(uintptr(p)))
	if have == 0 || uint(size) > core.SmallMaxBytes {
		return h.Realloc(p, size)
	}
	return reallocSmall(c, p, int(have), size)
}

// UsableSize is Heap.UsableSize.
func (c *Cache) UsableSize(p unsafe.Pointer) int {
	if c.heap == nil {
		return 0
	}
	return c.heap.UsableSize(p)
}
