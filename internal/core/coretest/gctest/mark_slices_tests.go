package gctest

import (
	"fmt"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// sliceTests are about collections during which the program runs, and about those that look at new objects only.
var sliceTests = []Test{
	{Name: "slices without changes mark exactly, with and without helpers", Run: testSlices},
	{Name: "a program that shades what it overwrites loses nothing between slices", Run: testSnapshot},
	{Name: "a missing barrier is found", Run: testMissingBarrier},
	{Name: "written pages that are scanned again lose nothing between slices", Run: testDirtyPages},
	{Name: "a collection of new objects keeps old ones and frees new ones", Run: testPartial},
	{Name: "objects made and freed between slices", Run: testFreeBetweenSlices},
}

// pause ends a slice: the program runs.
func (r *markRig) pause() {
	r.h.Unhold()
	if wrong := r.h.Check(); wrong != "" {
		r.t.Fatalf("between two slices: %s", wrong)
	}
}

func (r *markRig) resume() {
	if !r.h.Hold() {
		r.t.Fatalf("somebody holds the heap")
	}
}

func testSlices(t kit.T) {
	for helpers := 0; helpers < 3; helpers++ {
		r := newMarkRig(t, gc.ModeVerify)
		random := newRandom(uint64(helpers + 50))
		slices := 0
		for round := 0; round < 3; round++ {
			r.graph(random, 4000)
			r.begin(true)
			for !r.drain(helpers*(slices%2), 1) {
				slices++
				r.pause()
				r.resume()
			}
			r.end()
			r.compare(fmt.Sprintf("round %d, %d helpers", round, helpers), true)
		}
		if slices < 3 {
			t.Errorf("there were only %d slices", slices)
		}
		r.close()
	}
}

// change writes references at random as a program does that runs during a collection: what it can reach, it may use.
func (r *markRig) change(random *random, writes int, shade bool) []sys.Addr {
	r.reach()
	var alive []*cell
	for _, c := range r.cells {
		if c.alive {
			alive = append(alive, c)
		}
	}
	var written []sys.Addr
	for i := 0; i < writes; i++ {
		from := alive[random.Below(uintptr(len(alive)))]
		to := alive[random.Below(uintptr(len(alive)))]
		if random.Below(4) == 0 {
			to = r.cell(8+8*random.Below(40), gc.KindNormal, 0)
			alive = append(alive, to)
		}
		word := random.Below(from.bytes / sys.WordBytes)
		at := from.addr + sys.Addr(word*sys.WordBytes)
		if shade {
			r.h.Shade(at.Word())
		}
		written = append(written, at)
		r.set(from, word, to, 0)
		if random.Below(8) == 0 {
			i := int(random.Below(16))
			r.root(i, alive[random.Below(uintptr(len(alive)))])
		}
	}
	return written
}

func testSnapshot(t kit.T) {
	for seed := uint64(0); seed < 4; seed++ {
		r := newMarkRig(t, gc.ModeVerify|uint32(seed%2)*gc.ModeInterior)
		random := newRandom(seed + 900)
		r.graph(random, 3000)
		for round := 0; round < 3; round++ {
			r.begin(true)
			for !r.drain(int(seed%3), 1) {
				r.pause()
				r.change(random, 60, true)
				r.resume()
			}
			r.end()
			r.compare(fmt.Sprintf("seed %d, round %d", seed, round), false)
			r.check(fmt.Sprintf("seed %d, round %d, at rest", seed, round), 0)
			r.graph(random, 1000)
		}
		r.close()
	}
}

// hidden makes a long list of large cells whose last one alone names a victim, and begins to mark it. The program then
// moves the victim's address to the first cell, which has been scanned.
func (r *markRig) hidden(barrier bool) (victim *cell) {
	first := r.cell(2000, gc.KindNormal, 0)
	r.root(0, first)
	last := first
	for i := 0; i < 400; i++ {
		next := r.cell(2000, gc.KindNormal, 0)
		r.set(last, 100, next, 0)
		last = next
	}
	victim = r.cell(32, gc.KindNormal, 0)
	r.set(last, 5, victim, 0)
	r.begin(true)
	if r.drain(0, 1) {
		r.t.Fatalf("the list is too short for two slices")
	}
	r.pause()
	if barrier {
		r.h.Shade((last.addr + 5*sys.WordBytes).Word())
	}
	r.set(first, 7, victim, 0)
	r.set(last, 5, nil, 0)
	r.resume()
	for !r.drain(0, 1) {
		r.pause()
		r.resume()
	}
	return victim
}

func testMissingBarrier(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify)
	var victim *cell
	if found := differences(func() { victim = r.hidden(true); r.end() }); len(found) != 0 {
		t.Errorf("a difference is found though there is a barrier")
	}
	r.compare("with a barrier", false)
	found := differences(func() { victim = r.hidden(false); r.end() })
	if len(found) != 1 || found[0] != victim.addr {
		t.Errorf("the missing barrier is not found, or at another object")
	}
	r.root(0, nil)
	r.close()
}

