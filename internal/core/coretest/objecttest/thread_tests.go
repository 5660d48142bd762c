package objecttest

import (
	"runtime"
	"sync"
	"unsafe"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/object"
	"granary/internal/core/sys"
)

// This file: several threads at one world.

var threadTests = []kit.Test{
	{Name: "threads make, delete, hold and look at each other's objects", Run: testThreads},
	{Name: "an object that several threads delete is deleted once", Run: testDeletedOnce},
}

// together runs f in so many threads that begin at the same time.
func together(threads int, f func(thread int)) {
	var begin, end sync.WaitGroup
	begin.Add(1)
	for i := 0; i < threads; i++ {
		end.Add(1)
		go func(thread int) {
			runtime.LockOSThread() // a lock of the core knows the thread that holds it
			defer runtime.UnlockOSThread()
			defer end.Done()
			begin.Wait()
			f(thread)
		}(i)
	}
	begin.Done()
	end.Wait()
}

func testThreads(t T) {
	const threads, rounds, boardSize = 4, 6000, 64
	w := newWorld(t)
	types := []*object.Type{newThingType(t, w, 0), newThingType(t, w, 0)}
	var board [boardSize]object.Ref // references that all know of; counted
	var mu sync.Mutex
	stride := sys.Addr(object.StrideOf(unsafe.Sizeof(thing{})))
	together(threads, func(thread int) {
		random := kit.NewRandom(uint64(thread) + 1)
		for i := 0; i < rounds; i++ {
			n := random.Next() >> 20
			slot := n % boardSize
			mu.Lock()
			seen := board[slot]
			mu.Unlock()
			switch n >> 10 % 8 {
			case 0, 1, 2:
				ref := w.New(types[n>>20%2])
				f := (*thing)(w.Find(ref, stride))
				if f == nil || f.number != 0 {
					t.Errorf("a new object is not alive and empty")
					return
				}
				f.number = uint64(ref)
				if w.Retain(seen) {
					f.vars[0] = seen
				}
				w.Retain(ref)
				mu.Lock()
				old := board[slot]
				board[slot] = ref
				mu.Unlock()
				w.Release(old)
			case 3, 4:
				w.Delete(seen)
			case 5:
				if h := w.Handle(seen); h != 0 {
					if got := w.FromHandle(w.TypeOf(seen), h); got != seen && got != 0 {
						t.Errorf("handle %d is %#x, not %#x", h, uint64(got), uint64(seen))
					}
				}
			case 6:
				w.Move(seen, w.First(types[n>>20%2]), n>>30%2 == 0)
				w.After(seen)
				w.Before(seen)
			case 7:
				visits := 0
				for ref := w.Step(types[n>>20%2], 0); ref != 0; ref = w.Step(types[n>>20%2], ref) {
					if visits++; visits == 20 {
						w.Release(ref)
						break
					}
				}
			}
		}
	})
	for _, ref := range board {
		w.Release(ref)
	}
	endOfThreads(t, w, types)
}

// endOfThreads deletes everything and looks whether anything is left.
func endOfThreads(t T, w *object.World, types []*object.Type) {
	if wrong := w.Check(); wrong != "" {
		t.Fatalf("%s", wrong)
	}
	for _, of := range types {
		w.DeleteAll(of)
	}
	for _, of := range types {
		if of.Count() != 0 || of.Unreleased() != 0 {
			t.Errorf("%d objects are left, %d unreleased", of.Count(), of.Unreleased())
		}
	}
	if wrong := w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	w.Close()
}

func testDeletedOnce(t T) {
	const threads, count = 4, 3000
	w := newWorld(t)
	of := newThingType(t, w, 0)
	refs := make([]object.Ref, count)
	for i := range refs {
		refs[i] = w.New(of)
	}
	var deleted [threads]int
	together(threads, func(thread int) {
		for _, ref := range refs {
			if w.Delete(ref) {
				deleted[thread]++
			}
			if w.IsAlive(ref) {
				t.Errorf("an object is alive after its delete")
			}
		}
	})
	total := 0
	for _, n := range deleted {
		total += n
	}
	if total != count || of.Count() != 0 || of.Unreleased() != 0 {
		t.Errorf("%d deletes of %d objects, %d are left", total, count, of.Count())
	}
	if wrong := w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	w.Close()
}
