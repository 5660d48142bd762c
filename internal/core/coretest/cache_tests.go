package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

var cacheTests = []Test{
	{Name: "a freed block is used again before a new one", Run: testReuse},
	{Name: "a full cache hands batches to the shared pool and others take them", Run: testBatches},
	{Name: "when the pool has its fill blocks go back to their spans", Run: testPoolFull},
	{Name: "a thread that only frees what another allocates does not make the heap grow", Run: testOneWay},
	{Name: "a thread that ends hands over every block", Run: testThreadEnds},
	{Name: "a new thread takes over the cache of one that ended", Run: testCacheReuse},
	{Name: "more threads than one group has room for get caches", Run: testManyCaches},
	{Name: "a thread without a cache is served too", Run: testWithoutCache},
	{Name: "the figures count requests and bytes by class", Run: testCounts},
}

func testReuse(t T) {
	r := newRig(t, 1)
	for _, size := range []uintptr{16, 64, 1000, 32768} {
		b := r.malloc(0, size)
		addr := b.addr
		for i := 0; i < 50; i++ {
			r.free(0, b)
			if b = r.malloc(0, size); b.addr != addr {
				t.Fatalf("size %d: the block freed last is not the next one", size)
			}
		}
	}
	r.close()
}

// spans is the number of spans, and the number ever taken, of the class of that size.
func (r *rig) spans(size uintptr) (now, taken uint64) {
	r.check()
	for i := range r.stats.Classes {
		if uintptr(r.stats.Classes[i].BlockBytes) == size {
			return r.stats.Classes[i].Spans, r.stats.Classes[i].SpansTaken
		}
	}
	r.t.Fatalf("there is no class %d", size)
	return 0, 0
}

// pool is the number of batches that went into the shared pool and out of it, and the blocks cached, of a class.
func (r *rig) pool(size uintptr) (in, out, cached uint64) {
	r.check()
	for i := range r.stats.Classes {
		if uintptr(r.stats.Classes[i].BlockBytes) == size {
			return r.stats.Classes[i].BatchesIn, r.stats.Classes[i].BatchesOut, r.stats.Classes[i].BlocksCached
		}
	}
	r.t.Fatalf("there is no class %d", size)
	return 0, 0, 0
}

func testBatches(t T) {
	r := newRig(t, 2)
	r.every = 7
	for i := 0; i < 300; i++ {
		r.malloc(0, 64)
	}
	before, _ := r.spans(64)
	r.freeAll(0)
	in, out, cached := r.pool(64)
	if in == 0 || out != 0 || cached < 200 {
		t.Errorf("300 blocks freed: %d batches in, %d out, %d blocks cached", in, out, cached)
	}
	for i := 0; i < 200; i++ {
		r.malloc(1, 64)
	}
	_, out, _ = r.pool(64)
	if out == 0 {
		t.Errorf("the other thread took no batch")
	}
	if now, _ := r.spans(64); now != before {
		t.Errorf("%d spans became %d, though enough blocks waited in the pool", before, now)
	}
	r.close()
}

func testPoolFull(t T) {
	r := newRig(t, 1)
	r.every = 501
	for i := 0; i < 20000; i++ {
		r.malloc(0, 128)
	}
	full, _ := r.spans(128)
	r.freeAll(0)
	left, _ := r.spans(128)
	_, _, cached := r.pool(128)
	if cached*128 > 5<<18 {
		t.Errorf("caches and pool hold %d blocks of 128 bytes back", cached)
	}
	if full < 39 || left > full/2 {
		t.Errorf("20000 blocks filled %d spans, and %d are left when all are free", full, left)
	}
	r.close()
}

func testOneWay(t T) {
	r := newRig(t, 2)
	r.every = 101
	for round := 0; round < 60; round++ {
		for i := 0; i < 100; i++ {
			r.malloc(0, 256)
		}
		r.freeAll(1)
	}
	r.check()
	for i := range r.stats.Classes {
		if c := &r.stats.Classes[i]; c.BlockBytes == 256 && c.SpansPeak > 4 {
			t.Errorf("100 blocks of 256 bytes at a time needed %d spans", c.SpansPeak)
		}
	}
	r.close()
}

