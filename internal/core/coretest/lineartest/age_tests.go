package lineartest

import "granary/internal/core/linear"

var ageTests = []Test{
	{Name: "an allocation is overdue once it is older than the maximum age, and counted once", Run: testOverdue},
	{Name: "what is freed late is told from what is never freed", Run: testLate},
	{Name: "young allocations in the same block do not count", Run: testYoungInTheSameBlock},
	{Name: "without a maximum age nothing is overdue", Run: testNoAge},
	{Name: "a large maximum age is kept within its step", Run: testLargeAge},
	{Name: "a worker that makes a little in every frame needs two blocks", Run: testSteady},
	{Name: "the cursor finds what is alive, and what is too old, with its site", Run: testCursor},
}

func testOverdue(t T) {
	r := newRig(t, small(4), 2)
	r.alloc(0, 100, 16, 0)
	r.alloc(1, 70*kib, 16, 0)
	r.alloc(0, 1<<20, 16, 0) // the heap's
	for frame := 1; frame <= 10; frame++ {
		r.nextFrame()
		r.check(true)
		if want := uint64(0); frame > 4 {
			want = 3
			if r.overdue != want {
				t.Fatalf("in frame %d %d are overdue", frame, r.overdue)
			}
		}
	}
	r.close()
}

func testLate(t T) {
	r := newRig(t, small(4), 1)
	for i := 0; i < 10; i++ {
		r.alloc(0, 100, 16, 0)
	}
	for i := 0; i < 4; i++ {
		r.nextFrame()
	}
	r.free(0, 0) // in time
	r.nextFrame()
	r.free(0, 0)
	r.free(-1, 0)
	r.alloc(0, 100, 16, 0)
	r.free(0, 0)
	r.check(true)
	var stats linear.Stats
	r.a.Read(&stats)
	if stats.Overdue != 9 || stats.Late != 3 {
		t.Fatalf("%d are overdue, %d of them late; want 9 and 3", stats.Overdue, stats.Late)
	}
	r.close()
}

func testYoungInTheSameBlock(t T) {
	r := newRig(t, small(4), 1)
	for frame := 0; frame < 200; frame++ {
		for i := 0; i < 3; i++ {
			r.alloc(0, 64, 16, 0)
		}
		if frame >= 4 {
			for i := 0; i < 3; i++ {
				r.freeOldest()
			}
		}
		r.nextFrame()
		r.check(true)
	}
	if r.overdue != 0 {
		t.Fatalf("%d are overdue", r.overdue)
	}
	r.close()
}

// freeOldest frees the allocation of the earliest frame.
func (r *rig) freeOldest() {
	oldest := 0
	for i := range r.live {
		if r.live[i].frame < r.live[oldest].frame {
			oldest = i
		}
	}
	r.free(0, oldest)
}

func testNoAge(t T) {
	r := newRig(t, linear.Config{BlockBytes: 64 * kib}, 1)
	r.alloc(0, 100, 16, 0)
	for i := 0; i < 1000; i++ {
		r.nextFrame()
		r.alloc(0, 100, 16, 0)
		if i >= 100 {
			r.freeOldest()
		}
	}
	r.check(true)
	if r.overdue != 0 || r.late != 0 {
		t.Fatalf("something is overdue")
	}
	r.close()
}

func testLargeAge(t T) {
	const age = 100 // a segment holds 8 frames
	r := newRig(t, linear.Config{BlockBytes: 64 * kib, MaxAge: age}, 1)
	var stats linear.Stats
	for frame := 0; frame < 300; frame++ {
		r.alloc(0, 64, 16, 0)
		r.nextFrame()
		r.a.Read(&stats)
		if stats.Overdue > r.overdue || stats.Overdue+8 < r.overdue {
			t.Fatalf("in frame %d %d are counted, %d overdue", frame, stats.Overdue, r.overdue)
		}
		r.check(false)
	}
	r.close()
}

func testSteady(t T) {
	r := newRig(t, small(64), 1)
	for frame := 0; frame < 500; frame++ {
		for i := 0; i < 10; i++ {
			r.alloc(0, 64, 16, 0)
		}
		for len(r.live) > 30 {
			r.freeOldest()
		}
		r.nextFrame()
	}
	r.check(true)
	if _, peak := r.used(); peak > 2 {
		t.Fatalf("%d blocks were in use", peak)
	}
	r.close()
}

func testCursor(t T) {
	config := small(4)
	config.Diagnose = true
	r := newRig(t, config, 2)
	for site := uint32(1); site <= 40; site++ {
		size := uintptr(site * 100)
		if site%10 == 0 {
			size = 1 << 20
		}
		r.alloc(int(site%2), size, 16, site)
		if site%8 == 0 {
			r.nextFrame()
		}
	}
	for i := 0; i < 10; i++ {
		r.free(i%2, i)
	}
	r.check(true)
	found := map[uint32]bool{}
	for _, old := range []bool{false, true} {
		want := 0
		for i := range r.live {
			if !old || r.isOld(&r.live[i]) {
				want++
				found[r.live[i].site] = true
			}
		}
		for c := (linear.Cursor{}); r.a.Next(&c, old); want-- {
			if !found[c.Site] {
				t.Fatalf("site %d is found twice, or none", c.Site)
			}
			delete(found, c.Site)
			m := r.at(c.At)
			if m == nil || m.site != c.Site || m.frame != c.Frame {
				t.Fatalf("the cursor tells the wrong site or frame")
			}
		}
		if want != 0 {
			t.Fatalf("%d allocations are missing", want)
		}
	}
	r.close()
}
