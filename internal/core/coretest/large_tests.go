package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

var largeTests = []Test{
	{Name: "large blocks lie in the range and are counted until they are freed", Run: testLargeCounted},
	{Name: "a heap can leave large blocks to the system allocator", Run: testLargeSystem},
	{Name: "large blocks that do not fit the range come from the system allocator", Run: testLargeOverflow},
	{Name: "memory of a large block is used again", Run: testLargeReused},
	{Name: "large blocks of calloc read as zero on memory used before", Run: testLargeZero},
	{Name: "a large block grows where it is if there is room", Run: testLargeGrows},
	{Name: "a large block that shrinks gives its memory back", Run: testLargeShrinks},
	{Name: "large blocks have every alignment", Run: testLargeAligned},
	{Name: "a large block that is free for a second is released", Run: testLargeReleased},
	{Name: "large blocks and spans share the range", Run: testLargeShares},
	{Name: "freeing a large block twice is reported", Run: testLargeTwice},
	{Name: "a pointer into a large block is reported", Run: testLargeInside},
}

func testLargeCounted(t T) {
	r := newRigOf(t, 64<<20, 2, 0, 0)
	sum := uint64(0)
	for size := uintptr(heap.SmallMaxBytes + 1); size < 1<<20; size = size*5/3 + 1 {
		r.malloc(0, size)
		r.calloc(1, 1, size)
		r.malloc(2, size) // without a cache
		sum += 3 * uint64(size)
	}
	count := uint64(len(r.live))
	if r.stats.NormalMallocs != count || r.stats.NormalBytes != sum || r.stats.NormalLiveBytes < sum {
		t.Errorf("%d blocks of %d bytes, the figures say %d of %d, %d alive", count, sum, r.stats.NormalMallocs,
			r.stats.NormalBytes, r.stats.NormalLiveBytes)
	}
	for _, b := range r.live {
		if b.class != isLarge {
			t.Errorf("a block of %d bytes does not lie in the range", b.asked)
		}
	}
	r.freeAll(1) // another thread than the one that allocated
	if r.stats.NormalFrees != count || r.stats.NormalLiveBytes != 0 {
		t.Errorf("all large blocks are free, the figures say %d, and %d bytes alive", r.stats.NormalFrees,
			r.stats.NormalLiveBytes)
	}
	r.close()
}

func testLargeSystem(t T) {
	r := newRigOf(t, leastRange, 1, heap.ModeNormalSystem, 0)
	for _, size := range []uintptr{heap.SmallMaxBytes + 1, 100000, 3 << 20} {
		for _, b := range []*block{r.malloc(0, size), r.calloc(0, 1, size), r.aligned(0, 4096, size)} {
			if b = r.realloc(0, b, size*2); b.class != isForeign {
				t.Errorf("a block of %d bytes lies in the range", size)
			}
		}
	}
	if b := r.malloc(0, heap.SmallMaxBytes); b.class < 0 {
		t.Errorf("a small block has no class")
	}
	r.close()
}

func testLargeOverflow(t T) {
	r := newRig(t, 1)
	var inside int
	for i := 0; i < 24; i++ {
		if b := r.malloc(0, 1<<20); b.class == isLarge {
			inside++
		}
	}
	if inside < 14 || inside > 15 {
		t.Errorf("%d blocks of 1 MiB fit a range of 16 MiB", inside)
	}
	if b := r.malloc(0, 65<<20); b.class != isForeign {
		t.Errorf("a block of 65 MiB lies in a range of 16 MiB")
	}
	b := r.calloc(0, 1, 40000)
	r.free(0, r.live[0])
	r.realloc(0, b, 800000)
	r.close()
}

func testLargeReused(t T) {
	r := newRig(t, 1)
	fence := r.malloc(0, 100000)
	b := r.malloc(0, 1<<20)
	granule := r.h.Granule(b.addr)
	frontier := r.h.Frontier()
	for i := 0; i < 100; i++ {
		r.free(0, b)
		b = r.malloc(0, 1<<20-uintptr(i)*1000)
		if r.h.Granule(b.addr) != granule || r.h.Frontier() != frontier {
			t.Fatalf("round %d: the memory just freed was not used again", i)
		}
	}
	r.free(0, fence)
	r.close()
}

func testLargeZero(t T) {
	r := newRig(t, 2)
	for round := 0; round < 8; round++ {
		for _, size := range []uintptr{40000, 65536, 65537, 300000, 1 << 20} {
			r.malloc(round&1, size)
		}
		r.freeAll(0)
		if round%3 == 0 {
			r.idle(0, second, 0) // some of it goes back
			r.free(0, r.malloc(0, 200000))
		}
		for _, size := range []uintptr{50000, 600000, 32769} {
			r.calloc(round&1, 1, size)
		}
		r.freeAll(1)
	}
	r.close()
}