func testThreadEnds(t T) {
	r := newRig(t, 2)
	r.every = 13
	for size := uintptr(16); size <= 32768; size *= 2 {
		for i := 0; i < 40; i++ {
			r.malloc(0, size)
		}
	}
	for len(r.live) > 100 {
		r.free(0, r.live[0])
	}
	r.dropCache(0)
	r.check()
	cached := uint64(0)
	for i := range r.stats.Classes {
		cached += r.stats.Classes[i].BlocksCached
	}
	in := uint64(0)
	for i := range r.stats.Classes {
		in += r.stats.Classes[i].BatchesIn
	}
	if in == 0 && cached != 0 {
		t.Errorf("the thread ended, but %d blocks are still in a cache", cached)
	}
	if r.stats.ThreadCaches != 1 || r.stats.ThreadCachesPeak != 2 {
		t.Errorf("one of two threads ended, the figures say %d of %d", r.stats.ThreadCaches, r.stats.ThreadCachesPeak)
	}
	r.freeAll(0) // what the thread left behind is freed by another
	r.close()
}

func testCacheReuse(t T) {
	r := newRig(t, 1)
	second := r.newCache()
	address := r.caches[second]
	r.check()
	tables := r.stats.MetadataBytes
	for i := 0; i < 100; i++ {
		b := r.malloc(1, 48)
		r.free(1, b)
		r.dropCache(1)
		r.newCache()
	}
	r.check()
	if r.caches[1] != address || r.stats.MetadataBytes != tables {
		t.Errorf("threads that come and go take new caches: %d bytes of tables became %d", tables, r.stats.MetadataBytes)
	}
	r.close()
}

func testManyCaches(t T) {
	r := newRig(t, 0)
	seen := map[uintptr]bool{}
	for i := 0; i < 100; i++ {
		r.newCache()
		if r.caches[i] == noCache(t) || seen[uintptr(r.caches[i])] {
			t.Fatalf("thread %d has cache %#x, which is none or another's", i, uintptr(r.caches[i]))
		}
		seen[uintptr(r.caches[i])] = true
	}
	for i := range r.caches {
		r.malloc(i, uintptr(i)*10)
	}
	for i := range r.caches {
		r.free(i, r.live[0])
	}
	r.check()
	if r.stats.ThreadCaches != 100 {
		t.Errorf("100 threads have caches, the figures say %d", r.stats.ThreadCaches)
	}
	r.close()
}

func testWithoutCache(t T) {
	r := newRig(t, 0)
	const none = 0
	for i := uintptr(0); i < 400; i++ {
		r.malloc(none, i*37%3000)
		r.calloc(none, 3, i*11%700)
		if i%3 == 0 {
			r.realloc(none, r.live[int(i)], i*53%2000+1)
		}
		if i%2 == 0 {
			r.free(none, r.live[int(i)/2])
		}
	}
	r.aligned(none, 4096, 100)
	if at := firstNotZero(sys.Addr(noCache(t)), heap.NoCacheBytes); at >= 0 {
		t.Errorf("the cache of zeros was written to at offset %d", at)
	}
	r.freeAll(none)
	if _, _, cached := r.pool(64); cached != 0 {
		t.Errorf("%d blocks are cached, but there is no cache", cached)
	}
	r.close()
}

func testCounts(t T) {
	r := newRig(t, 2)
	for i := 0; i < 90; i++ {
		r.malloc(i&1, 40)
		r.calloc(i&1, 4, 11)
	}
	for i := 0; i < 10; i++ {
		r.free(0, r.live[0])
		r.malloc(0, 48)
	}
	r.check()
	c := &r.stats.Classes[2]
	if c.BlockBytes != 48 || c.Mallocs != 190 || c.AskedBytes != 90*40+90*44+10*48 {
		t.Errorf("class %d: %d requests of %d bytes counted, want 190 of %d", c.BlockBytes, c.Mallocs, c.AskedBytes,
			90*40+90*44+10*48)
	}
	if c.Blocks != 180 || c.BlocksPeak < 180 {
		t.Errorf("class 48: %d blocks alive, %d at most; want 180", c.Blocks, c.BlocksPeak)
	}
	resident := r.stats.ResidentBytes
	if r.stats.SpanBytes != 64<<10 || resident < 180*48 || resident > r.stats.SpanBytes {
		t.Errorf("%d bytes of spans, %d resident; want one span", r.stats.SpanBytes, resident)
	}
	r.close()
}
