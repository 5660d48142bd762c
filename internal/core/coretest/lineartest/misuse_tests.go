package lineartest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/linear"
	"granary/internal/core/sys"
)

var misuseTests = []Test{
	{Name: "diagnosing, a second free and a foreign pointer are told", Run: testDiagnosed},
	{Name: "whatever is freed wrongly, the pool stays sound", Run: testPoolStaysSound},
	{Name: "an address that is no allocation is refused", Run: testForeign},
}

// at finds an allocation of the model.
func (r *rig) at(p sys.Addr) *made {
	for i := range r.live {
		if r.live[i].at == p {
			return &r.live[i]
		}
	}
	return nil
}

func (r *rig) expectFree(worker int, p sys.Addr, want int, what string) {
	var w *linear.Worker
	if worker >= 0 {
		w = r.workers[worker]
		if w.Mine(r.a.Frame(), p) {
			r.Fatalf("%s: the fast path takes it", what)
		}
	}
	if got := r.a.FreeSlow(w, p, false); got != want {
		r.Fatalf("%s: FreeSlow gives %d, not %d", what, got, want)
	}
}

func testDiagnosed(t T) {
	config := small(4)
	config.Diagnose = true
	r := newRig(t, config, 2)
	p := r.alloc(0, 200, 16, 1).at
	q := r.alloc(0, 1<<20, 16, 1).at
	keep := r.alloc(0, 64, 16, 2).at
	for _, worker := range []int{0, 1, -1} {
		r.expectFree(worker, p+16, linear.Foreign, "inside of an allocation")
		r.expectFree(worker, p+8, linear.Foreign, "at an odd place")
		r.expectFree(worker, keep+64, linear.Foreign, "behind the last one")
		r.expectFree(worker, q+16, linear.Foreign, "inside of a block of the heap")
		r.expectFree(worker, 0x1000, linear.Foreign, "anywhere")
	}
	r.free(1, 0)
	for _, worker := range []int{0, 1, -1} {
		r.expectFree(worker, p, linear.Twice, "a second time")
	}
	r.check(true)
	for len(r.live) > 0 {
		r.free(0, 0)
	}
	r.expectFree(0, q, linear.Foreign, "a block of the heap a second time")
	if got := r.a.FreeSlow(nil, keep, false); got == linear.Freed {
		t.Fatalf("freed twice")
	}
	r.check(true)
	var stats linear.Stats
	if r.a.Read(&stats); stats.Misuses != 20 {
		t.Fatalf("%d misuses are counted", stats.Misuses)
	}
	r.close()
}

// testPoolStaysSound frees all sorts of addresses without diagnosing. Counts may suffer, as nobody can know better; the
// pool must not: after a reset everything is as it should be.
func testPoolStaysSound(t T) {
	r := newRig(t, small(8), 3)
	random := kit.NewRandom(99)
	var stale []sys.Addr
	for round := 0; round < 200; round++ {
		for i := 0; i < 50; i++ {
			size := random.Below(3000)
			if random.Below(20) == 0 {
				size = random.Below(600 * kib)
			}
			stale = append(stale, r.alloc(int(random.Below(3)), size, 16, 0).at)
		}
		for i := 0; i < 200; i++ {
			p := stale[random.Below(uintptr(len(stale)))]
			if random.Below(10) == 0 {
				p += sys.Addr(random.Below(100000))
			}
			worker := int(random.Below(4)) - 1
			var w *linear.Worker
			if worker >= 0 {
				w = r.workers[worker]
				if w.Mine(r.a.Frame(), p) {
					if w.Drop() {
						w.Rewind()
					}
					continue
				}
			}
			r.a.FreeSlow(w, p, false)
		}
		if round%10 == 0 {
			r.a.NextFrame()
		}
		if round%20 == 19 {
			stale = nil
			r.a.Reset()
			var c linear.Cursor
			for r.a.TakeOverflow(&c) != 0 {
			}
			if what := r.a.Check(); what != "" {
				t.Fatalf("after a reset: %s", what)
			}
		}
	}
	r.live = nil
	r.a.Reset()
	r.close()
}

func testForeign(t T) {
	r := newRig(t, small(4), 1)
	other := newRig(t, small(4), 1)
	p := r.alloc(0, 64, 16, 0).at
	run := r.space.Take(4, 1)
	second := linear.New(r.space, small(2))
	second.Prepare(1)
	index := second.Take(64)
	q := second.Install(second.WorkerAt(0), index, 64, 16, 0)
	for _, foreign := range []sys.Addr{0, 1, 16, other.alloc(0, 64, 16, 0).at, r.space.Addr(run), q,
		r.space.Base, r.space.Base + rangeBytes - 16, r.space.Base - 16, ^sys.Addr(0) &^ 15} {
		r.expectFree(0, foreign, linear.Foreign, "another's address")
	}
	r.expectFree(-1, p+1, linear.Foreign, "at an odd place")
	if what := second.Check(); what != "" {
		t.Fatalf("%s", what)
	}
	second.Destroy()
	r.space.Give(run)
	r.check(true)
	other.close()
	r.close()
}
