package gctest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// sweepTests: what becomes of blocks after a collection, when collections are due, and what goes back to the system.
var sweepTests = []Test{
	{Name: "blocks are swept as allocations need them", Run: testLazySweep},
	{Name: "blocks that are nearly full are left alone", Run: testNearlyFull},
	{Name: "what is dead is free after the collection", Run: testAllDead},
	{Name: "free memory goes back to the system after a second", Run: testRelease},
	{Name: "memory that is used again does not go back", Run: testReleaseUsed},
	{Name: "a heap that keeps its blocks keeps them", Run: testKeepBlocks},
	{Name: "building something big does not collect again and again", Run: testPaceBuilding},
	{Name: "garbage does not make the heap grow", Run: testPaceGarbage},
	{Name: "large roots put collections off", Run: testPaceRoots},
	{Name: "a heap that was made larger does not collect until that is used", Run: testExpand},
	{Name: "a limit is kept, and a collection makes room under it", Run: testLimit},
	{Name: "figures by kind and size", Run: testFigures},
	{Name: "fork leaves a heap that works to the child", Run: testFork},
}

// fill keeps count objects of a size, spread over lists from the roots.
func (r *rig) fill(count int, bytes uintptr, kind uint32) []*object {
	var made []*object
	for i := 0; i < count; i++ {
		o := r.alloc(0, bytes, kind, gc.FlagExpand)
		if i < rigRoots {
			r.setRoot(i, o)
		} else {
			r.setRef(made[i-rigRoots], 0, o)
		}
		made = append(made, o)
	}
	return made
}

func testLazySweep(t kit.T) {
	r := newRig(t, 0)
	r.every = 997
	made := r.fill(8192, 32, gc.KindNormal) // 64 blocks
	for i := 0; i < rigRoots; i += 2 {
		r.setRoot(i, nil) // every other object, in runs of 512 to and fro
	}
	r.collect()
	r.check()
	waiting := r.stats.UnsweptBytes
	if waiting < 60*gc.BlockBytes || waiting > 66*gc.BlockBytes {
		t.Errorf("%d bytes wait to be swept, of 64 half-filled blocks", waiting)
	}
	heap := r.stats.HeapBytes
	for i := 0; i < 4000; i++ {
		r.alloc(0, 32, gc.KindNormal, gc.FlagExpand)
		if i == 2000 {
			r.check()
			if r.stats.UnsweptBytes > waiting/2+2*gc.BlockBytes || r.stats.UnsweptBytes < waiting/3 {
				t.Errorf("half of the objects are in use again, %d of %d bytes wait", r.stats.UnsweptBytes, waiting)
			}
		}
	}
	r.check()
	if r.stats.HeapBytes != heap || len(made) != 8192 {
		t.Errorf("swept blocks were to serve, but the heap grew from %d to %d", heap, r.stats.HeapBytes)
	}
	r.dropRoots()
	r.fill(4096, 32, gc.KindNormal)
	r.collect()
	for !r.h.SweepAll(3) {
		r.check()
	}
	r.check()
	if r.stats.UnsweptBytes != 0 {
		t.Errorf("SweepAll is done, and %d bytes wait", r.stats.UnsweptBytes)
	}
	r.close()
}

func testNearlyFull(t kit.T) {
	r := newRig(t, 0)
	r.every = 997
	r.fill(4096, 32, gc.KindNormal)
	r.h.DropCache(r.caches[0]) // what it holds would be marked
	r.caches[0] = r.h.NewCache()
	for i := 0; i < rigRoots; i += 16 {
		r.setRoot(i, nil)
	}
	r.collect()
	r.check()
	if r.stats.UnsweptBytes > 2*gc.BlockBytes {
		t.Errorf("15 of 16 objects live, and %d bytes wait to be swept", r.stats.UnsweptBytes)
	}
	r.close()
}

func testAllDead(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	r.every = 997
	random := newRandom(8)
	for i := 0; i < 4000; i++ {
		r.alloc(0, random.size(9000), uint32(random.Below(2)), gc.FlagExpand)
	}
	r.dropCache(0)
	r.collect()
	r.check()
	if r.stats.FreeBytes != r.stats.HeapBytes || r.stats.LiveBytes != 0 {
		t.Errorf("nothing lives: %+v", r.stats)
	}
	// All of it is one run again.
	r.newCache()
	r.full = true
	if r.alloc(0, uintptr(r.stats.HeapBytes)-4096, gc.KindPointerFree, gc.FlagExpand) == nil {
		t.Errorf("the free blocks did not join")
	}
	heap := r.stats.HeapBytes
	r.check()
	if r.stats.HeapBytes != heap {
		t.Errorf("the heap grew from %d to %d bytes for as much as was free", heap, r.stats.HeapBytes)
	}
	r.close()
}

