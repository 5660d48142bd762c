//go:build gccgo

package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// This file: what happens when the system refuses something, and when a signal handler interrupts the core and calls
// it. The gccgo build's doubles can make a call fail, and its locks know their holders.

// The calls that granary_test_fail can make fail.
const (
	callReserve = iota
	callCommit
	callDecommit
	callSystem
)

// failCalls makes a call fail times times, after it has worked after more times.
//
//extern granary_test_fail
func failCalls(call, after, times int)

// failedCalls is how often a call was made to fail since failCalls.
//
//extern granary_test_failed
func failedCalls(call int) int

const always = 1 << 30

var compilerTests = []Test{
	{Name: "a range that the system refuses is asked for in half the size", Run: testReserveRefused},
	{Name: "a heap works when the system refuses to commit at any point", Run: testCommitRefused},
	{Name: "a heap whose range could not grow for a while comes back", Run: testCommitRefusedForAWhile},
	{Name: "memory that the system does not take back is kept and offered again", Run: testDecommitRefused},
	{Name: "a request that the system allocator refuses fails and changes nothing", Run: testSystemRefused},
	{Name: "a signal handler inside the core gets memory and can free", Run: testInsideTheCore},
	{Name: "blocks freed inside the core are free afterwards", Run: testDeferredFrees},
	{Name: "a thread that starts, waits or ends inside the core does no harm", Run: testThreadInsideTheCore},
}

func testReserveRefused(t T) {
	failCalls(callReserve, 1, 2) // the first call is for the rig's own memory
	r := newRigOf(t, 128<<20, 1, 0, 0)
	r.check()
	if r.stats.RangeBytes != 32<<20 || failedCalls(callReserve) != 2 {
		t.Errorf("128 MiB and 64 MiB were refused, and the range is %d bytes", r.stats.RangeBytes)
	}
	r.malloc(0, 1000)
	r.close()

	memory := memoryFor(t, heapBytes())
	h := (*heap.Heap)(memory.Pointer())
	failCalls(callReserve, 0, always)
	if h.Init(leastRange, noCache(t), 0, 0) {
		t.Errorf("Init says that there is a range although none was given")
	}
	failCalls(callReserve, 0, 0)
	block := h.Malloc(h.NewCache(), 100)
	if block == 0 || h.Owns(block) {
		t.Errorf("without a range Malloc gave %#x", uintptr(block))
	}
	h.Free(noCache(t), block)
	sys.Release(memory, heapBytes())
}

func testCommitRefused(t T) {
	// Each round lets one commit more through, until a round needs no more.
	for after, refused := 0, true; refused; after++ {
		memory := memoryFor(t, heapBytes())
		h := (*heap.Heap)(memory.Pointer())
		failCalls(callCommit, after, always)
		started := h.Init(leastRange, noCache(t), 0, 0)
		if !started {
			if after > 8 {
				t.Fatalf("Init failed because the commit after %d others did", after)
			}
			if h.Owns(memory) || h.Committed() != 0 {
				t.Errorf("a heap that did not start owns addresses")
			}
			failCalls(callCommit, 0, 0)
			sys.Release(memory, heapBytes())
			continue
		}
		r := &rig{t: t, h: h, memory: memory, every: 101, now: 10 * second}
		r.newCache()
		for i := 0; i < 900; i++ {
			r.malloc(0, uintptr(i*7%9000))
			if i%3 == 0 {
				r.calloc(0, 1, uintptr(i*5%2000))
			}
			if i%4 == 0 {
				r.realloc(0, r.live[i%len(r.live)], uintptr(i*11%12000)+1)
			}
		}
		refused = failedCalls(callCommit) != 0
		if !refused && after < 8 {
			t.Errorf("only %d commits were made: the test is too small", after)
		}
		r.check()
		if refused != (r.stats.OverflowMallocs != 0) {
			t.Errorf("%d commits were refused, and %d requests went to the system allocator", failedCalls(callCommit),
				r.stats.OverflowMallocs)
		}
		r.close()
		failCalls(callCommit, 0, 0)
	}
}

func testCommitRefusedForAWhile(t T) {
	r := newRig(t, 1)
	r.every = 101
	failCalls(callCommit, 0, always)
	count := r.fillRange(0, 2048)
	failCalls(callCommit, 0, 0)
	if b := r.malloc(0, 2048); b.class < 0 {
		t.Errorf("the system gives memory again, but the range does not grow")
	}
	if more := r.fillRange(0, 2048); count+more < rangeGranules*32*7/8 {
		t.Errorf("%d blocks fit before and %d after the system gave memory again", count, more)
	}
	r.close()
}