func testLargeGrows(t T) {
	r := newRig(t, 1)
	b := r.malloc(0, 40000)
	granule := r.h.Granule(b.addr)
	far := r.malloc(0, 2<<20)
	r.free(0, far) // free granules behind b
	for size := uintptr(50000); size < 1<<20; size += 50000 {
		if b = r.realloc(0, b, size); r.h.Granule(b.addr) != granule {
			t.Fatalf("a block moved as it grew to %d bytes into free memory", size)
		}
	}
	fence := r.malloc(0, 64<<10)
	b = r.realloc(0, b, 3<<20)
	r.free(0, fence)
	r.free(0, b)
	r.close()
}

func testLargeShrinks(t T) {
	r := newRig(t, 1)
	b := r.malloc(0, 4<<20)
	for size := uintptr(2 << 20); size > 100; size = size*2/5 + 1 {
		b = r.realloc(0, b, size)
		if used := r.h.Stats().Used - uintptr(r.stats.SpanBytes); used > 3*size+2*space.GranuleBytes {
			t.Errorf("a block that shrank to %d bytes holds %d", size, used)
		}
	}
	r.close()
}

func testLargeAligned(t T) {
	r := newRigOf(t, 64<<20, 1, 0, 0)
	for alignment := uintptr(16); alignment <= 1<<20; alignment *= 2 {
		for _, size := range []uintptr{32769, 100000, 1 << 20} {
			b := r.aligned(0, alignment, size)
			if b.class != isLarge {
				t.Errorf("%d bytes aligned to %d do not lie in the range", size, alignment)
			}
			r.realloc(0, b, size+5000)
		}
		r.freeAll(0)
	}
	r.close()
}

func testLargeReleased(t T) {
	r := newRig(t, 1)
	b := r.malloc(0, 1<<20)
	addr := b.addr
	r.free(0, b)
	r.idle(0, 0, second)
	if runs, _ := r.idle(0, second-second/1000, second); runs != 0 {
		t.Errorf("a large block was released before a second")
	}
	if runs, _ := r.idle(0, second/2, second); runs == 0 || r.dirtyBytes() != 0 {
		t.Errorf("%d runs were released after a second, %d bytes are left", runs, r.dirtyBytes())
	}
	mustRecommit(t, addr&^(space.GranuleBytes-1), 1<<20+space.GranuleBytes)
	if at := firstNotZero(addr, 1<<20); at >= 0 {
		t.Errorf("a released block does not read as zero at %d", at)
	}
	if b = r.malloc(0, 1<<20); r.h.Granule(b.addr) != r.h.Granule(addr) {
		t.Errorf("the address released was not used first")
	}
	r.close()
}

func testLargeShares(t T) {
	r := newRig(t, 2)
	r.every = 31
	random := newRandom(9)
	for round := 0; round < 4; round++ {
		for i := 0; i < 400; i++ {
			size := random.Below(4000)
			if i%8 == 0 {
				size = 32769 + random.Below(600000)
			}
			r.malloc(i&1, size)
			if i%3 != 0 {
				r.free(i&1, r.live[random.Below(uintptr(len(r.live)))])
			}
		}
		r.freeAll(round & 1)
		r.idle(0, second, 0)
		r.idle(1, second, 0)
	}
	r.check()
	if r.stats.ResidentBytes != 0 {
		t.Errorf("all is free and released, but %d bytes are resident", r.stats.ResidentBytes)
	}
	for i := 0; i < 8; i++ {
		// The classes keep a span each, which may lie anywhere; the rest is free and joined.
		if b := r.malloc(0, 1<<20); b.class != isLarge {
			t.Errorf("block %d of 1 MiB found no room in an empty range", i)
		}
	}
	r.close()
}

func testLargeTwice(t T) {
	r := newRig(t, 1)
	for _, size := range []uintptr{32769, 100000, 2 << 20} {
		b := r.malloc(0, size)
		addr := b.addr
		r.free(0, b)
		for _, cache := range []int{0, 1} {
			r.h.Free(r.cache(cache), addr)
			if found := takeMisuse(); len(found) != 1 || found[0].block != addr || found[0].what != misuseTwice {
				t.Errorf("a block of %d bytes was freed twice: reported %v", size, found)
			}
			r.check()
		}
	}
	r.close()
}

func testLargeInside(t T) {
	r := newRig(t, 1)
	b := r.malloc(0, 300000)
	for _, offset := range []sys.Addr{1, 8, 16, 4096, 65536, 131072, 299999} {
		for _, call := range []func(sys.Addr){
			func(addr sys.Addr) { r.h.Free(r.cache(0), addr) },
			func(addr sys.Addr) { r.h.Free(noCache(t), addr) },
			func(addr sys.Addr) {
				if got := r.h.Realloc(r.cache(0), addr, 100); got != 0 {
					t.Errorf("Realloc of a pointer into a block gave %#x", uintptr(got))
				}
			},
		} {
			call(b.addr + offset)
			found := takeMisuse()
			if len(found) != 1 || found[0].block != b.addr+offset || found[0].what == misuseTwice {
				t.Errorf("offset %d of a large block: reported %v", offset, found)
			}
			r.mustHold(b)
			r.check()
		}
	}
	r.close()
}
