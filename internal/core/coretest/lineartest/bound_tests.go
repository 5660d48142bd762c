package lineartest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/linear"
)

var boundTests = []Test{
	{Name: "the 65th block overflows", Run: testBlock65},
	{Name: "a pool of one block overflows with the second", Run: testOneBlock},
	{Name: "a block grows up to eight times and no further", Run: testGrowth},
	{Name: "a growth factor that is no power of two is rounded down", Run: testOddGrowth},
	{Name: "a request of a whole block fits into one", Run: testWholeBlock},
	{Name: "every alignment up to the largest is kept", Run: testAlignment},
	{Name: "an allocation of no bytes has an address of its own", Run: testZeroSize},
	{Name: "huge sizes are too large and nothing else", Run: testHuge},
	{Name: "a block size is rounded up to a power of two", Run: testRounding},
	{Name: "bad configurations are refused", Run: testBadConfig},
	{Name: "without memory everything overflows", Run: testNoMemory},
	{Name: "many overflows are all known", Run: testManyOverflows},
}

func testBlock65(t T) {
	r := newRig(t, small(0), 1)
	for i := 0; i < 64; i++ {
		if r.alloc(0, 64*kib, 16, 0).overflow {
			t.Fatalf("request %d overflowed", i)
		}
	}
	r.expectUsed(64, 64, "with 64 full blocks")
	if !r.alloc(0, 16, 16, 0).overflow || r.full != 1 || r.large != 0 {
		t.Fatalf("the 65th block did not overflow")
	}
	r.check(true)
	r.free(0, 5)
	if r.alloc(0, 16, 16, 0).overflow {
		t.Fatalf("a block that came back was not used")
	}
	r.expectUsed(64, 64, "with 64 blocks again")
	r.close()
}

func testOneBlock(t T) {
	r := newRig(t, small(1), 2)
	r.alloc(0, 16, 16, 0)
	if !r.alloc(1, 16, 16, 0).overflow {
		t.Fatalf("two workers share a block")
	}
	if r.alloc(0, 16, 16, 0).overflow {
		t.Fatalf("the first worker has no room")
	}
	r.check(true)
	r.close()
}

func testGrowth(t T) {
	r := newRig(t, small(8), 1)
	for _, size := range []uintptr{64*kib + 1, 128 * kib, 256*kib - 1, 511 * kib, 512 * kib} {
		if r.alloc(0, size, 16, 0).overflow {
			t.Fatalf("%d bytes overflowed", size)
		}
		r.free(0, 0)
		r.check(true)
	}
	if r.large != 0 {
		t.Fatalf("a request was too large")
	}
	if !r.alloc(0, 512*kib+1, 16, 0).overflow || r.large != 1 || r.full != 0 {
		t.Fatalf("a request of more than eight blocks was not too large")
	}
	r.expectUsed(1, 2, "after growth")
	r.close()
}

func testOddGrowth(t T) {
	r := newRig(t, linear.Config{BlockBytes: 64 * kib, Growth: 7}, 1)
	if r.a.RequestMost() != 256*kib {
		t.Fatalf("blocks may grow to %d bytes", r.a.RequestMost())
	}
	if r.alloc(0, 256*kib, 16, 0).overflow || !r.alloc(0, 256*kib+1, 16, 0).overflow {
		t.Fatalf("the largest request is not as said")
	}
	r.check(true)
	r.close()
}

func testWholeBlock(t T) {
	r := newRig(t, small(2), 1)
	for i := 0; i < 3; i++ {
		r.alloc(0, 64*kib, 16, 0)
	}
	if r.full != 1 {
		t.Fatalf("two blocks served %d requests of one each", 3-r.full)
	}
	r.expectUsed(2, 2, "with two whole blocks")
	r.close()
}

func testAlignment(t T) {
	r := newRig(t, small(64), 1)
	for align := uintptr(1); align <= linear.AlignMost; align *= 2 {
		for _, size := range []uintptr{0, 1, 17, 4096, 5000} {
			r.alloc(0, size, align, 0) // alloc looks at the address
			r.alloc(0, 24, 8, 0)
		}
	}
	r.check(true)
	r.close()
}

func testZeroSize(t T) {
	r := newRig(t, small(2), 1)
	a, b := r.alloc(0, 0, 16, 0).at, r.alloc(0, 0, 1, 0).at
	if a == 0 || b == 0 || a == b {
		t.Fatalf("two allocations of no bytes lie at %#x and %#x", a, b)
	}
	r.check(true)
	r.close()
}

func testHuge(t T) {
	r := newRig(t, small(2), 1)
	w := r.workers[0]
	r.alloc(0, 16, 16, 0)
	for _, size := range []uintptr{^uintptr(0), ^uintptr(0) - 14, ^uintptr(0) - 15, ^uintptr(0) - 16, 1 << 63,
		1<<63 - 1, 1 << 47} {
		if r.a.Need(size) != 0 {
			t.Fatalf("%#x bytes fit into a block", size)
		}
		if w.Fits(r.a.Frame(), linear.Need(size)) {
			t.Fatalf("the fast path takes %#x bytes", size)
		}
	}
	r.check(true)
	r.close()
}

func testRounding(t T) {
	for asked, want := range map[uintptr]uint64{0: 64 * kib, 1: 64 * kib, 65 * kib: 128 * kib, 1 << 20: 1 << 20,
		1<<20 + 1: 2 << 20} {
		r := newRig(t, linear.Config{BlockBytes: asked}, 1)
		var stats linear.Stats
		r.a.Read(&stats)
		if stats.BlockBytes != want || stats.RequestMost != 8*want || stats.ReservedMost != 512*want {
			t.Fatalf("blocks of %d bytes became %d", asked, stats.BlockBytes)
		}
		r.close()
	}
}

func testBadConfig(t T) {
	r := newRig(t, small(2), 0)
	for _, c := range []linear.Config{{Blocks: 65}, {Growth: 9}, {BlockBytes: 1<<30 + 1}, {MaxAge: 1<<20 + 1}} {
		if linear.New(r.space, c) != nil {
			t.Fatalf("%+v is accepted", c)
		}
	}
	r.close()
}

// testNoMemory has the space full: blocks cannot be made, and what can be made of the rest stays sound.
func testNoMemory(t T) {
	r := newRig(t, linear.Config{BlockBytes: 1 << 20}, 1)
	for r.space.Take(16<<10-16, 1) != 0 || r.space.Take(64, 1) != 0 || r.space.Take(8, 1) != 0 {
	}
	for i := 0; i < 10; i++ {
		if !r.alloc(0, 100*kib, 16, 0).overflow {
			t.Fatalf("a block came from a full space")
		}
	}
	if r.full != 10 {
		t.Fatalf("%d requests found no block", r.full)
	}
	r.check(true)
	r.close()
}

func testManyOverflows(t T) {
	r := newRig(t, small(1), 1)
	r.alloc(0, 64*kib, 16, 0)
	random := kit.NewRandom(5)
	for i := 0; i < 20000; i++ {
		if len(r.live) > 3000 || len(r.live) > 1 && random.Below(3) == 0 {
			r.free(0, 1+int(random.Below(uintptr(len(r.live)-1))))
		} else {
			r.alloc(0, random.Below(200), 16, 0)
		}
		if i%1000 == 0 {
			r.check(true)
		}
	}
	r.check(true)
	r.close()
}
