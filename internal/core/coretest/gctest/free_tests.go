package gctest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// freeTests: objects freed by hand, and objects whose size changes.
var freeTests = []Test{
	{Name: "what is freed serves again", Run: testFreeServesAgain},
	{Name: "Free refuses what is no object in use", Run: testFreeRefuses},
	{Name: "objects that one thread frees serve another", Run: testFreeHandedOver},
	{Name: "uncollectable objects live until they are freed", Run: testFreeUncollectable},
	{Name: "pairs of Alloc and Free do not put collections off", Run: testFreePace},
	{Name: "objects are resized where they are", Run: testResize},
	{Name: "Resize refuses what does not fit", Run: testResizeRefuses},
}

func testFreeServesAgain(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	for kind := uint32(0); kind < kindsOfRigs; kind++ {
		for _, size := range []uintptr{1, 40, 500, 1500, 3000, 70000} {
			o := r.alloc(0, size, kind, 0)
			addr := o.addr
			r.free(0, o)
			if again := r.alloc(0, size, kind, 0); again.addr != addr {
				t.Errorf("kind %d: %d bytes were freed at %#x and made at %#x", kind, size, uintptr(addr), uintptr(again.addr))
			}
		}
	}
	r.close()
}

func testFreeRefuses(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	small, large := r.keep(0, 100, gc.KindNormal, 0), r.keep(0, 100000, gc.KindNormal, 0)
	fixed := r.alloc(0, 100, gc.KindUncollectable, 0)
	refuse := func(addr sys.Addr, what string) {
		for cache := 0; cache < 2; cache++ {
			if r.h.Free(r.cache(cache), addr) {
				t.Errorf("Free takes %s", what)
			}
		}
		r.check()
	}
	for _, o := range []*object{small, large, fixed} {
		for _, offset := range []sys.Addr{1, 8, 16, 96} {
			refuse(o.addr+offset, "an address inside of an object")
		}
	}
	refuse(large.addr+90000, "an address far inside of an object")
	refuse(0, "address 0")
	refuse(r.roots, "an address outside of the heap")
	refuse(^sys.Addr(0)-7, "the last address")
	refuse(r.h.Base, "the space's tables")
	refuse(r.h.Base+rigRange-16, "the end of the range")
	for _, o := range []*object{small, large, fixed} {
		addr := o.addr
		r.free(0, o)
		if r.h.Free(r.cache(0), addr) || o != small && r.h.Free(0, addr) {
			t.Errorf("Free takes an object that is free")
		}
		r.check()
	}
	dead := r.alloc(0, 100, gc.KindNormal, 0)
	r.keep(0, 100, gc.KindNormal, 0)
	r.dropCache(0)
	r.newCache()
	r.collect()
	refuse(dead.addr, "an object that a collection found dead")
	r.close()
}

func testFreeHandedOver(t kit.T) {
	r := newRig(t, 0)
	r.newCache()
	r.every = 4999
	for round := 0; round < 20; round++ {
		var made []*object
		for i := 0; i < 3000; i++ {
			made = append(made, r.alloc(0, 100, gc.KindNormal, gc.FlagExpand))
		}
		for _, o := range made {
			r.free(1, o)
		}
	}
	r.check()
	if r.stats.HeapBytes > 1<<20 {
		t.Errorf("336000 bytes at a time went from thread to thread, and the heap has %d", r.stats.HeapBytes)
	}
	r.close()
}

func testFreeUncollectable(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	r.every = 101
	random := newRandom(6)
	for i := 0; i < 1500; i++ {
		kind := gc.KindUncollectable + uint32(random.Below(2))
		o := r.alloc(0, random.size(6000), kind, 0)
		if o.hasRefs() {
			r.setRef(o, 0, r.alloc(0, random.size(300), gc.KindNormal, 0))
		}
		if i%2 == 0 {
			if o := r.pick(random.Below(10000)); o.named == 0 {
				r.free(0, o)
			}
		}
		if i%200 == 0 {
			r.collect()
		}
	}
	for _, o := range append([]*object{}, r.all...) {
		if isUncollectable(o.kind) {
			r.free(0, o)
		}
	}
	r.collect()
	r.collect()
	if len(r.all) != 0 || r.stats.FreeBytes+128<<10 < r.stats.HeapBytes { // the cache has some
		t.Errorf("nothing is left, but %d of %d bytes are free", r.stats.FreeBytes, r.stats.HeapBytes)
	}
	r.close()
}

func testFreePace(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	for i := 0; i < 30000; i++ {
		r.free(0, r.alloc(0, 200, gc.KindNormal, 0))
	}
	r.check()
	before, target := r.stats.HeapBytes, r.stats.TargetBytes
	if r.stats.AllocatedBytes-r.stats.FreedBytes > 8<<10 || r.stats.Collections != 0 || before > 1<<20 {
		t.Errorf("one object at a time lived, the figures say %+v", r.stats)
	}
	collections := r.stats.Collections
	for i := 0; r.stats.Collections == collections; i++ {
		r.alloc(0, 200, gc.KindNormal, 0)
		r.h.ReadStats(&r.stats)
		if uint64(i*208) > before+target*2 {
			t.Fatalf("%d bytes of garbage, and no collection", i*208)
		}
	}
	r.close()
}

func testResize(t kit.T) {
	for _, mode := range []uint32{gc.ModeInterior, 0} {
		r := newRig(t, mode)
		r.every = 17
		random := newRandom(7)
		moved, stayed := 0, 0
		for i := 0; i < 1200; i++ {
			o := r.keep(0, random.size(60000), uint32(random.Below(kindsOfRigs)), 0)
			for try := 0; try < 3; try++ {
				bytes := random.size(80000) + 1
				if random.Below(2) == 0 {
					bytes = o.asked + random.Below(o.asked/2+20)
				}
				if r.resize(o, bytes) {
					stayed++
				} else {
					moved++
				}
			}
			if i%150 == 0 {
				r.collect()
			}
		}
		if moved < 100 || stayed < 100 {
			t.Errorf("%d objects were resized, %d were not: the test sees only one of both", stayed, moved)
		}
		r.close()
	}
}

func testResizeRefuses(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	o := r.keep(0, 100, gc.KindNormal, 0)
	if r.h.Resize(o.addr+16, 50) || r.h.Resize(0, 50) || r.h.Resize(r.roots, 50) {
		t.Errorf("Resize takes what is no object")
	}
	for _, bytes := range []uintptr{112, 113, 5000, 1 << 50, ^uintptr(0), 10} {
		if r.resize(o, bytes) {
			t.Errorf("an object of 112 bytes serves for %d", bytes)
		}
	}
	large := r.keep(0, 100000, gc.KindNormal, 0)
	r.keep(0, 100000, gc.KindNormal, 0) // behind it, perhaps
	if r.resize(large, 2000) || r.resize(large, rigRange*2) {
		t.Errorf("a large object serves for anything")
	}
	if !r.resize(large, 50000) || !r.resize(large, 60000) {
		t.Errorf("a large object shrinks, and cannot grow again where it was")
	}
	r.close()
}
