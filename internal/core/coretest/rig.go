package coretest

import (
	"unsafe"

	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

const (
	leastRange = 16 << 20 // the smallest range that a space makes do with
	second     = 1000 * 1000 * 1000

	halfWord = 16 + 16*sys.Is64Bit // bits
	wordBits = 2 * halfWord
	tooLarge = ^uintptr(0)>>2 + 1 // the least size that is refused without a look
)

// What heap.MisuseHandler is told, and the glue's granary_glue_misuse.
const (
	misuseNotStart = 1
	misuseTwice    = 2
	misuseForeign  = 3
)

type misuseReport struct {
	block      sys.Addr
	blockBytes uintptr
	what       int
}

// rig is a heap with some caches, as threads have them, and the model of what lives in it. Every call of the heap
// goes through the rig, which checks the result.
type rig struct {
	model
	t      T
	h      *heap.Heap
	memory sys.Addr // where the heap lies
	caches []heap.Cache
	every  int // steps between two looks of the walkers
	steps  int
	now    uint64
	stats  heap.AllStats
}

var sharedNoCache heap.Cache

// noCache is a cache of zeros, which all rigs share.
func noCache(t T) heap.Cache {
	if sharedNoCache == 0 {
		sharedNoCache = heap.Cache(memoryFor(t, heap.NoCacheBytes))
		useNoCache(sharedNoCache)
	}
	return sharedNoCache
}

// memoryFor is zeroed memory outside of the Go heap.
func memoryFor(t T, bytes uintptr) sys.Addr {
	bytes = sys.AlignUp(bytes, sys.PageBytes())
	memory := sys.Reserve(bytes)
	if memory == 0 || !sys.Commit(memory, bytes) {
		t.Fatalf("the system has no %d bytes for the test", bytes)
	}
	return memory
}

func heapBytes() uintptr {
	return sys.AlignUp(unsafe.Sizeof(heap.Heap{}), sys.PageBytes())
}

// newRig makes a heap over the smallest range, with that many caches.
func newRig(t T, caches int) *rig { return newRigOf(t, leastRange, caches, 0, 0) }

func newRigOf(t T, rangeBytes uintptr, caches int, mode uint32, limit uintptr) *rig {
	takeMisuse()
	r := &rig{t: t, memory: memoryFor(t, heapBytes()), every: 1, now: 10 * second}
	r.h = (*heap.Heap)(r.memory.Pointer())
	started := r.h.Init(rangeBytes, noCache(t), mode, limit)
	if started != (mode&heap.ModeSystem == 0 && rangeBytes >= leastRange) {
		t.Fatalf("Init(%d, mode %d) says %v", rangeBytes, mode, started)
	}
	for i := 0; i < caches; i++ {
		r.newCache()
	}
	return r
}

// newCache starts a thread, and returns its number.
func (r *rig) newCache() int {
	r.caches = append(r.caches, r.h.NewCache())
	return len(r.caches) - 1
}

// dropCache ends a thread.
func (r *rig) dropCache(cache int) {
	r.h.DropCache(r.caches[cache])
	r.caches = append(r.caches[:cache], r.caches[cache+1:]...)
	r.step()
}

// cache is the cache of a thread; a thread beyond those there are has none.
func (r *rig) cache(cache int) heap.Cache {
	if cache >= 0 && cache < len(r.caches) {
		return r.caches[cache]
	}
	return noCache(r.t)
}

// step has the walkers look, every so many steps.
func (r *rig) step() {
	r.steps++
	if r.every > 0 && r.steps%r.every == 0 {
		r.check()
	}
}

// check has the walkers look at the heap, and compares the heap's figures with the model.
func (r *rig) check() {
	for _, found := range takeMisuse() {
		r.t.Fatalf("misuse reported where there was none: block %#x of %d bytes, kind %d", uintptr(found.block),
			found.blockBytes, found.what)
	}
	if wrong := r.h.Check(); wrong != "" {
		r.t.Fatalf("after %d steps: %s", r.steps, wrong)
	}
	r.h.ReadStats(&r.stats)
	spans := uint64(0)
	for class := range r.stats.Classes {
		c := &r.stats.Classes[class]
		if c.Blocks != r.counts[class] {
			r.t.Fatalf("after %d steps: %d blocks of class %d are alive, the figures say %d", r.steps,
				r.counts[class], c.BlockBytes, c.Blocks)
		}
		if c.Spans > c.SpansPeak || c.Spans > c.SpansTaken || c.Blocks > c.BlocksPeak {
			r.t.Fatalf("after %d steps: class %d has peaks lower than what there is", r.steps, c.BlockBytes)
		}
		spans += c.Spans * uint64(c.SpanBytes)
	}
	held := r.h.Stats()
	if spans != r.stats.SpanBytes || spans > uint64(held.Used) || r.stats.ResidentBytes > uint64(held.Held) {
		r.t.Fatalf("after %d steps: spans of %d bytes, %d resident, but %d used and %d held", r.steps, spans,
			r.stats.ResidentBytes, held.Used, held.Held)
	}
}

// classIndex is the class of a block's size in the figures.
func (r *rig) classIndex(addr sys.Addr, usable uintptr) int {
	if !r.h.Owns(addr) {
		return isForeign
	}
	if r.h.OwnerOf(addr) == 0 {
		return isLarge
	}
	if r.stats.ClassCount == 0 {
		r.h.ReadStats(&r.stats)
	}
	for class := range r.stats.Classes {
		if uintptr(r.stats.Classes[class].BlockBytes) == usable {
			return class
		}
	}
	r.t.Fatalf("block %#x has %d usable bytes, which no class has", uintptr(addr), usable)
	return -1
}

// adopt takes a block that the heap handed out into the model.
func (r *rig) adopt(addr sys.Addr, asked uintptr, what string) *block {
	if addr == 0 {
		r.t.Fatalf("after %d steps: %s of %d bytes failed", r.steps, what, asked)
	}
	b := &block{addr: addr, asked: asked, usable: r.h.UsableSize(addr)}
	b.class = r.classIndex(addr, b.usable)
	if b.class >= 0 && asked <= heap.SmallMaxBytes && what != "AlignedAlloc" && b.usable != heap.ClassSize(asked) &&
		what != "Realloc" {
		r.t.Fatalf("%s of %d bytes came from class %d, ClassSize says %d", what, asked, b.usable,
			heap.ClassSize(asked))
	}
	if wrong := r.add(b); wrong != "" {
		r.t.Fatalf("after %d steps: %s(%d) = %#x: the block %s", r.steps, what, asked, uintptr(addr), wrong)
	}
	b.fill()
	return b
}

func (r *rig) malloc(cache int, size uintptr) *block {
	b := r.adopt(r.h.Malloc(r.cache(cache), size), size, "Malloc")
	r.step()
	return b
}

func (r *rig) calloc(cache int, count, size uintptr) *block {
	addr := r.h.Calloc(r.cache(cache), count, size)
	if addr != 0 {
		if wrong := firstNotZero(addr, count*size); wrong >= 0 {
			r.t.Fatalf("after %d steps: Calloc(%d, %d) does not read as zero at offset %d", r.steps, count, size, wrong)
		}
	}
	b := r.adopt(addr, count*size, "Calloc")
	r.step()
	return b
}

func (r *rig) aligned(cache int, alignment, size uintptr) *block {
	addr := r.h.AlignedAlloc(r.cache(cache), alignment, size)
	if uintptr(addr)&(alignment-1) != 0 {
		r.t.Fatalf("after %d steps: AlignedAlloc(%d, %d) = %#x", r.steps, alignment, size, uintptr(addr))
	}
	b := r.adopt(addr, size, "AlignedAlloc")
	r.step()
	return b
}

// mustHold fails if somebody wrote into the block.
func (r *rig) mustHold(b *block) {
	if wrong := b.firstWrong(b.addr, b.usable); wrong >= 0 {
		r.t.Fatalf("after %d steps: block %#x of %d bytes was changed at offset %d", r.steps, uintptr(b.addr), b.usable,
			wrong)
	}
	if usable := r.h.UsableSize(b.addr); usable != b.usable {
		r.t.Fatalf("after %d steps: block %#x had %d usable bytes, and has %d now", r.steps, uintptr(b.addr), b.usable,
			usable)
	}
}

func (r *rig) free(cache int, b *block) {
	r.mustHold(b)
	r.remove(b)
	r.h.Free(r.cache(cache), b.addr)
	r.step()
}

// freeAll frees every block by one thread, in the order of the model's list.
func (r *rig) freeAll(cache int) {
	for len(r.live) > 0 {
		r.free(cache, r.live[len(r.live)-1])
	}
}

// realloc resizes a block. The block of the result is returned; b is gone.
func (r *rig) realloc(cache int, b *block, size uintptr) *block {
	r.mustHold(b)
	addr := r.h.Realloc(r.cache(cache), b.addr, size)
	if addr == 0 {
		r.t.Fatalf("after %d steps: Realloc of %d to %d bytes failed", r.steps, b.usable, size)
	}
	kept := b.usable
	if size < kept {
		kept = size
	}
	if wrong := b.firstWrong(addr, kept); wrong >= 0 {
		r.t.Fatalf("after %d steps: Realloc of %d to %d bytes lost the contents at offset %d", r.steps, b.usable, size,
			wrong)
	}
	r.remove(b)
	result := r.adopt(addr, size, "Realloc")
	r.step()
	return result
}

// idle lets time go by and has a thread wait.
func (r *rig) idle(cache int, passed, age uint64) (runs, wake uint64) {
	r.now += passed
	done, wake := r.h.Idle(r.cache(cache), r.now, age)
	r.step()
	if done.Bytes%uint64(sys.PageBytes()) != 0 || done.Runs > 0 && done.Longest < age {
		r.t.Fatalf("after %d steps: Idle released %d runs of %d bytes, the longest free for %d of %d ns", r.steps,
			done.Runs, done.Bytes, done.Longest, age)
	}
	return done.Runs, wake
}

// close frees what is left, ends the threads and demands that nothing remains.
func (r *rig) close() {
	r.freeAll(0)
	for len(r.caches) > 0 {
		r.dropCache(len(r.caches) - 1)
	}
	r.check()
	if r.stats.NormalLiveBytes != 0 {
		r.t.Errorf("nothing is alive, but the figures say %d bytes of the system allocator are", r.stats.NormalLiveBytes)
	}
	if r.stats.ThreadCaches != 0 {
		r.t.Errorf("all threads ended, but the figures say %d have caches", r.stats.ThreadCaches)
	}
	if r.stats.RangeBytes != 0 {
		r.h.Destroy()
	}
	sys.Release(r.memory, heapBytes())
}
