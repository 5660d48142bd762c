package objecttest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/object"
)

// This file: iterations that hold many objects at a time.

var batchTests = []kit.Test{
	{Name: "a batch visits what Step visits", Run: testBatch},
	{Name: "a batch goes on from where an object was moved to", Run: testBatchMoved},
	{Name: "an iteration that is left gives back what was deleted meanwhile", Run: testBatchLeft},
	{Name: "a variable let go of twice takes nothing from a run", Run: testRunReleasedTwice},
	{Name: "more iterations than there are runs visit the same", Run: testBatchesAtATime},
	{Name: "batches at random visit what After says", Run: testBatchesAtRandom},
}

func testBatch(t T) {
	r := newRig(t, 0)
	r.every = 0
	made := r.createMany(r.lists[0], 300)
	for i := 0; i < len(made); i += 3 {
		r.remove(made[i])
	}
	var b object.Batch
	visited := 0
	l := r.lists[0]
	for r.w.Fill(l.t, &b) {
		for b.HasMore(l.t) {
			ref := r.w.Next(&b)
			if ref == 0 {
				continue
			}
			if ref != made[visited/2*3+1+visited%2].ref {
				t.Fatalf("visit %d is %#x", visited, uint64(ref))
			}
			visited++
			r.w.Delete(ref)
			r.modelDelete(made[(visited-1)/2*3+1+(visited-1)%2])
		}
	}
	if visited != 200 {
		t.Errorf("%d objects were visited", visited)
	}
	r.w.LeaveBatch(l.t, &b)
	if l.t.Unreleased() != 0 || l.t.Count() != 0 {
		t.Errorf("%d are left, %d held", l.t.Count(), l.t.Unreleased())
	}
	r.lists[0].freed = nil // in batches the order is another one
	r.close()
}

func testBatchMoved(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 6)
	l := r.lists[0]
	var b object.Batch
	visited := ""
	for r.w.Fill(l.t, &b) {
		for b.HasMore(l.t) {
			ref := r.w.Next(&b)
			for _, p := range made {
				if p.ref == ref {
					visited += string(rune('0' + p.number))
				}
			}
			if ref == made[1].ref {
				r.every = 0
				r.move(made[4], made[1], true) // the next one
				r.move(made[2], made[0], true) // behind
			}
		}
	}
	if visited != "125 4 6" && visited != "12546" {
		t.Errorf("visited %q, expected 1 2 5 4 6", visited)
	}
	r.w.LeaveBatch(l.t, &b)
	r.close()
}

// The objects that a run holds have no counts of their own until they are deleted.
func testBatchLeft(t T) {
	for left := uint64(0); left < 3; left++ {
		r := newRig(t, 0)
		made := r.createMany(r.lists[0], 40)
		l := r.lists[0]
		var b, c object.Batch
		for i := 0; i < 3; i++ {
			if i == 0 && (!r.w.Fill(l.t, &b) || !r.w.Fill(l.t, &c)) {
				t.Fatalf("a list of 40 objects is empty")
			}
			r.w.Next(&b)
		}
		for i, want := range []uint32{0, 3, 10, 39} {
			if r.w.CountOf(made[want].ref) != 1 || !r.w.Delete(made[want].ref) || r.w.CountOf(made[want].ref) != 2 {
				t.Errorf("deleted %d, it is held %d times", want, r.w.CountOf(made[want].ref))
			}
			if l.t.Unreleased() != uint64(i)+1 {
				t.Errorf("%d are held", l.t.Unreleased())
			}
		}
		if left == 0 { // what was deleted after the iteration stood there, too
			r.w.DeleteAll(l.t)
		}
		if wrong := r.w.Check(); wrong != "" {
			t.Errorf("%s", wrong)
		}
		r.w.LeaveBatch(l.t, &b)
		r.w.LeaveBatch(l.t, &b)
		if r.w.CountOf(made[3].ref) != 1 {
			t.Errorf("the other iteration holds object 3 %d times", r.w.CountOf(made[3].ref))
		}
		r.w.LeaveBatch(l.t, &c)
		if l.t.Unreleased() != 0 || r.w.CountOf(made[3].ref) != 0 {
			t.Errorf("%d are held by nobody", l.t.Unreleased())
		}
		r.w.DeleteAll(l.t)
		if wrong := r.w.Check(); wrong != "" {
			t.Errorf("%s", wrong)
		}
		r.w.Close()
	}
}