func testRelease(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	for i := 0; i < 60; i++ {
		r.keep(0, 50000, gc.KindNormal, gc.FlagExpand)
	}
	live := r.fill(100, 1000, gc.KindNormal)
	r.collect()
	r.check()
	dirty := r.stats.FreeDirtyBytes
	if dirty < 2<<20 {
		t.Fatalf("only %d bytes are free and dirty", dirty)
	}
	if bytes, wake := r.idle(0, second); bytes != 0 || wake != r.now+gc.SweepNanoseconds {
		t.Errorf("the first look gave %d bytes back, and wants another after %d ns", bytes, wake-r.now)
	}
	if bytes, wake := r.idle(second/8, second); bytes != 0 || wake <= r.now {
		t.Errorf("a look after an eighth of a second gave back %d bytes", bytes)
	}
	if bytes, _ := r.idle(second/2, second); bytes != 0 {
		t.Errorf("a look after half a second gave back %d bytes", bytes)
	}
	bytes, wake := r.idle(second/2, second)
	if bytes < dirty || wake != 0 {
		t.Errorf("after a second %d of %d bytes went back, wake %d", bytes, dirty, wake)
	}
	r.check()
	if r.stats.FreeDirtyBytes != 0 || r.stats.ReleasedBytes < dirty {
		t.Errorf("all went back: %+v", r.stats)
	}
	for _, o := range live {
		r.mustHold(o)
	}
	for i := 0; i < 60; i++ {
		r.alloc(0, 50000, gc.KindNormal, gc.FlagExpand) // reads as zero, says the rig
	}
	r.check()
	r.close()
}

func testReleaseUsed(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	for i := 0; i < 40; i++ {
		r.idle(second/4, second)
		for j := 0; j < 20; j++ {
			r.free(0, r.alloc(0, 50000, gc.KindNormal, gc.FlagExpand))
		}
	}
	// The run that is used lies in front of one that never was.
	r.check()
	if r.stats.ReleasedBytes > 1<<20 {
		t.Errorf("%d bytes went back although they were used all the time", r.stats.ReleasedBytes)
	}
	if bytes, wake := r.idle(second/4, 0); bytes == 0 || wake != 0 {
		t.Errorf("with age 0 all should go back at once: %d bytes, wake %d", bytes, wake)
	}
	r.close()
}

func testKeepBlocks(t kit.T) {
	r := newRig(t, gc.ModeKeepBlocks)
	r.free(0, r.alloc(0, 500000, gc.KindNormal, 0))
	for i := 0; i < 8; i++ {
		if bytes, wake := r.idle(second, 0); bytes != 0 || wake != 0 {
			t.Errorf("%d bytes went back, wake %d", bytes, wake)
		}
	}
	r.close()
}

func testPaceBuilding(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	var before *object
	for i := 0; i < 100000; i++ { // 11 MB, all alive
		o := r.alloc(0, 100, gc.KindNormal, 0)
		if before == nil {
			r.setRoot(0, o)
		} else {
			r.setRef(before, 0, o)
		}
		before = o
	}
	r.h.ReadStats(&r.stats)
	if r.stats.Collections > 7 {
		t.Errorf("%d collections while 11 MB were built, of which none was garbage", r.stats.Collections)
	}
	if r.stats.HeapBytes > 16<<20 {
		t.Errorf("the heap has %d bytes for 11 MB", r.stats.HeapBytes)
	}
	r.close()
}

func testPaceGarbage(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	r.fill(5000, 100, gc.KindNormal) // 0.5 MB
	for i := 0; i < 150000; i++ {
		r.alloc(0, 100, gc.KindNormal, 0)
	}
	r.check()
	if r.stats.HeapBytes > 2<<20 || r.stats.Collections < 10 {
		t.Errorf("half a MB lives, 17 MB were garbage: %d collections, the heap has %d bytes", r.stats.Collections,
			r.stats.HeapBytes)
	}
	if survived := float64(r.stats.LiveBytes) / float64(r.stats.BeforeBytes); survived < 0.3 || survived > 0.95 {
		t.Errorf("the figures say that %.2f survived", survived)
	}
	r.close()
}

func testPaceRoots(t kit.T) {
	const rootBytes, garbage, pieces = 8 << 20, 64 << 20, 1 << 10
	collections := func(bytes uintptr) int {
		r := newRig(t, 0)
		r.every = 0
		roots := memoryFor(t, rootBytes)
		r.moreRoots, r.moreRootsEnd = roots, roots+sys.Addr(bytes)
		for i := 0; i < garbage/pieces; i++ {
			r.alloc(0, pieces, gc.KindNormal, 0)
		}
		r.check()
		cycles := r.cycles
		r.close()
		sys.Release(roots, rootBytes)
		return cycles
	}
	few, many := collections(rootBytes), collections(0)
	if most := garbage/(rootBytes/3) + 1; few > most || many < 4*few {
		t.Errorf("64 MB of garbage: %d collections with 8 MB of roots, at most %d are asked for; %d without", few, most, many)
	}
}

