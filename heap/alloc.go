package heap

import (
	"math"
	"unsafe"

	core "granary/internal/core/heap"
	"granary/internal/core/sys"
)

// This file: the calls that have blocks, but for the fast paths of Alloc and Free.

const (
	mostBytes     = math.MaxInt >> (1 + 3*sys.Is64Bit) // no address space has more
	mostAlignment = 1 << (28 + 2*sys.Is64Bit)
)

// AllocZeroed is Alloc, and the block reads as zero.
func (h *Heap) AllocZeroed(size int) (unsafe.Pointer, error) {
	if uint(size) <= core.SmallMaxBytes {
		if block, zero := h.tryCalloc(uintptr(size)); block != 0 {
			if raceEnabled {
				raceAcquire(block)
			}
			if !zero {
				clear(unsafe.Slice((*byte)(block.Pointer()), size))
			}
			return block.Pointer(), nil
		}
	}
	return h.allocSlow(size, 0, true)
}

// AllocAligned returns a block at a multiple of alignment, a power of two of at most 1 GiB (256 MiB where addresses
// have 32 bits).
func (h *Heap) AllocAligned(size, alignment int) (unsafe.Pointer, error) {
	if alignment <= 0 || alignment&(alignment-1) != 0 || alignment > mostAlignment {
		return nil, ErrAlignment
	}
	if alignment <= 16 {
		return h.Alloc(size)
	}
	if h.debug == nil && uint(size) <= core.SmallMaxBytes {
		if bytes := core.AlignedSize(uintptr(alignment), uintptr(size)); bytes != 0 {
			p, err := h.Alloc(int(bytes))
			if err != nil || uintptr(p)&uintptr(alignment-1) == 0 {
				return p, err
			}
			h.Free(p) // the range is full, or the block is a sample
		}
	}
	return h.allocSlow(size, uintptr(alignment), false)
}

// allocSlow is for all that no cache of a P can serve.
//
//go:noinline
func (h *Heap) allocSlow(size int, alignment uintptr, zero bool) (unsafe.Pointer, error) {
	if size < 0 || size > mostBytes {
		return nil, ErrSize
	}
	if err := h.enter(); err != nil {
		return nil, err
	}
	defer h.leave()
	if h.debug != nil {
		return h.debug.alloc(uintptr(size), alignment, zero)
	}
	return h.allocWhole(uintptr(size), alignment, zero, h.isDue(size))
}

// allocWhole takes a block of the core, by whatever it takes; mean is not 0 if it is to be sampled.
func (h *Heap) allocWhole(size, alignment uintptr, zero bool, mean int64) (unsafe.Pointer, error) {
	c := h.takeCache()
	block := h.allocWith(c, size, alignment, zero, mean)
	h.putCache(c)
	if block == 0 {
		if block = h.allocAgain(size, alignment, zero); block == 0 {
			return nil, h.whyNot(size)
		}
	}
	if raceEnabled {
		raceAcquire(block)
	}
	h.arm()
	return block.Pointer(), nil
}

// isDue is 0, or the mean distance with which a block that takes the slow path is to be sampled.
func (h *Heap) isDue(size int) (mean int64) {
	if h.samples != nil && size > core.SmallMaxBytes { // not counted by slots
		return h.samples.isDue(size)
	}
	return h.sampleDue(size)
}

// allocWith takes a block by means of a cache that is the caller's.
func (h *Heap) allocWith(c core.Cache, size, alignment uintptr, zero bool, mean int64) sys.Addr {
	block := sys.Addr(0)
	switch {
	case mean != 0 && alignment <= 16 && size <= core.SmallMaxBytes:
		// The free of a block of the normal tier always takes the slow path, where samples are looked up.
		if block = h.core.LargeMalloc(c, size); block != 0 && zero {
			clear(unsafe.Slice((*byte)(block.Pointer()), size))
		}
	case zero && alignment == 0:
		block = h.core.Calloc(c, 1, size)
	default:
		block = h.core.AlignedAlloc(c, max(alignment, 16), size)
	}
	if block == 0 {
		return 0
	}
	h.noteForeign(block)
	if mean != 0 && !h.isSmall(block) {
		h.samples.add(block, size, mean)
	}
	return block
}

// isSmall reports whether a block's free can take the fast path.
func (h *Heap) isSmall(block sys.Addr) bool { return h.contains(block) && !h.core.IsNormal(block) }

// allocAgain tries once more when memory is short, with what waits in the caches.
func (h *Heap) allocAgain(size, alignment uintptr, zero bool) sys.Addr {
	h.sweep(0, false)
	return h.allocWith(h.place.noCache, size, alignment, zero, 0)
}

// whyNot is the error for a block that could not be had.
func (h *Heap) whyNot(size uintptr) error {
	if !h.core.FitsLimit(size) {
		return ErrLimit
	}
	return ErrNoMemory
}

// judge says what is wrong with a pointer to be freed, nil if nothing is.
func (h *Heap) judge(call string, block sys.Addr) error {
	if !h.contains(block) {
		h.mu.Lock()
		_, known := h.foreign[block]
		h.mu.Unlock()
		if known {
			return nil
		}
		return &MisuseError{Kind: NoBlock, Call: call, Addr: uintptr(block)}
	}
	what := h.core.Judge(block)
	if what == 0 {
		return nil
	}
	e := &MisuseError{Kind: kindOf(what), Call: call, Addr: uintptr(block), Start: uintptr(block)}
	if place := h.core.Locate(block); place.Class != 0 {
		e.Start, e.Class = uintptr(place.Start), int(core.ClassBytes(place.Class))
	}
	return e
}