func testRunReleasedTwice(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 512) // a chunk
	l := r.lists[0]
	var b object.Batch
	r.w.Fill(l.t, &b)
	first := r.w.Next(&b)
	for i := 0; i < 4; i++ {
		r.w.Release(first) // alive: only the list holds it
	}
	r.w.Delete(first)
	r.w.Release(first) // takes the run's count
	second := r.w.Next(&b)
	r.w.Delete(second)
	r.w.Release(second)
	if l.t.Unreleased() != 0 || second != made[1].ref {
		t.Errorf("%d are held, the second is %#x", l.t.Unreleased(), uint64(second))
	}
	again := r.w.New(l.t) // has the slot of the first
	for r.w.Fill(l.t, &b) {
		for b.HasMore(l.t) {
			r.w.Next(&b)
		}
	}
	r.w.LeaveBatch(l.t, &b)
	if uint32(again) != uint32(first) || !r.w.IsAlive(again) || r.w.CountOf(again) != 1 || l.t.Count() != 511 {
		t.Errorf("%#x is held %d times, %d are alive", uint64(again), r.w.CountOf(again), l.t.Count())
	}
	if wrong := r.w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	r.w.Close()
}

func testBatchesAtATime(t T) {
	r := newRig(t, object.FlagSingleOwner)
	l := r.lists[0]
	made := r.createMany(l, 200)
	var batches [20]object.Batch
	var visited [20]int
	for round, more := 0, true; more; round++ {
		more = false
		for i := range batches {
			for !batches[i].HasMore(l.t) {
				if !r.w.Fill(l.t, &batches[i]) {
					break
				}
			}
			if !batches[i].HasMore(l.t) {
				continue
			}
			more = true
			if ref := r.w.Next(&batches[i]); ref != 0 {
				visited[i]++
			}
		}
		if round < 200 && round%5 == 4 { // all stand at it
			r.w.Delete(made[round].ref)
		}
	}
	for i := range visited {
		if visited[i] != 200 {
			t.Errorf("iteration %d visited %d", i, visited[i])
		}
	}
	if l.t.Unreleased() != 0 || l.t.Count() != 160 {
		t.Errorf("%d are held, %d alive", l.t.Unreleased(), l.t.Count())
	}
	r.w.DeleteAll(l.t)
	r.w.Close()
}

// An iteration holds the object where it stands, so After of that says what comes next, whatever happened meanwhile.
func testBatchesAtRandom(t T) {
	for seed := uint64(1); seed <= 12; seed++ {
		random := kit.NewRandom(seed)
		r := newRig(t, uint32(seed)%2*object.FlagSingleOwner)
		l := r.lists[0]
		var batches [11]object.Batch
		var stands [11]object.Ref
		var known [300]object.Ref
		for step := 0; step < 6000; step++ {
			at, i := random.Next()>>20%300, random.Next()>>20%11
			switch what := random.Next() >> 20 % 64; {
			case what < 12:
				if !r.w.IsAlive(known[at]) {
					known[at] = r.w.New(l.t)
				}
			case what < 20:
				r.w.Delete(known[at])
			case what < 21:
				r.w.Move(known[at], known[random.Next()>>20%300], at%2 == 0)
			case what < 22:
				r.w.LeaveBatch(l.t, &batches[i])
				batches[i], stands[i] = object.Batch{}, 0
			default:
				stands[i] = nextOf(r, &batches[i], stands[i])
			}
		}
		if wrong := r.w.Check(); wrong != "" {
			t.Fatalf("%s", wrong)
		}
		for i := range batches {
			r.w.LeaveBatch(l.t, &batches[i])
		}
		if wrong := r.w.Check(); wrong != "" || l.t.Unreleased() != 0 {
			t.Errorf("%d are held by nobody; %s", l.t.Unreleased(), wrong)
		}
		r.w.Close()
	}
}

// nextOf goes on with an iteration, to its beginning after the end.
func nextOf(r *rig, b *object.Batch, stands object.Ref) object.Ref {
	l := r.lists[0]
	want := r.w.First(l.t)
	if stands != 0 {
		want = r.w.After(stands)
	}
	for {
		for b.HasMore(l.t) {
			if ref := r.w.Next(b); ref != 0 {
				if ref != want {
					r.t.Fatalf("%#x comes after %#x, expected %#x", uint64(ref), uint64(stands), uint64(want))
				}
				return ref
			}
		}
		if !r.w.Fill(l.t, b) {
			if want != 0 {
				r.t.Fatalf("nothing comes after %#x, expected %#x", uint64(stands), uint64(want))
			}
			return 0
		}
	}
}
