package heap

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: requests above SmallMaxBytes, and small ones that find the range full. The system allocator serves
// them (normal_*.go); here they are counted and held to the limit.

// normalCounts are the figures of one thread's normal-tier traffic.
type normalCounts struct {
	mallocs uint64
	frees   uint64
	bytes   uint64 // asked for
	live    int64  // usable bytes; negative for a thread that frees what others allocated
}

// mayGrow reports whether the limit leaves room for so many bytes more.
func (h *Heap) mayGrow(bytes uintptr) bool {
	held := h.Stats().Held + uintptr(atomic.LoadInt64(&h.lost.live))
	if h.limit == 0 || bytes <= h.limit && held <= h.limit-bytes {
		return true
	}
	atomic.AddUint64(&h.limitFailures, 1)
	return false
}

// count books normal-tier traffic on the thread's cache. Under a limit, and for threads without a cache, the sum is
// kept in one place.
func (h *Heap) count(c Cache, mallocs, frees, bytes uint64, live int64) {
	if h.limit != 0 || c == h.noCache {
		atomic.AddUint64(&h.lost.mallocs, mallocs)
		atomic.AddUint64(&h.lost.frees, frees)
		atomic.AddUint64(&h.lost.bytes, bytes)
		atomic.AddInt64(&h.lost.live, live)
		return
	}
	n := &c.header().normal
	n.mallocs += mallocs
	n.frees += frees
	n.bytes += bytes
	n.live += live
}

func (h *Heap) normalMalloc(c Cache, size uintptr) sys.Addr {
	if h.limit != 0 && !h.mayGrow(size) {
		return h.tooLarge()
	}
	block := systemMalloc(size)
	if block != 0 {
		h.count(c, 1, 0, uint64(size), int64(systemUsableSize(block)))
	}
	return block
}

func (h *Heap) normalCalloc(c Cache, size uintptr) sys.Addr {
	if h.limit != 0 && !h.mayGrow(size) {
		return h.tooLarge()
	}
	block := systemCalloc(size)
	if block != 0 {
		h.count(c, 1, 0, uint64(size), int64(systemUsableSize(block)))
	}
	return block
}

func (h *Heap) normalAligned(c Cache, alignment, size uintptr) sys.Addr {
	if h.limit != 0 && !h.mayGrow(size) {
		return h.tooLarge()
	}
	block := systemAligned(alignment, size)
	if block != 0 {
		h.count(c, 1, 0, uint64(size), int64(systemUsableSize(block)))
	}
	return block
}

func (h *Heap) normalFree(c Cache, block sys.Addr) {
	if h.mode&ModeSystem == 0 {
		h.count(c, 0, 1, 0, -int64(systemUsableSize(block)))
	}
	systemFree(block)
}

// normalRealloc resizes a block of the system allocator to a size above the classes.
func (h *Heap) normalRealloc(c Cache, block sys.Addr, size uintptr) sys.Addr {
	before := systemUsableSize(block)
	if h.limit != 0 && size > before && !h.mayGrow(size-before) {
		return h.tooLarge()
	}
	result := systemRealloc(block, size)
	if result != 0 {
		h.count(c, 0, 0, 0, int64(systemUsableSize(result))-int64(before))
	}
	return result
}

// overflowMalloc serves a small request for which there is no span: the range is full, the system refuses memory,
// the limit is reached, or a signal handler interrupted the core.
func (h *Heap) overflowMalloc(size uintptr) sys.Addr {
	if h.limit != 0 && !h.mayGrow(size) {
		return h.tooLarge()
	}
	atomic.AddUint64(&h.overflows, 1)
	block := systemMalloc(size)
	if block != 0 {
		h.count(h.noCache, 0, 0, 0, int64(systemUsableSize(block)))
	}
	return block
}
