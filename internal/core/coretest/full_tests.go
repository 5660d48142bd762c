package coretest

import "granary/internal/core/heap"

var fullTests = []Test{
	{Name: "a full range passes small requests on to the system allocator", Run: testRangeFull},
	{Name: "when blocks are freed the range serves again", Run: testRangeComesBack},
	{Name: "every call works while the range is full", Run: testFullCalls},
	{Name: "a thread without a cache is given blocks of the pool before the range counts as full", Run: testFullPool},
	{Name: "a thread that starts while the range is full works without a cache", Run: testFullThread},
	{Name: "a heap without a range leaves everything to the system allocator", Run: testNoRange},
	{Name: "a heap in system mode leaves everything to the system allocator", Run: testSystemMode},
	{Name: "the limit refuses what goes beyond it and allows what fits", Run: testLimit},
	{Name: "memory freed under a limit serves other classes", Run: testLimitOtherClass},
	{Name: "memory freed under a limit serves large blocks after a sweep", Run: testLimitLarge},
}

func testRangeFull(t T) {
	r := newRig(t, 1)
	r.every = 997
	for i := 0; i < rangeGranules*32; i++ {
		if b := r.malloc(0, 2048); b.class < 0 {
			t.Fatalf("block %d of %d came from the system allocator", i, rangeGranules*32)
		}
	}
	r.check()
	if r.stats.OverflowMallocs != 0 || r.stats.SpanBytes != rangeGranules*64<<10 {
		t.Errorf("the range is just full, the figures say %d bytes of spans, %d requests over", r.stats.SpanBytes,
			r.stats.OverflowMallocs)
	}
	for i := 0; i < 40; i++ {
		if b := r.malloc(0, uintptr(i)*50); b.class >= 0 {
			t.Fatalf("a block of %d bytes was found in a full range", i*50)
		}
	}
	r.check()
	if r.stats.OverflowMallocs != 40 || r.stats.NormalMallocs != 0 || r.stats.NormalLiveBytes == 0 {
		t.Errorf("40 requests found the range full, the figures say %d; %d normal, %d bytes", r.stats.OverflowMallocs,
			r.stats.NormalMallocs, r.stats.NormalLiveBytes)
	}
	r.close()
}

// firstInRange is the block alive with the lowest address of the range.
func (r *rig) firstInRange() *block {
	for _, b := range r.sorted {
		if b.class >= 0 {
			return b
		}
	}
	r.t.Fatalf("no block lies in the range")
	return nil
}

func testRangeComesBack(t T) {
	r := newRig(t, 1)
	r.every = 997
	r.fillRange(0, 2048)
	over := r.malloc(0, 2048)
	r.free(0, r.firstInRange())
	if b := r.malloc(0, 2048); b.class < 0 {
		t.Errorf("a block of the range is free, but the system allocator was asked")
	}
	r.free(0, over)
	// A whole span for another class, and more blocks than a thread and the pool keep.
	for i := 0; i < 512; i++ {
		r.free(0, r.firstInRange())
	}
	r.idle(0, second, 0)
	if b := r.malloc(0, 64); b.class < 0 {
		t.Errorf("an empty span is free, but the system allocator was asked")
	}
	r.freeAll(0)
	r.idle(0, second, 0)
	r.check()
	if r.stats.ResidentBytes != 0 {
		t.Errorf("all is free and released, but %d bytes are resident", r.stats.ResidentBytes)
	}
	if count := r.fillRange(0, 1024); count < rangeGranules*64*7/8 {
		t.Errorf("the range served %d blocks of 1024 bytes once it was empty again", count)
	}
	r.close()
}

func testFullCalls(t T) {
	r := newRig(t, 2)
	r.every = 997
	r.fillRange(0, 32768)
	r.fillRange(0, 2048)
	random := newRandom(5)
	var over []*block
	for i := 0; i < 300; i++ {
		cache := i % 3
		switch random.Below(6) {
		case 0:
			over = append(over, r.malloc(cache, random.size(30000)))
		case 1:
			over = append(over, r.calloc(cache, 2, random.size(15000)))
		case 2:
			over = append(over, r.aligned(cache, 16<<random.Below(9), random.size(20000)))
		case 3:
			if len(over) > 0 {
				at := random.Below(uintptr(len(over)))
				over[at] = r.realloc(cache, over[at], random.size(60000)+1)
			}
		default:
			if len(over) > 0 {
				at := random.Below(uintptr(len(over)))
				r.free(cache, over[at])
				over = append(over[:at], over[at+1:]...)
			}
		}
	}
	r.check()
	if r.stats.OverflowMallocs < 50 {
		t.Errorf("only %d requests found the range full", r.stats.OverflowMallocs)
	}
	r.idle(0, second, second)
	r.close()
}

