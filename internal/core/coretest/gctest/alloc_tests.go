package gctest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// allocTests: sizes, kinds, chains and large objects.
var allocTests = []Test{
	{Name: "requests are rounded up as documented", Run: testSizes},
	{Name: "every small size of every kind", Run: testSmall},
	{Name: "objects made anew after a collection are zero again", Run: testZeroAgain},
	{Name: "large objects of all lengths come and go", Run: testLarge},
	{Name: "requests that no heap can hold are refused", Run: testTooLarge},
	{Name: "AllocMany hands out whole chains", Run: testMany},
	{Name: "a thread without a cache is served", Run: testNoCache},
	{Name: "caches that were given up serve again", Run: testCachesComeBack},
	{Name: "there are 64 kinds and no more", Run: testKinds},
	{Name: "dead objects of a kind are shown to its procedure", Run: testDisclaim},
	{Name: "ignored addresses behind the first block", Run: testIgnoreOffPage},
}

func testSizes(t kit.T) {
	// Requested bytes and what they become, with the extra byte and without.
	sizes := [][3]uintptr{
		{0, 16, 16}, {1, 16, 16}, {15, 16, 16}, {16, 32, 16}, {31, 32, 32}, {32, 48, 32}, {47, 48, 48}, {63, 64, 64},
		{64, 80, 64}, {255, 256, 256}, {256, 272, 256}, {383, 384, 384}, {384, 448, 384}, {447, 448, 448},
		{500, 512, 512}, {600, 672, 672}, {1000, 1024, 1024}, {1024, 1344, 1024}, {2000, 2048, 2048},
		{2047, 2048, 2048}, {2048, 2064, 2048}, {2049, 2064, 2064}, {4095, 4096, 4096}, {4096, 4112, 4096},
		{100000, 100016, 100000},
	}
	for column, mode := range []uint32{gc.ModeInterior, 0} {
		r := newRig(t, mode)
		for _, size := range sizes {
			if o := r.alloc(0, size[0], gc.KindNormal, 0); o.size != size[column+1] {
				t.Errorf("mode %d: a request for %d bytes became %d, not %d", mode, size[0], o.size, size[column+1])
			}
			if o := r.alloc(0, size[0], gc.KindUncollectable, 0); o.size != size[2] {
				t.Errorf("mode %d: an uncollectable request for %d bytes became %d, not %d", mode, size[0], o.size, size[2])
			}
		}
		r.close()
	}
}

func testSmall(t kit.T) {
	for _, mode := range []uint32{gc.ModeInterior, 0} {
		r := newRig(t, mode)
		r.every = 997
		for kind := uint32(0); kind < kindsOfRigs; kind++ {
			for size := uintptr(0); size <= gc.SmallMaxBytes+40; size++ {
				r.alloc(0, size, kind, 0)
			}
			r.mustHoldAll()
			r.collect()
		}
		r.close()
	}
}

func testZeroAgain(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	r.every = 997
	random := newRandom(3)
	for round := 0; round < 6; round++ {
		for i := 0; i < 3000; i++ {
			o := r.alloc(0, random.size(3000), gc.KindNormal, 0) // the rig looks whether it is zero, and fills it
			if i%7 == 0 {
				r.setRoot(int(random.Below(rigRoots)), o)
			}
		}
		r.collect()
	}
	r.close()
}

func testLarge(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	r.every = 7
	random := newRandom(4)
	for round := 0; round < 400; round++ {
		blocks := random.Below(24 << random.Below(5))
		kind := uint32(random.Below(4))
		r.keep(0, 2048+blocks*4096+random.Below(4096), kind, 0)
		if len(r.all) > 12 {
			o := r.all[random.Below(uintptr(len(r.all)))]
			r.free(0, o)
		}
	}
	for len(r.all) > 0 {
		r.free(0, r.all[0])
	}
	r.check()
	if r.stats.LargeBytes != 0 || r.stats.FreeBytes != r.stats.HeapBytes {
		t.Errorf("all objects are free: %+v", r.stats)
	}
	r.close()
}

func testTooLarge(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	r.full = true
	for _, bytes := range []uintptr{rigRange, rigRange * 2, 1 << 40, 1 << 46, 1 << 62, ^uintptr(0), ^uintptr(0) - 16} {
		if o := r.alloc(0, bytes, gc.KindNormal, 0); o != nil {
			t.Errorf("a heap of %d bytes gave %d", rigRange, bytes)
		}
		if size := r.h.RoundedSize(bytes, gc.KindNormal); bytes > 1<<46 && size != 0 {
			t.Errorf("%d bytes are rounded up to %d", bytes, size)
		}
	}
	if _, need := r.h.AllocSlow(r.cache(0), 10, 63, 0); need != gc.NeedMemory {
		t.Errorf("a kind that there is not has objects")
	}
	if _, need := r.h.AllocMany(r.cache(0), 129, gc.KindNormal, 0); need != gc.NeedMemory {
		t.Errorf("AllocMany makes large objects")
	}
	r.close()
}

