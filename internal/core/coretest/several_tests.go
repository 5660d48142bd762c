package coretest

import "granary/internal/core/heap"

var severalTests = []Test{
	{Name: "several heaps live side by side", Run: testSeveralHeaps},
	{Name: "a heap made where another was is empty", Run: testHeapAgain},
	{Name: "fork leaves the parent as it was", Run: testForkParent},
	{Name: "the child of a fork has one thread and all blocks", Run: testForkChild},
	{Name: "the child of a thread without a cache has no cache", Run: testForkChildWithoutCache},
}

func testSeveralHeaps(t T) {
	rigs := []*rig{newRig(t, 1), newRig(t, 2), newRig(t, 3)}
	random := newRandom(3)
	for i := 0; i < 1500; i++ {
		r := rigs[random.Below(3)]
		r.every = 17
		cache := int(random.Below(4))
		if len(r.live) == 0 || random.Below(3) > 0 {
			r.malloc(cache, random.size(40000))
		} else {
			r.free(cache, r.live[random.Below(uintptr(len(r.live)))])
		}
	}
	for i, r := range rigs {
		for j, other := range rigs {
			if i == j {
				continue
			}
			for _, b := range r.live {
				if b.class >= 0 && other.h.Owns(b.addr) {
					t.Fatalf("a block of heap %d lies in the range of heap %d", i, j)
				}
			}
		}
	}
	for _, r := range rigs {
		r.close()
	}
}

func testHeapAgain(t T) {
	for i := 0; i < 10; i++ {
		r := newRig(t, 2)
		r.malloc(0, 100)
		r.malloc(1, 50000)
		r.check()
		if r.stats.NormalMallocs != 1 || r.stats.SpanBytes != 64<<10 {
			t.Errorf("heap %d knows of blocks of the one before", i)
		}
		r.close()
	}
}

// mixed leaves blocks of all kinds in lists, batches and spans.
func (r *rig) mixed() {
	random := newRandom(21)
	for i := 0; i < 400; i++ {
		r.malloc(int(random.Below(3)), random.size(50000))
		if random.Below(2) == 0 {
			r.free(int(random.Below(3)), r.live[random.Below(uintptr(len(r.live)))])
		}
	}
	for i := 0; i < 200; i++ {
		r.malloc(0, 64)
	}
	for i := 0; i < 190; i++ {
		r.free(1, r.live[len(r.live)-1])
	}
}

func testForkParent(t T) {
	r := newRig(t, 2)
	r.every = 13
	r.mixed()
	r.check()
	before := r.stats
	for i := 0; i < 3; i++ {
		r.h.ForkPrepare()
		r.h.ForkParent()
	}
	r.check()
	if r.stats != before {
		t.Errorf("preparing a fork changed the heap")
	}
	r.mixed()
	r.close()
}

func testForkChild(t T) {
	r := newRig(t, 3)
	r.every = 13
	r.mixed()
	r.h.ForkPrepare()
	r.h.ForkChild(r.caches[1])
	r.caches = []heap.Cache{r.caches[1]}
	r.check()
	if r.stats.ThreadCaches != 1 || r.stats.ThreadCachesPeak != 1 {
		t.Errorf("the child has %d caches, at most %d", r.stats.ThreadCaches, r.stats.ThreadCachesPeak)
	}
	r.mixed()
	r.newCache()
	if r.caches[1] == r.caches[0] {
		t.Errorf("the child's second thread has the cache of its first")
	}
	r.mixed()
	r.close()
}

func testForkChildWithoutCache(t T) {
	r := newRig(t, 2)
	r.every = 13
	r.mixed()
	r.h.ForkPrepare()
	r.h.ForkChild(noCache(t))
	r.caches = nil
	r.check()
	if r.stats.ThreadCaches != 0 {
		t.Errorf("the child has %d caches", r.stats.ThreadCaches)
	}
	r.mixed()
	r.close()
}