func testFullPool(t T) {
	r := newRig(t, 1)
	r.every = 997
	r.fillRange(0, 2048)
	in, out, _ := r.pool(2048)
	for i := 0; i < 1000 && in == out; i++ { // until the bin is full and hands a batch over
		r.free(0, r.firstInRange())
		in, out, _ = r.pool(2048)
	}
	if in != out+1 {
		t.Fatalf("%d batches came and %d went, so none waits", in, out)
	}
	if b := r.malloc(1, 2048); b.class < 0 {
		t.Errorf("a batch of free blocks waits in the pool, but the system allocator was asked")
	}
	r.close()
}

func testFullThread(t T) {
	r := newRig(t, 1)
	r.every = 997
	for len(r.caches) < 16 {
		r.newCache()
	}
	r.fillRange(0, 32768)
	r.fillRange(0, 2048)
	for len(r.caches) < 40 {
		r.newCache()
	}
	last := len(r.caches) - 1
	if r.caches[last] != noCache(t) {
		t.Fatalf("a thread got a cache although the range is full")
	}
	b := r.realloc(last, r.malloc(last, 100), 3000)
	r.free(last, b)
	r.free(last, r.sorted[0])
	r.dropCache(last)
	r.freeAll(0)
	r.idle(0, second, 0)
	r.newCache()
	if r.caches[len(r.caches)-1] == noCache(t) {
		t.Errorf("a thread got no cache although the range is empty again")
	}
	r.close()
}

func testNoRange(t T) {
	r := newRigOf(t, 1<<20, 1, 0, 0)
	systemOnly(t, r)
}

func testSystemMode(t T) {
	r := newRigOf(t, leastRange, 1, heap.ModeSystem, 0)
	systemOnly(t, r)
}

func systemOnly(t T, r *rig) {
	if r.caches[0] != noCache(t) {
		t.Errorf("a thread got a cache of a heap that has no range")
	}
	for i := uintptr(0); i < 60; i++ {
		r.malloc(0, i*100)
		r.calloc(0, i, 20)
		r.aligned(0, 256, i*10)
		r.realloc(0, r.live[i], i*900+1)
		if i%2 == 0 {
			r.free(0, r.live[i/2])
		}
	}
	for _, b := range r.live {
		if b.class >= 0 {
			t.Fatalf("a block has a class")
		}
	}
	r.idle(0, 0, second)
	r.idle(0, second, 0)
	r.close()
}

func testLimit(t T) {
	const limit = 4 << 20
	r := newRigOf(t, leastRange, 1, 0, limit)
	r.every = 101
	small := 0
	for ; small < 100000; small++ {
		addr := r.h.Malloc(r.cache(0), 1000)
		if addr == 0 {
			break
		}
		r.adopt(addr, 1000, "Malloc")
	}
	r.check()
	if bytes := small * 1024; bytes > limit || bytes < limit/2 {
		t.Errorf("a limit of %d bytes let %d bytes of small blocks through", limit, bytes)
	}
	if r.stats.LimitBytes != limit || r.stats.LimitFailures != 1 {
		t.Errorf("one request was refused, the figures say limit %d, %d failures", r.stats.LimitBytes,
			r.stats.LimitFailures)
	}
	if got := r.h.Malloc(r.cache(0), limit/2); got != 0 {
		t.Errorf("a large block was allowed beyond the limit")
	}
	before := r.live[0]
	if got := r.h.Realloc(r.cache(0), before.addr, limit); got != 0 {
		t.Errorf("a block was allowed to grow beyond the limit")
	}
	r.mustHold(before)
	r.free(0, before)
	r.malloc(0, 1000) // the block just freed
	r.freeAll(0)
	r.idle(0, second, 0)
	for i := 0; i < 30; i++ {
		r.free(0, r.malloc(0, limit/3)) // large blocks that are freed do not count
	}
	large := r.malloc(0, limit/2)
	if got := r.h.Calloc(r.cache(0), 1, limit/2+limit/4); got != 0 {
		t.Errorf("two large blocks together went beyond the limit")
	}
	r.free(0, r.realloc(0, large, limit/2+4096))
	r.close()
}

func testLimitOtherClass(t T) {
	r := newRigOf(t, leastRange, 1, 0, 2<<20)
	r.every = 101
	for {
		addr := r.h.Malloc(r.cache(0), 1000)
		if addr == 0 {
			break
		}
		r.adopt(addr, 1000, "Malloc")
	}
	half := len(r.live) * 1024 / 2
	r.freeAll(0)
	for bytes := 0; bytes < half; bytes += 512 {
		addr := r.h.Malloc(r.cache(0), 512)
		if addr == 0 {
			t.Fatalf("%d bytes were freed, but only %d can be had of another class", half*2, bytes)
		}
		r.adopt(addr, 512, "Malloc")
	}
	r.close()
}

func testLimitLarge(t T) {
	r := newRigOf(t, leastRange, 1, 0, 2<<20)
	r.every = 101
	for {
		addr := r.h.Malloc(r.cache(0), 1000)
		if addr == 0 {
			break
		}
		r.adopt(addr, 1000, "Malloc")
	}
	r.freeAll(0)
	r.idle(0, second, 0)
	r.free(0, r.malloc(0, 1<<20))
	r.close()
}
