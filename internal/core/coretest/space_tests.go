package coretest

import (
	"sync"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

var spaceTests = []Test{
	{Name: "a space of less than the smallest range is refused", Run: testSpaceTooSmall},
	{Name: "a space that the system cannot give is made smaller", Run: testSpaceShrinks},
	{Name: "an address belongs to the space, its granule and its owner, or to nobody", Run: testOwners},
	{Name: "every granule of the range can be taken, and no more", Run: testTakeAllGranules},
	{Name: "runs of many sizes and alignments can be taken", Run: testTakeSizes},
	{Name: "what still has its memory is taken first, then the best fit, then the frontier", Run: testTakeOrder},
	{Name: "free neighbours join", Run: testJoin},
	{Name: "a run grows into free granules behind it and shrinks", Run: testExtendShrink},
	{Name: "a run that grew over others that were given back is released as one", Run: testReleaseAfterExtend},
	{Name: "a walker gets on at a granule whose record was dropped", Run: testDroppedRecord},
	{Name: "a run given back at once reads as zero", Run: testGiveNow},
	{Name: "clearing what is dirty makes all of it zero", Run: testClearDirty},
	{Name: "a run is released when it has been free for the age, not before", Run: testReleaseAge},
	{Name: "a run that is taken again is young again", Run: testReleaseAgain},
	{Name: "joined granules keep their ages", Run: testJoinedAge},
	{Name: "tables are zeroed memory that no run holds", Run: testTakeMeta},
	{Name: "tables and runs share a full range", Run: testTakeMetaFull},
	{Name: "random sequences of operations on a space keep it consistent", Run: testSpaceSequences},
	{Name: "threads take, give and release runs of one space", Run: testSpaceThreads},
}

func testSpaceTooSmall(t T) {
	memory := memoryFor(t, unsafe.Sizeof(space.Space{}))
	s := (*space.Space)(memory.Pointer())
	if s.Init(leastRange-1, recordBytes) {
		t.Errorf("Init of less than 16 MiB succeeded")
	}
	if s.Owns(memory) || s.OwnerOf(memory) != 0 || s.Committed() != 0 {
		t.Errorf("a space without a range owns addresses")
	}
	sys.Release(memory, sys.PageBytes())
}

func testSpaceShrinks(t T) {
	memory := memoryFor(t, unsafe.Sizeof(space.Space{}))
	s := (*space.Space)(memory.Pointer())
	if !s.Init(1<<(wordBits-4), recordBytes) {
		t.Fatalf("Init of a huge range failed")
	}
	got := s.Stats().Range
	if got > 1<<(29+5*sys.Is64Bit) || got < leastRange || got&(got-1) != 0 {
		t.Errorf("a huge range became %d bytes", got)
	}
	if wrong := s.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	s.Destroy()
	sys.Release(memory, sys.PageBytes())
}

func testOwners(t T) {
	r := newSpaceRig(t)
	m := r.mustTake(4, 1)
	one := r.mustTake(1, 1)
	base := r.s.Base
	for _, foreign := range []sys.Addr{0, 8, base - 1, base + leastRange, r.memory, ^sys.Addr(0)} {
		if r.s.Owns(foreign) || r.s.OwnerOf(foreign) != 0 || r.s.Granule(foreign) < r.s.Committed() {
			t.Errorf("foreign address %#x: Owns %v, owner %d", uintptr(foreign), r.s.Owns(foreign), r.s.OwnerOf(foreign))
		}
	}
	for _, ours := range []sys.Addr{base, base + leastRange - 1} {
		if !r.s.Owns(ours) || r.s.OwnerOf(ours) != 0 {
			t.Errorf("address %#x of the range: Owns %v, owner %d", uintptr(ours), r.s.Owns(ours), r.s.OwnerOf(ours))
		}
	}
	start := r.s.Addr(m.ref)
	for _, offset := range []sys.Addr{0, 1, 65535, 65536, 262143} {
		if r.s.OwnerOf(start+offset) != m.owner {
			t.Errorf("offset %d of a group has owner %d", offset, r.s.OwnerOf(start+offset))
		}
	}
	if r.s.OwnerOf(start-1) == m.owner || r.s.OwnerOf(start+262144) == m.owner {
		t.Errorf("the owner of a group owns its neighbours too")
	}
	if *r.s.GrowLock() != 0 || *r.s.RunsLock() != 0 {
		t.Errorf("a lock is held while nothing happens")
	}
	r.giveRun(one)
	r.giveRun(m)
	r.close()
}

// rangeGranules is the number of granules of the smallest range that can be taken.
const rangeGranules = leastRange/space.GranuleBytes - space.First

func testTakeAllGranules(t T) {
	r := newSpaceRig(t)
	for round := 0; round < 2; round++ {
		for i := 0; i < rangeGranules; i++ {
			r.mustTake(1, 1)
		}
		if r.take(1, 1) != nil || r.take(4, 4) != nil {
			t.Fatalf("a full range gave a run")
		}
		r.give(100, false)
		if r.take(2, 1) != nil {
			t.Fatalf("a run of two was made of one granule")
		}
		r.mustTake(1, 1)
		r.giveAll()
	}
	r.mustTake(rangeGranules, 1) // all granules joined
	if r.take(1, 1) != nil {
		t.Fatalf("a full range gave a run")
	}
	if r.s.Stats().Used != rangeGranules*space.GranuleBytes || r.s.Frontier() != leastRange/space.GranuleBytes {
		t.Errorf("the range is full, but %d bytes are used", r.s.Stats().Used)
	}
	r.giveAll()
	for i := 0; i < rangeGranules/4; i++ {
		r.mustTake(4, 4)
	}
	r.giveAll()
	if r.take(rangeGranules+1, 1) != nil || r.take(1<<31, 1) != nil {
		t.Errorf("a run larger than the range was given")
	}
	r.close()
}

func testTakeSizes(t T) {
	for align := uint32(1); align <= 8; align *= 2 {
		r := newSpaceRig(t)
		for granules := uint32(1); granules < 20; granules++ {
			r.mustTake(granules, align)
			if granules%3 == 0 {
				r.give(len(r.runs)/2, false)
			}
			if granules%6 == 0 {
				r.giveAll()
			}
		}
		r.giveAll()
		r.mustTake(100, align)
		r.giveAll()
		r.close()
	}
}

func testTakeOrder(t T) {
	r := newSpaceRig(t)
	clean2, fence1 := r.mustTake(2, 1), r.mustTake(1, 1)
	dirty8, fence2 := r.mustTake(8, 1), r.mustTake(1, 1)
	dirty3, fence3 := r.mustTake(3, 1), r.mustTake(1, 1)
	r.giveRun(clean2)
	r.release(0, 0)
	r.giveRun(dirty8)
	r.giveRun(dirty3)
	frontier := r.s.Frontier()
	expect := func(granules uint32, want space.Ref, zero bool, why string) {
		m := r.mustTake(granules, 1)
		if m.ref != want || r.s.Run(m.ref).Zero != zero {
			t.Fatalf("%s: Take(%d) gave granule %d, zero %v; want %d, %v", why, granules, m.ref, r.s.Run(m.ref).Zero, want,
				zero)
		}
	}
	expect(2, dirty3.ref, false, "the smallest dirty run that fits, although a clean one fits better")
	expect(1, dirty3.ref+2, false, "what is left of it")
	expect(8, dirty8.ref, false, "the dirty run that fits")
	expect(2, clean2.ref, true, "then a clean run")
	if r.s.Frontier() != frontier {
		t.Errorf("the frontier moved while runs were free")
	}
	expect(5, space.Ref(frontier), true, "then the frontier")
	for _, m := range []*run{fence1, fence2, fence3} {
		r.giveRun(m)
	}
	r.giveAll()
	r.close()
}

func testJoin(t T) {
	// Four runs side by side, given back in every order; with a fence behind them, and without.
	for order := 0; order < 24; order++ {
		r := newSpaceRig(t)
		var parts []*run
		for i := uint32(1); i <= 4; i++ {
			parts = append(parts, r.mustTake(i, 1))
		}
		first := parts[0].ref
		if order%2 == 0 {
			r.mustTake(1, 1)
		}
		for left, pick := 4, order; left > 0; left-- {
			at := pick % left
			pick /= left
			r.giveRun(parts[at])
			parts = append(parts[:at], parts[at+1:]...)
			if pick%3 == 0 {
				r.release(0, 0) // some parts are clean, some dirty
			}
		}
		frontier := r.s.Frontier()
		if m := r.mustTake(10, 1); m.ref != first || r.s.Frontier() != frontier {
			t.Fatalf("order %d: ten free granules from %d on were not joined: the run came from %d", order, first, m.ref)
		}
		r.giveAll()
		r.close()
	}
}

func testExtendShrink(t T) {
	r := newSpaceRig(t)
	a, b, fence := r.mustTake(2, 1), r.mustTake(6, 1), r.mustTake(1, 1)
	if r.extend(a, 1) {
		t.Fatalf("a run grew into another")
	}
	r.giveRun(b)
	if r.extend(a, 7) {
		t.Fatalf("a run grew into the one behind the free granules")
	}
	if !r.extend(a, 4) || !r.extend(a, 2) || r.extend(a, 1) {
		t.Fatalf("a run did not grow to the end of the free granules and no further")
	}
	r.shrink(a, 8)
	r.shrink(a, 9)
	if a.granules != 8 {
		t.Fatalf("a run changed as it was shrunk to its size")
	}
	r.shrink(a, 3)
	c := r.mustTake(5, 1)
	if c.ref != a.ref+3 {
		t.Errorf("what a run gave up is granule %d, but %d was taken", a.ref+3, c.ref)
	}
	r.giveRun(c)
	r.giveRun(fence)
	if r.extend(a, 60) {
		t.Errorf("a run grew over the frontier")
	}
	r.giveAll()
	r.close()
}

func testReleaseAfterExtend(t T) {
	r := newSpaceRig(t)
	a, b, fence := r.mustTake(2, 1), r.mustTake(3, 1), r.mustTake(1, 1)
	r.giveRun(b)
	if !r.extend(a, 3) {
		t.Fatalf("a run did not grow into free granules")
	}
	r.giveRun(a)
	if done := r.release(0, 0); done.Runs != 1 || done.Bytes != 5*space.GranuleBytes {
		t.Errorf("one run of 5 granules was given back, but the sweep says %d runs of %d bytes", done.Runs, done.Bytes)
	}
	r.giveRun(fence)
	r.close()
}

// testDroppedRecord has the head of a run become a granule inside of a large free run, whose record goes back.
func testDroppedRecord(t T) {
	r := newSpaceRig(t)
	a, b := r.mustTake(rangeGranules/2, 1), r.mustTake(rangeGranules/2, 1)
	head := b.ref
	r.giveRun(a)
	r.giveRun(b)
	r.release(0, 0)
	if r.s.Granules(head) == 0 {
		t.Errorf("a walker that looks at granule %d while neighbours join would stay there for ever", head)
	}
	r.close()
}

func testGiveNow(t T) {
	r := newSpaceRig(t)
	m, fence := r.mustTake(5, 1), r.mustTake(1, 1)
	ref := m.ref
	r.give(0, true)
	stats := r.s.Stats()
	if stats.Dirty != 0 || stats.ReleasedRuns != 1 || stats.ReleasedBytes != 5*space.GranuleBytes {
		t.Errorf("a run was given back at once, the figures say %+v", stats)
	}
	if m = r.mustTake(5, 1); m.ref != ref || !r.s.Run(ref).Zero {
		t.Errorf("the run is granule %d, zero %v", m.ref, r.s.Run(m.ref).Zero)
	}
	r.giveRun(fence)
	r.giveAll()
	r.close()
}

func testClearDirty(t T) {
	r := newSpaceRig(t)
	for round := 0; round < 6; round++ {
		a, b, c := r.mustTake(2, 1), r.mustTake(3, 1), r.mustTake(1, 1)
		r.giveRun(a)
		r.giveRun(c)
		if round%2 == 0 {
			r.release(0, 0)
		}
		r.giveRun(b) // dirty and clean granules in one run
		for _, bytes := range []uintptr{6 * space.GranuleBytes, 100000, 4096, 65536, 65537, 0} {
			r.takeZero(6, bytes)
			r.giveAll()
		}
	}
	r.close()
}

func testReleaseAge(t T) {
	r := newSpaceRig(t)
	old, fence1 := r.mustTake(4, 1), r.mustTake(1, 1)
	young, fence2 := r.mustTake(4, 1), r.mustTake(1, 1)
	if done := r.release(0, second); done.Runs != 0 {
		t.Fatalf("%d runs in use were released", done.Runs)
	}
	r.giveRun(old)
	if done := r.release(5*second, second); done.Runs != 0 || r.s.DirtyBytes() != 4*space.GranuleBytes {
		t.Fatalf("a run was released as soon as a sweep saw it: freeing does not read the clock")
	}
	r.giveRun(young)
	if done := r.release(second/2, second); done.Runs != 0 {
		t.Fatalf("a run was released after half a second")
	}
	done := r.release(second/2, second)
	if done.Runs != 1 || done.Bytes != 4*space.GranuleBytes || done.Longest != second {
		t.Fatalf("the run that is a second old: released %+v", done)
	}
	done = r.release(second/2, second)
	if done.Runs != 1 || done.Longest != second || r.s.DirtyBytes() != 0 {
		t.Fatalf("the run that is a second old now: released %+v", done)
	}
	if stats := r.s.Stats(); stats.ReleasedRuns != 2 || stats.ReleasedBytes != 8*space.GranuleBytes {
		t.Errorf("two runs of four granules were released, the figures say %+v", stats)
	}
	r.giveRun(fence1)
	r.giveRun(fence2)
	if done := r.release(0, 0); done.Runs != 2 || done.Longest != 0 {
		t.Errorf("a sweep for age 0 left something: %+v", done)
	}
	r.close()
}

func testReleaseAgain(t T) {
	r := newSpaceRig(t)
	m := r.mustTake(4, 1)
	for round := 0; round < 3; round++ {
		r.giveRun(m)
		r.release(0, second)
		r.release(second-second/1000, second)
		m = r.mustTake(4, 1)
		if r.s.Run(m.ref).Zero {
			t.Fatalf("a run that was not released is said to be zero")
		}
	}
	first := m.ref
	r.giveRun(m)
	r.release(0, second)
	if done := r.release(second, second); done.Runs != 1 {
		t.Fatalf("the run was not released: %+v", done)
	}
	if m = r.mustTake(4, 1); m.ref != first || !r.s.Run(m.ref).Zero {
		t.Errorf("the address released was not used again first")
	}
	r.giveRun(m)
	r.close()
}

func testJoinedAge(t T) {
	r := newSpaceRig(t)
	a, b, c, fence := r.mustTake(1, 1), r.mustTake(2, 1), r.mustTake(3, 1), r.mustTake(1, 1)
	first := a.ref
	r.giveRun(a)
	r.release(0, second)
	r.giveRun(c)
	r.release(6*second/10, second)
	r.giveRun(b) // all six are one run now, free since 0.6 s, 0 s and now
	dirty := func() uintptr { return r.s.DirtyBytes() >> space.GranuleShift }
	if r.release(4*second/10, second); dirty() != 5 {
		t.Errorf("after a second of one granule %d of six are left", dirty())
	}
	if r.release(5*second/10, second); dirty() != 5 {
		t.Errorf("memory free for 0.9 s was released with an age of a second: %d granules left", dirty())
	}
	if r.release(second/10, second); dirty() != 2 {
		t.Errorf("memory free for a second was not released, or more was: %d granules left", dirty())
	}
	if r.release(second, second); dirty() != 0 {
		t.Errorf("%d granules were not released", dirty())
	}
	if m := r.mustTake(6, 1); m.ref != first || !r.s.Run(m.ref).Zero {
		t.Errorf("the six granules did not join")
	}
	r.giveRun(fence)
	r.giveAll()
	r.close()
}

func testTakeMeta(t T) {
	r := newSpaceRig(t)
	random := newRandom(11)
	for i := 0; i < 40; i++ {
		m := r.mustTake(4, 4)
		if r.takeMeta(64+64*random.Below(1024)) == 0 {
			t.Fatalf("TakeMeta found nothing")
		}
		if i%2 == 0 {
			r.giveRun(m) // dirty memory for the next table
		}
	}
	if r.s.Stats().Meta == 0 {
		t.Errorf("the figures know of no tables")
	}
	r.giveAll()
	r.close()
}

func testTakeMetaFull(t T) {
	r := newSpaceRig(t)
	for r.take(4, 4) != nil {
	}
	taken := 0
	for r.takeMeta(64<<10) != 0 {
		taken++
	}
	if taken != space.First {
		t.Errorf("%d tables of 64 KiB came of the first granules", taken)
	}
	r.give(3, false)
	if r.takeMeta(64) == 0 {
		t.Errorf("a table was refused while four granules are free")
	}
	r.giveAll()
	r.close()
}

func testSpaceSequences(t T) {
	for seed := uint64(1); seed <= 8; seed++ {
		RunSpaceScript(t, RandomScript(seed, 1200), 600)
	}
}

// testSpaceThreads has threads take and give runs and mark them as theirs, while one of them releases.
func testSpaceThreads(t T) {
	const workers, rounds = 4, 1500
	r := newSpaceRig(t)
	wrong := make([]string, workers)
	var done sync.WaitGroup
	done.Add(workers)
	for w := 0; w < workers; w++ {
		go func(mine int) {
			defer done.Done()
			wrong[mine] = spaceWorker(r.s, uint16(mine+1), rounds)
		}(w)
	}
	done.Wait()
	for w, text := range wrong {
		if text != "" {
			t.Errorf("worker %d: %s", w, text)
		}
	}
	r.check()
	r.release(0, 0)
	r.close()
}

func spaceWorker(s *space.Space, owner uint16, rounds int) (wrong string) {
	random := newRandom(uint64(owner))
	var mine []space.Ref
	give := func(index int) {
		ref := mine[index]
		last := s.Addr(ref) + sys.Addr(s.Bytes(ref)) - 8
		if s.OwnerOf(last) != owner || s.Addr(ref).Word() != uintptr(ref) || last.Word() != uintptr(ref) {
			wrong = "a run that a thread held was taken by another"
		}
		mine[index] = mine[len(mine)-1]
		mine = mine[:len(mine)-1]
		s.SetOwner(ref, 0)
		s.Give(ref)
	}
	for i := 0; i < rounds && wrong == ""; i++ {
		if len(mine) > 0 && (random.Below(2) == 0 || len(mine) > 12) {
			give(int(random.Below(uintptr(len(mine)))))
			continue
		}
		ref := s.Take([]uint32{1, 4, 9}[random.Below(3)], 1<<random.Below(3))
		if ref == 0 {
			continue
		}
		if s.Run(ref).Zero && (s.Addr(ref).Word() != 0 || (s.Addr(ref)+sys.Addr(s.Bytes(ref))-8).Word() != 0) {
			return "a run said to be zero is not"
		}
		s.SetOwner(ref, owner)
		s.Addr(ref).SetWord(uintptr(ref))
		(s.Addr(ref) + sys.Addr(s.Bytes(ref)) - 8).SetWord(uintptr(ref))
		mine = append(mine, ref)
		if owner == 1 && i%16 == 0 {
			s.ReleaseIdle(uint64(i+1), 20)
		}
	}
	for len(mine) > 0 {
		give(len(mine) - 1)
	}
	return wrong
}