func testDirtyPages(t kit.T) {
	for seed := uint64(0); seed < 4; seed++ {
		r := newMarkRig(t, gc.ModeVerify|uint32(seed%2)*gc.ModeInterior)
		random := newRandom(seed + 300)
		r.graph(random, 2000)
		for round := 0; round < 2; round++ {
			r.begin(true)
			var written []sys.Addr
			for !r.drain(0, 1) {
				r.pause()
				written = append(written, r.change(random, 60, false)...)
				r.resume()
			}
			r.giveRoots()
			for _, at := range written {
				r.h.RescanBlock(at)
			}
			r.drain(int(seed%2), 0)
			r.end()
			r.compare(fmt.Sprintf("seed %d, round %d", seed, round), false)
			r.check(fmt.Sprintf("seed %d, round %d, at rest", seed, round), 0)
		}
		r.close()
	}
}

func testPartial(t kit.T) {
	r := newMarkRig(t, gc.ModeInterior)
	random := newRandom(77)
	r.graph(random, 4000)
	r.check("a full one", 0)
	old := append([]*cell(nil), r.cells...)
	for round := 0; round < 5; round++ {
		var fresh []*cell
		for i := 0; i < 500; i++ {
			fresh = append(fresh, r.cell(8+8*random.Below(20), gc.KindNormal, 0))
		}
		var written []sys.Addr
		for i := 0; i < 100; i++ {
			c := old[random.Below(uintptr(len(old)))]
			word := random.Below(c.bytes / sys.WordBytes)
			r.set(c, word, fresh[random.Below(500)], 0)
			written = append(written, c.addr+sys.Addr(word*sys.WordBytes))
		}
		r.begin(false)
		for _, at := range written {
			r.h.RescanBlock(at)
		}
		r.drain(0, 0)
		r.end()
		r.compare("what can be reached", false)
		dead := 0
		for _, c := range fresh {
			if !c.alive && !r.h.IsMarked(c.addr) {
				dead++
			}
		}
		if dead < 100 { // the others lay in chains when the collection before began, and are old ones
			t.Errorf("round %d: of 500 new objects only %d are dead", round, dead)
		}
		for _, c := range old {
			if !r.h.IsMarked(c.addr) {
				t.Fatalf("round %d: an old object is no longer marked", round)
			}
		}
	}
	r.check("a full one again", 0)
	r.close()
}

func testFreeBetweenSlices(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify)
	random := newRandom(5)
	r.graph(random, 6000)
	r.begin(true)
	for !r.drain(0, 1) {
		r.pause()
		for i := 0; i < 40; i++ {
			addr := r.raw(8+8*random.Below(800), gc.KindNormal, 0)
			addr.SetWord(uintptr(r.cells[random.Below(uintptr(len(r.cells)))].addr))
			if random.Below(2) == 0 && !r.h.Free(r.c, addr) {
				t.Fatalf("an object that was just made cannot be freed")
			}
		}
		r.resume()
	}
	r.end()
	r.compare("with objects made and freed", false)
	r.check("at rest", 0)
	r.close()
}
