package coretest

import "granary/internal/core/heap"

var resizeTests = []Test{
	{Name: "realloc within a class leaves the block where it is", Run: testReallocInPlace},
	{Name: "realloc keeps the contents from any size to any size", Run: testReallocMatrix},
	{Name: "a block that shrinks below half gives its memory back", Run: testReallocShrinks},
	{Name: "a block that grows step by step keeps its contents", Run: testReallocSteps},
	{Name: "realloc moves between the classes and the system allocator", Run: testReallocForeign},
	{Name: "aligned blocks have every alignment at every size", Run: testAligned},
	{Name: "an aligned request that overflows fails", Run: testAlignedOverflow},
	{Name: "UsableSize is what realloc and free go by", Run: testUsable},
}

func testReallocInPlace(t T) {
	r := newRig(t, 1)
	for _, size := range []uintptr{1, 16, 33, 100, 129, 1000, 2049, 32768} {
		b := r.malloc(0, size)
		addr, usable := b.addr, b.usable
		for _, to := range []uintptr{usable, usable - 1, usable/2 + 1, size, 1 + usable/2} {
			if b = r.realloc(0, b, to); b.addr != addr {
				t.Errorf("a block of %d bytes moved as it was resized to %d", usable, to)
			}
		}
	}
	r.close()
}

func testReallocMatrix(t T) {
	r := newRig(t, 2)
	r.every = 7
	sizes := []uintptr{1, 15, 16, 17, 100, 128, 129, 640, 2048, 2049, 5000, 32768, 32769, 70000, 300000}
	for _, from := range sizes {
		for i, to := range sizes {
			cache := i % 3 // the last is no cache
			b := r.realloc(cache, r.malloc(0, from), to)
			b = r.realloc(cache, b, from)
			r.free(cache, b)
		}
	}
	r.close()
}

func testReallocShrinks(t T) {
	r := newRig(t, 1)
	b := r.malloc(0, 30000)
	if b = r.realloc(0, b, 100); b.usable >= 30000/2 {
		t.Errorf("a block of 30000 bytes resized to 100 still has %d", b.usable)
	}
	b = r.realloc(0, r.malloc(0, 200000), 50)
	if b.usable > 64 {
		t.Errorf("a block of 200000 bytes resized to 50 still has %d", b.usable)
	}
	r.close()
}

func testReallocSteps(t T) {
	r := newRig(t, 1)
	r.every = 5
	b, other := r.malloc(0, 1), r.malloc(0, 1)
	moves := 0
	for size := uintptr(2); size < 120000; size += size/9 + 1 {
		before := b.addr
		b = r.realloc(0, b, size)
		other = r.realloc(0, other, size/2+1)
		if b.addr != before {
			moves++
		}
	}
	for size := b.asked; size > 1; size -= size/7 + 1 {
		b = r.realloc(0, b, size)
	}
	if moves < 5 {
		t.Errorf("growing to 120000 bytes moved the block %d times", moves)
	}
	r.close()
}

func testReallocForeign(t T) {
	r := newRig(t, 1)
	for _, cache := range []int{0, 1} {
		b := r.malloc(cache, 100000)
		b = r.realloc(cache, b, 400000)
		b = r.realloc(cache, b, 50000)
		if b.class >= 0 {
			t.Errorf("a block of 50000 bytes has a class")
		}
		if b = r.realloc(cache, b, 4000); b.class < 0 {
			t.Errorf("a block of the system allocator that became small did not move into a class")
		}
		if b = r.realloc(cache, b, 40000); b.class >= 0 {
			t.Errorf("a block that became large did not move out of its class")
		}
		r.free(cache, b)
	}
	r.check()
	if r.stats.NormalLiveBytes != 0 {
		t.Errorf("%d bytes of the system allocator are counted as alive", r.stats.NormalLiveBytes)
	}
	r.close()
}

func testAligned(t T) {
	r := newRigOf(t, 64<<20, 1, 0, 0)
	r.every = 31
	for alignment := uintptr(1); alignment <= 1<<20; alignment *= 2 {
		for _, size := range []uintptr{0, 1, 16, 100, 129, 1000, 3000, 20000, 32768, 40000, 100000} {
			for _, cache := range []int{0, 0, 1} {
				b := r.aligned(cache, alignment, size)
				if b.class == isForeign || size <= heap.SmallMaxBytes && alignment <= heap.SmallMaxBytes && b.class < 0 {
					t.Errorf("%d bytes aligned to %d came from elsewhere", size, alignment)
				}
			}
			if len(r.live) > 40 {
				r.free(0, r.live[0])
				r.realloc(0, r.live[0], size+alignment/4+1)
			}
		}
	}
	r.close()
}

func testAlignedOverflow(t T) {
	r := newRig(t, 1)
	for _, alignment := range []uintptr{32, 4096, 1 << 20, tooLarge, 1 << (wordBits - 1)} {
		for _, size := range []uintptr{^uintptr(0), ^uintptr(0) - alignment + 1, tooLarge} {
			if got := r.h.AlignedAlloc(r.cache(0), alignment, size); got != 0 {
				t.Errorf("AlignedAlloc(%#x, %#x) = %#x", alignment, size, uintptr(got))
			}
		}
	}
	r.check()
	r.close()
}

func testUsable(t T) {
	r := newRig(t, 1)
	r.every = 13
	for size := uintptr(1); size <= heap.SmallMaxBytes; size += size/3 + 1 {
		b := r.malloc(0, size)
		if b.usable != heap.ClassSize(size) {
			t.Errorf("a block of %d bytes has %d usable, its class has %d", size, b.usable, heap.ClassSize(size))
		}
	}
	r.close()
}