// freeSlow is for all that the cache of a P cannot take.
//
//go:noinline
func (h *Heap) freeSlow(block sys.Addr) error {
	if block == 0 {
		return nil
	}
	if err := h.enter(); err != nil {
		return err
	}
	defer h.leave()
	if h.debug != nil {
		return h.debug.free(block)
	}
	if err := h.judge("free", block); err != nil {
		return err
	}
	h.forget(block)
	c := h.takeCache()
	h.core.Free(c, block)
	h.putCache(c)
	h.arm()
	return nil
}

// noteForeign remembers a block that is not in the range.
func (h *Heap) noteForeign(block sys.Addr) {
	if !h.contains(block) {
		h.mu.Lock()
		h.foreign[block] = struct{}{}
		h.mu.Unlock()
	}
}

// forget removes what is known of a block beside the core, and returns its sample if it is one.
func (h *Heap) forget(block sys.Addr) *sample {
	if h.isSmall(block) {
		return nil
	}
	if !h.contains(block) {
		h.mu.Lock()
		delete(h.foreign, block)
		h.mu.Unlock()
	}
	if h.samples == nil {
		return nil
	}
	return h.samples.remove(block)
}

// Realloc makes a block larger or smaller, and returns where it is now. Its contents up to the smaller size stay; what
// is added is undefined. A nil pointer stands for a new block. If it returns an error the block is as it was.
func (h *Heap) Realloc(p unsafe.Pointer, size int) (unsafe.Pointer, error) {
	if p == nil {
		return h.Alloc(size)
	}
	if size < 0 || size > mostBytes {
		return nil, ErrSize
	}
	block, want := sys.Addr(uintptr(p)), uintptr(max(size, 1))
	if want <= core.SmallMaxBytes {
		if have := h.sizeAt(block); have != 0 {
			return reallocSmall(h, p, int(have), size)
		}
	}
	if err := h.enter(); err != nil {
		return nil, err
	}
	defer h.leave()
	if h.debug != nil {
		return h.debug.realloc(block, want)
	}
	if err := h.judge("realloc", block); err != nil {
		return nil, err
	}
	if raceEnabled {
		raceRelease(block)
	}
	to := h.reallocWith(block, want)
	if to == 0 {
		return nil, h.whyNot(want)
	}
	if raceEnabled {
		raceAcquire(to)
	}
	h.arm()
	return to.Pointer(), nil
}

// reallocSmall resizes a block of have bytes within the classes, in place if it stays in its class or keeps more than
// half of it.
func reallocSmall(a Allocator, p unsafe.Pointer, have, size int) (unsafe.Pointer, error) {
	if want := int(core.ClassSize(uintptr(max(size, 1)))); want == have || want < have && want > have/2 {
		return p, nil
	}
	to, err := a.Alloc(size)
	if err != nil {
		return nil, err
	}
	copied := min(have, size)
	copy(unsafe.Slice((*byte)(to), copied), unsafe.Slice((*byte)(p), copied))
	if err := a.Free(p); err != nil {
		return nil, err // somebody else freed the block meanwhile
	}
	return to, nil
}

// reallocWith resizes a block. What is known of it is taken out before, as somebody else may have the address after.
func (h *Heap) reallocWith(block sys.Addr, size uintptr) sys.Addr {
	known := h.forget(block)
	c := h.takeCache()
	to := h.core.Realloc(c, block, size)
	h.putCache(c)
	at, bytes := to, size
	if to == 0 {
		at, bytes = block, h.core.UsableSize(block)
	}
	h.noteForeign(at)
	if known != nil && at == block {
		h.samples.restore(block, known, bytes)
	}
	return to
}

// UsableSize is the bytes of a block that the program may use, at least what it asked for; 0 if the pointer is no
// block of the heap.
func (h *Heap) UsableSize(p unsafe.Pointer) int {
	block := sys.Addr(uintptr(p))
	if bytes := h.sizeAt(block); bytes != 0 {
		return int(bytes)
	}
	if block == 0 || h.enter() != nil {
		return 0
	}
	defer h.leave()
	if h.debug != nil {
		return h.debug.usableSize(block)
	}
	if h.judge("", block) != nil {
		return 0
	}
	return int(h.core.UsableSize(block))
}

// sizeAt is the size of a block in a class, 0 if only the slow path can tell. The tables that it reads stay readable
// when the heap is closed.
func (h *Heap) sizeAt(block sys.Addr) uintptr {
	if h.debug != nil || !h.open.Load() {
		return 0
	}
	return h.core.SizeAt(block)
}

// GoodSize is what a block of so many bytes takes: asking for all of it costs no more memory. It is the UsableSize up
// to 32 KiB, whole pages of 4 KiB above, and 0 for sizes that no block has.
func GoodSize(size int) int {
	switch {
	case size < 0 || size > mostBytes:
		return 0
	case size <= core.SmallMaxBytes:
		return int(core.ClassSize(uintptr(max(size, 1))))
	}
	return (size + goodUnit - 1) &^ (goodUnit - 1)
}

const goodUnit = 4096

// Owns reports whether the pointer is a block of the heap that is not known to be free.
func (h *Heap) Owns(p unsafe.Pointer) bool { return h.UsableSize(p) != 0 }
