package heap

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// Modes of a heap, set once before its first use.
const (
	// ModeSystem sends every request to the system allocator.
	ModeSystem = 1 << iota
	// ModeGuard sends every request to the guard (debugging).
	ModeGuard
	// ModeKeepSpans switches the release sweep off.
	ModeKeepSpans
	// ModeNormalSystem sends what is larger than the classes to the system allocator.
	ModeNormalSystem
)

// Heap is a native heap. It must lie outside of the Go heap or in static storage, zeroed; it holds no Go pointer.
//
//	field               written by
//	Space               itself
//	const fields        Init
//	classes             whoever holds the class's lock
//	caches, freeCaches  whoever holds cachesLock
//	sweepLock           the thread that runs the release sweep (tried, never waited for, but by fork)
//
// Locks are taken in this order: sweepLock, cachesLock, one depot's lock, its class's lock, the space's locks. No two
// classes' locks are held together, except by ForkPrepare, which takes all in the order of the classes.
type Heap struct {
	space.Space // first: the fast paths read its first words

	noCache Cache   // const: a cache of zeros, for threads that have none
	mode    uint32  // const
	limit   uintptr // const: bytes of spans and normal blocks together, 0: none

	sweepLock  uint32
	cachesLock uint32
	caches     Cache // all there ever were; read without the lock by firstCache
	freeCaches Cache // those without a thread
	cacheCount uint32
	cachesPeak uint32

	nextSweep uint64    // time of the next release sweep; a hint, written under sweepLock
	sweeps    uint64    // under sweepLock
	forkMine  forkLocks // locks that the forking thread held already; see fork.go

	deferred uintptr // blocks freed where no lock could be had, linked through their first word; atomic

	spanSerial    uint32 // counts uses of runs as spans; atomic
	colour        uint32 // of the next normal block; atomic
	freshGranules uint32 // that classes took since waiting blocks were sorted, of memory that read as zero; atomic
	_             uint32
	_             [counts64Bit]byte
	lost          normalCounts // of threads without a cache; atomic
	systemLive    int64        // bytes of the system allocator's blocks, if there is a limit; atomic
	overflows     uint64       // small requests that the system allocator served; atomic
	limitFailures uint64       // atomic

	classes [64]central // by class; 64 so that a masked index needs no check
}

// counts64Bit puts the 64-bit values that atomic operations work on at a multiple of 8 where words are smaller, or this
// does not compile.
const (
	counts64Bit = 4 * (1 - sys.Is64Bit)
	_           = -(unsafe.Offsetof(Heap{}.lost) & 7)
)

// Init prepares a heap over a range of at most rangeBytes. noCache is memory of NoCacheBytes that stays zero. Without
// a range everything is served by the system allocator, and Init returns false.
func (h *Heap) Init(rangeBytes uintptr, noCache Cache, mode uint32, limit uintptr) bool {
	h.noCache, h.mode, h.limit = noCache, mode, limit
	if mode&ModeSystem != 0 {
		return false
	}
	return h.Space.Init(rangeBytes, spanRecordBytes)
}

// NoCacheBytes is the size of a cache of zeros.
const NoCacheBytes = cacheHeaderOffset

// without reports whether a thread has no cache; before Init nobody has.
func (h *Heap) without(c Cache) bool { return c == h.noCache || h.noCache == 0 }

// NewCache takes a cache for a thread, or returns the heap's noCache if there is no memory for one.
func (h *Heap) NewCache() Cache {
	if h.mode&(ModeSystem|ModeGuard) != 0 || !sys.Lock(&h.cachesLock) {
		return h.noCache
	}
	c := h.freeCaches
	if c != 0 {
		h.freeCaches = c.header().nextFree
	} else if memory := h.TakeMeta(sys.AlignUp(cacheBytes, 64)); memory != 0 {
		c = Cache(memory)
		initCache(c)
		c.header().next = h.caches
		if h.caches != 0 {
			c.header().shard = (h.caches.header().shard + 1) & (depotShards - 1)
		}
		atomic.StoreUintptr((*uintptr)(&h.caches), uintptr(c)) // others walk the list without the lock
	} else {
		sys.Unlock(&h.cachesLock)
		return h.noCache
	}
	c.header().used = 1
	c.header().lastFlush = 0
	h.cacheCount++
	if h.cacheCount > h.cachesPeak {
		h.cachesPeak = h.cacheCount
	}
	sys.Unlock(&h.cachesLock)
	return c
}

// firstCache is the newest of the caches, whose header leads to the others. What initCache wrote is seen with it.
func (h *Heap) firstCache() Cache { return Cache(atomic.LoadUintptr((*uintptr)(&h.caches))) }

// DropCache hands a cache's blocks over and keeps the cache for another thread. The caller's thread must not use
// it any more.
func (h *Heap) DropCache(c Cache) {
	if c == h.noCache {
		return
	}
	h.flushAll(c)
	if !sys.Lock(&h.cachesLock) {
		return // a signal handler ends the thread inside the core: the cache is lost, its blocks are not
	}
	c.header().used = 0
	c.header().nextFree = h.freeCaches
	h.freeCaches = c
	h.cacheCount--
	sys.Unlock(&h.cachesLock)
}

// ClassSize is what a request of this size is rounded up to: the class's block, or whole granules above the classes. A
// block above the classes may have less if it was asked for with less: see setUsable.
func ClassSize(size uintptr) uintptr {
	if size > SmallMaxBytes {
		if rounded := sys.AlignUp(size, space.GranuleBytes); rounded > size {
			return rounded
		}
		return size
	}
	return uintptr(classTable[classOf(binOf(size))&63].bytes)
}

// blockBytes is the size of the block at an address of this heap, or 0 if the range has none there.
func (h *Heap) blockBytes(block sys.Addr) uintptr {
	if ref := h.normalBlock(block); ref != 0 {
		return h.normalRun(ref).bytes
	}
	return uintptr(classTable[classOf(uintptr(h.OwnerOf(block)))&63].bytes)
}