func testMany(t kit.T) {
	for _, mode := range []uint32{gc.ModeInterior, 0} {
		r := newRig(t, mode)
		r.every = 19
		for granules := uintptr(0); granules <= 128; granules++ {
			for _, kind := range []uint32{gc.KindNormal, gc.KindPointerFree, kindShared, gc.KindUncollectable} {
				objects := r.many(0, granules, kind)
				least := 4096 / objects[0].size
				if kind == kindShared || kind == gc.KindUncollectable {
					least = 1
				}
				if uintptr(len(objects)) < least {
					t.Errorf("AllocMany gave %d objects of %d granules, kind %d", len(objects), granules, kind)
				}
				if kind == gc.KindUncollectable {
					continue
				}
				r.setRoot(int(granules), objects[0])
			}
		}
		r.collect()
		r.close()
	}
}

func testNoCache(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	zeros := memoryFor(t, gc.CacheBytes)
	r.caches = append(r.caches, gc.Cache(zeros))
	random := newRandom(5)
	for i := 0; i < 600; i++ {
		o := r.keep(1+i&1, random.size(5000), uint32(random.Below(kindsOfRigs)), 0)
		if i%3 == 0 {
			r.free(1+i&1, o)
		}
		if i%100 == 0 {
			r.collect()
		}
	}
	if at := firstNotZero(zeros, 0, gc.CacheBytes); at >= 0 {
		t.Errorf("a cache of nobody was written to at %d", at)
	}
	r.caches = r.caches[:1]
	r.close()
	sys.Release(zeros, sys.AlignUp(gc.CacheBytes, sys.PageBytes()))
}

func testCachesComeBack(t kit.T) {
	r := newRig(t, 0)
	var meta uint64
	for i := 0; i < 300; i++ {
		r.newCache()
		r.newCache()
		for j := 0; j < 10; j++ {
			r.keep(1+j&1, uintptr(j*30), gc.KindNormal, 0)
		}
		r.dropCache(2)
		r.dropCache(1)
		if i == 100 {
			meta = r.stats.MetaBytes
		}
		if i%50 == 0 {
			r.collect()
		}
	}
	if r.stats.MetaBytes > meta+64<<10 {
		t.Errorf("tables grew from %d to %d bytes in 200 threads one after the other", meta, r.stats.MetaBytes)
	}
	r.close()
}

func testKinds(t kit.T) {
	r := newRig(t, 0)
	for kind := uint32(kindsOfRigs); kind < 64; kind++ {
		if got, ok := r.h.NewKind(0, true, true); !ok || got != kind {
			t.Fatalf("NewKind made %d, %v for %d", got, ok, kind)
		}
	}
	if _, ok := r.h.NewKind(0, true, true); ok {
		t.Errorf("there is a kind number 65")
	}
	for kind := uint32(0); kind < 64; kind++ {
		if kind == kindPlain || kind >= kindsOfRigs {
			r.keep(0, 100, kind, 0)
			r.keep(0, 5000, kind, 0)
		}
	}
	r.collect()
	var stats gc.KindStats
	r.h.ReadKind(63, &stats)
	if stats.LargeObjects != 1 || stats.LiveBytes != 112+5008 || stats.Classes[6].Live != 1 {
		t.Errorf("two objects of kind 63 live, the figures say %+v", stats)
	}
	if r.h.RegisterDisplacement(4096) || !r.h.RegisterDisplacement(4095) {
		t.Errorf("RegisterDisplacement takes the wrong offsets")
	}
	r.close()
}

func testIgnoreOffPage(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	near := r.alloc(0, 20000, gc.KindNormal, gc.FlagIgnoreOffPage)
	far := r.alloc(0, 20000, gc.KindNormal, gc.FlagIgnoreOffPage)
	plain := r.alloc(0, 20000, gc.KindNormal, 0)
	// Roots hold addresses inside of them: the model must be told.
	for i, o := range []*object{near, far, plain} {
		offset := sys.Addr(12000)
		if o == near {
			offset = 4000
		}
		r.setRoot(i, o)
		(r.roots + sys.Addr(i*sys.WordBytes)).SetWord(uintptr(o.addr + offset))
		if o == far {
			r.rooted[i], o.root = nil, -1
		}
	}
	r.collect()
	if r.h.BaseOf(far.addr) != 0 {
		t.Errorf("an address behind its first block kept the object")
	}
	r.close()
}