func testDecommitRefused(t T) {
	r := newRig(t, 1)
	r.every = 101
	r.burst(0, 2048, 900)
	r.idle(0, 0, second)
	dirty := r.dirtyBytes()
	failCalls(callDecommit, 0, always)
	if runs, wake := r.idle(0, second, second); runs != 0 || wake == 0 || r.dirtyBytes() != dirty {
		t.Errorf("the system took nothing back: %d runs released, %d bytes left of %d, wake %d", runs, r.dirtyBytes(),
			dirty, wake)
	}
	if failedCalls(callDecommit) == 0 {
		t.Fatalf("the sweep did not try to give memory back")
	}
	r.check()
	if r.stats.SpansReleased != 0 || r.stats.ReleasedBytes != 0 {
		t.Errorf("the figures count %d spans of %d bytes that were not released", r.stats.SpansReleased,
			r.stats.ReleasedBytes)
	}
	for i := 0; i < 900; i++ {
		r.calloc(0, 1, 2048) // memory that is still dirty must not count as zero
	}
	r.freeAll(0)
	r.idle(0, second, 0)
	failCalls(callDecommit, 0, 0)
	for i := 0; i < 3; i++ {
		r.idle(0, second, second)
	}
	r.check()
	if r.dirtyBytes() != 0 || r.stats.ReleasedBytes < uint64(dirty) {
		t.Errorf("the system takes memory again, but %d bytes are left, %d were released", r.dirtyBytes(),
			r.stats.ReleasedBytes)
	}
	r.close()
}

func testSystemRefused(t T) {
	r := newRig(t, 1)
	r.every = 101
	r.fillRange(0, 32768)
	r.fillRange(0, 2048)
	small, over := r.sorted[0], r.malloc(0, 3000)
	failCalls(callSystem, 0, always)
	for _, cache := range []int{0, 1} {
		c := r.cache(cache)
		for _, got := range []sys.Addr{
			r.h.Malloc(c, 16), r.h.Malloc(c, 1000000), r.h.Calloc(c, 3, 100), r.h.Calloc(c, 1, 1000000),
			r.h.AlignedAlloc(c, 4096, 100), r.h.AlignedAlloc(c, 64, 1000000), r.h.Realloc(c, small.addr, 1000000),
			r.h.Realloc(c, over.addr, 1000000), r.h.Realloc(c, over.addr, 10),
		} {
			if got != 0 {
				t.Errorf("there is no memory, but a call gave %#x", uintptr(got))
			}
		}
	}
	if failedCalls(callSystem) < 10 {
		t.Errorf("the system allocator was asked %d times", failedCalls(callSystem))
	}
	failCalls(callSystem, 0, 0)
	r.mustHold(small)
	r.mustHold(over)
	r.check()
	r.realloc(0, over, 5000)
	r.close()
}

// testInsideTheCore holds all locks, as a thread does that a signal interrupts at the worst moment, and calls the heap.
func testInsideTheCore(t T) {
	r := newRig(t, 2)
	r.every = 0
	r.mixed()
	for round := 0; round < 3; round++ {
		r.h.ForkPrepare()
		random := newRandom(uint64(round) + 1)
		for i := 0; i < 400; i++ {
			cache := int(random.Below(3))
			switch random.Below(5) {
			case 0:
				r.malloc(cache, random.size(40000))
			case 1:
				r.calloc(cache, 1, random.size(3000))
			case 2:
				r.realloc(cache, r.live[random.Below(uintptr(len(r.live)))], random.size(3000)+1)
			case 3:
				r.aligned(cache, 64, random.size(3000))
			case 4:
				r.free(cache, r.live[random.Below(uintptr(len(r.live)))])
			}
		}
		r.h.ForkParent()
		r.idle(0, second, 0) // frees what had to wait
		r.check()
		r.mixed()
	}
	r.close()
}

func testDeferredFrees(t T) {
	r := newRig(t, 1)
	r.every = 0
	for i := 0; i < 2000; i++ {
		r.malloc(0, 256)
	}
	r.h.ForkPrepare()
	for i := 0; i < 500; i++ {
		r.free(0, r.live[0]) // no more than the thread's list holds can be done now
		r.free(1, r.live[0])
	}
	r.h.ForkParent()
	r.idle(0, second, second)
	r.check() // compares the blocks alive with the figures
	// Without a sweep the next free that finds its list full does it.
	r.h.ForkPrepare()
	for i := 0; i < 300; i++ {
		r.free(0, r.live[0])
	}
	r.h.ForkParent()
	for i := 0; i < 200; i++ {
		r.free(0, r.live[0])
	}
	r.check()
	r.close()
}

func testThreadInsideTheCore(t T) {
	r := newRig(t, 2)
	r.every = 0
	for i := 0; i < 200; i++ {
		r.malloc(1, 64)
	}
	r.h.ForkPrepare()
	if c := r.h.NewCache(); c != noCache(t) {
		t.Errorf("a thread got cache %#x while the registry is locked", uintptr(c))
	}
	if done, _ := r.h.Idle(r.caches[0], r.now, 0); done.Runs != 0 {
		t.Errorf("a sweep inside the core released %d runs", done.Runs)
	}
	r.h.ForkParent()
	r.check()
	r.idle(0, second, 0)
	r.newCache()
	if r.caches[2] == noCache(t) {
		t.Errorf("a thread got no cache afterwards")
	}
	r.close()
}