func testExpand(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	if !r.h.Expand(8<<20) || r.h.Expand(rigRange*2) || r.h.Expand(^uintptr(0)) {
		t.Errorf("Expand makes larger what it cannot, or does not what it can")
	}
	for i := 0; i < 60000; i++ {
		r.alloc(0, 100, gc.KindNormal, 0)
	}
	if r.cycles != 0 {
		t.Errorf("%d collections before the memory was used", r.cycles)
	}
	for i := 0; i < 60000; i++ {
		r.alloc(0, 100, gc.KindNormal, 0)
	}
	r.check()
	if r.cycles == 0 || r.stats.HeapBytes > 10<<20 {
		t.Errorf("no collection, and the heap has %d bytes", r.stats.HeapBytes)
	}
	r.close()
}

func testLimit(t kit.T) {
	r := newRigOf(t, rigRange, 0, 1<<20)
	r.every = 997
	for i := 0; i < 20000; i++ {
		r.alloc(0, 1000, gc.KindNormal, 0) // 20 MB of garbage
	}
	r.full = true
	count := 0
	for ; r.failed == 0; count++ {
		r.keep(0, 4000, gc.KindNormal, 0)
	}
	r.check()
	if r.stats.HeapBytes > 1<<20 || count < 200 {
		t.Errorf("%d objects of 4000 bytes fit into a heap of %d", count, r.stats.HeapBytes)
	}
	r.h.SetLimit(2 << 20)
	r.full = false
	for i := 0; i < 100; i++ {
		r.alloc(0, 4000, gc.KindNormal, 0)
	}
	r.close()
}

func testFigures(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	r.fill(300, 64, gc.KindNormal)
	r.alloc(0, 64, gc.KindNormal, 0)
	r.setRoot(400, r.alloc(0, 10000, gc.KindNormal, 0))
	r.setRoot(401, r.alloc(0, 64, gc.KindPointerFree, 0))
	r.dropCache(0)
	r.collect()
	var stats gc.KindStats
	r.h.ReadKind(gc.KindNormal, &stats)
	class := stats.Classes[3]
	if class.ObjectBytes != 64 || class.Live != 300 || class.Objects < 300 || class.Blocks != class.Objects/64 ||
		class.UnsweptBlocks > 1 || stats.LargeObjects != 1 || stats.LargeBytes != 10000 || stats.LargeBlocks != 3 ||
		stats.LiveBytes != 300*64+10000 {
		t.Errorf("300 objects of 64 bytes and one of 10000 live: %+v", stats)
	}
	r.check()
	if r.stats.LiveBytes != 300*64+10000+64 || r.stats.LivePlainBytes != 64 || r.stats.SinceBytes != 0 {
		t.Errorf("%+v", r.stats)
	}
	r.close()
}

func testFork(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	r.newCache()
	r.newCache()
	random := newRandom(9)
	for round := 0; round < 10; round++ {
		for i := 0; i < 50; i++ {
			r.keep(int(random.Below(3)), random.size(3000), uint32(random.Below(kindsOfRigs)), 0)
		}
		if !r.h.ForkPrepare() {
			t.Fatalf("ForkPrepare finds the heap locked")
		}
		if round%2 == 0 {
			r.h.ForkParent()
		} else {
			r.h.ForkChild(r.caches[0])
			r.caches = r.caches[:1]
			r.newCache()
			r.newCache()
		}
		r.check()
		r.collect()
	}
	r.close()
}

func testDisclaim(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	kind, ok := r.h.NewKind(0, true, true)
	if !ok {
		t.Fatalf("no kind")
	}
	r.h.SetDisclaim(kind, 3)
	takeDisclaimed()
	var kept []sys.Addr
	for i := 0; i < 128; i++ { // one block
		addr := r.try(0, 32, kind, 0)
		if i%4 == 0 {
			addr.SetWord(1)
			kept = append(kept, addr)
		}
	}
	large, gone := r.try(0, 9000, kind, 0), r.try(0, 9000, kind, 0)
	large.SetWord(1)
	r.collect()
	if calls := takeDisclaimed(); calls != 2*3 {
		t.Errorf("the procedure was to be asked about two large objects, the sum of its numbers is %d", calls)
	}
	r.h.SweepAll(^uintptr(0))
	if calls := takeDisclaimed(); calls != 128*3 {
		t.Errorf("the procedure was to be asked about 128 objects, the sum of its numbers is %d", calls)
	}
	r.check()
	for _, addr := range append(kept, large) {
		if addr.Word() != 1 || !r.h.IsMarked(addr) {
			t.Errorf("an object that the procedure wanted to keep is gone")
		}
	}
	if r.h.BaseOf(gone) != 0 {
		t.Errorf("an object that the procedure did not want to keep is there")
	}
	r.close()
}
