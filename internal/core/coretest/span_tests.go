package coretest

import "granary/internal/core/heap"

var spanTests = []Test{
	{Name: "an empty span serves other classes", Run: testSpanChangesClass},
	{Name: "one empty span stays with its class", Run: testOneSpanStays},
	{Name: "the fullest span is used first and its lowest block", Run: testFullestFirst},
	{Name: "a block never used before is not cleared again", Run: testFreshNotCleared},
	{Name: "a block used before is cleared for calloc", Run: testUsedIsCleared},
	{Name: "the heap returns to no blocks after any order of frees", Run: testFreeOrders},
}

// fillRange allocates blocks of one size until the range has no more for it, and returns how many there were. The
// last allocation went to the system allocator and is freed.
func (r *rig) fillRange(cache int, size uintptr) int {
	count := 0
	for {
		b := r.malloc(cache, size)
		if b.class < 0 {
			r.free(cache, b)
			return count
		}
		count++
	}
}

func testSpanChangesClass(t T) {
	r := newRig(t, 1)
	r.every = 499
	const groups = rangeGranules / 4
	for _, size := range []uintptr{2048, 4096, 32768, 1024, 20480, 512} {
		spanBytes := uintptr(64 << 10)
		spans := uintptr(groups * 4)
		if size > heap.TinyMaxBytes {
			spanBytes, spans = 256<<10, groups
		}
		count := uintptr(r.fillRange(0, size))
		// Tables, caches and the spans that other classes keep take some.
		if least := (spans - spans/8) * (spanBytes / size); count < least {
			t.Errorf("size %d: %d blocks fit the range, at least %d should", size, count, least)
		}
		r.freeAll(0)
		r.idle(0, second, 0) // blocks in the cache and in batches go to their spans
		if now, _ := r.spans(size); now > 1 {
			t.Errorf("size %d: all blocks are free, but the class has %d spans", size, now)
		}
	}
	r.close()
}

func testOneSpanStays(t T) {
	r := newRig(t, 1)
	r.every = 11
	for _, size := range []uintptr{2048, 8192} {
		perSpan := 32
		for i := 0; i < perSpan; i++ {
			r.malloc(0, size)
		}
		_, before := r.spans(size)
		for round := 0; round < 20; round++ {
			extra := r.malloc(0, size)
			r.free(0, extra)
			r.dropCache(0)
			r.newCache()
		}
		now, taken := r.spans(size)
		if taken > before+1 || now > 2 {
			t.Errorf("size %d: going over the end of a span and back 20 times took %d spans", size, taken-before)
		}
		r.freeAll(0)
		r.idle(0, second, 0) // the pool's batches go to their spans
		if now, _ := r.spans(size); now != 1 {
			t.Errorf("size %d: %d spans stay with the class", size, now)
		}
	}
	r.close()
}

func testFullestFirst(t T) {
	r := newRig(t, 0) // threads without a cache take single blocks from spans
	var blocks []*block
	for i := 0; i < 3*32; i++ {
		blocks = append(blocks, r.malloc(0, 2048))
	}
	if now, _ := r.spans(2048); now != 3 {
		t.Fatalf("96 blocks of 2048 bytes lie in %d spans", now)
	}
	// The first span keeps 2 blocks, the second 20, the third 9.
	for i := 0; i < 30; i++ {
		r.free(0, blocks[i])
	}
	for i := 31; i >= 20; i-- {
		r.free(0, blocks[32+i])
	}
	for i := 0; i < 23; i++ {
		r.free(0, blocks[64+i])
	}
	for i := 20; i < 32; i++ {
		if b := r.malloc(0, 2048); b.addr != blocks[32+i].addr {
			t.Fatalf("the fullest span's lowest free block is %#x, but %#x was taken", uintptr(blocks[32+i].addr),
				uintptr(b.addr))
		}
	}
	for i := 0; i < 23; i++ {
		if b := r.malloc(0, 2048); b.addr != blocks[64+i].addr {
			t.Fatalf("the next span's lowest free block is %#x, but %#x was taken", uintptr(blocks[64+i].addr),
				uintptr(b.addr))
		}
	}
	if b := r.malloc(0, 2048); b.addr != blocks[0].addr {
		t.Errorf("the emptiest span does not come last")
	}
	r.close()
}

func testFreshNotCleared(t T) {
	r := newRig(t, 0)
	first := r.calloc(0, 1, 1024)
	next := first.addr + 1024
	(next + 512).SetWord(77) // behind the heap's back
	addr := r.h.Calloc(r.cache(0), 1, 1024)
	if addr != next || (next+512).Word() != 77 {
		t.Errorf("a block that never was used was cleared all the same, or not taken")
	}
	r.adopt(addr, 1024, "Calloc")
	r.close()
}

func testUsedIsCleared(t T) {
	r := newRig(t, 2)
	r.every = 17
	for _, size := range []uintptr{1, 8, 9, 16, 24, 100, 2048, 5000, 32768} {
		for round := 0; round < 3; round++ {
			for i := 0; i < 70; i++ {
				r.malloc(0, size)
			}
			for len(r.live) > 0 {
				r.free(len(r.live)%3, r.live[0]) // some by a thread without a cache
			}
			for i := 0; i < 70; i++ {
				r.calloc(round, 1, size)
			}
			r.freeAll(1)
		}
	}
	r.close()
}

func testFreeOrders(t T) {
	orders := []func(i, n int) int{
		func(i, n int) int { return 0 },
		func(i, n int) int { return n - 1 },
		func(i, n int) int { return n / 2 },
		func(i, n int) int { return i * 7919 % n },
	}
	for _, order := range orders {
		r := newRig(t, 1)
		r.every = 41
		for _, size := range []uintptr{16, 80, 640, 2560, 28672} {
			for n := 200; n > 0; n-- {
				r.malloc(0, size)
			}
			for i := 0; len(r.sorted) > 0; i++ {
				r.free(0, r.sorted[order(i, len(r.sorted))])
			}
		}
		r.close()
	}
}
