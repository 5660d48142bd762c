package objecttest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/object"
)

// This file: what happens when something runs out.

var limitTests = []kit.Test{
	{Name: "a slot whose generations are used up is retired", Run: testRetired},
	{Name: "without memory a call fails and changes nothing", Run: testNoMemory},
	{Name: "objects of any size have their place", Run: testSizes},
	{Name: "many chunks of many types", Run: testManyChunks},
}

func testRetired(t T) {
	r := newRig(t, 0)
	l := r.lists[0]
	r.every = 0
	last := r.createMany(l, 512)[511]
	for _, p := range append([]*place(nil), l.places...) {
		r.remove(p)
	}
	r.check()
	head := l.freed[0]
	r.w.AgeSlot(head, ^uint32(0)-1)
	p := r.create(l)
	if uint32(p.ref) != uint32(head) || p.ref>>32 != 1<<32-1 {
		t.Fatalf("the object in the aged slot is %#x", uint64(p.ref))
	}
	r.setOutside(0, p)
	r.remove(p)
	r.check()
	if got := r.w.After(p.ref); got != 0 {
		t.Errorf("after it comes %#x", uint64(got))
	}
	r.setOutside(0, nil)
	r.lists[0].freed = r.lists[0].freed[:len(r.lists[0].freed)-1] // not used again
	var s object.Stats
	r.w.Read(l.t, &s)
	if s.Retired != 1 || s.Free != 511 {
		t.Errorf("%d slots are retired, %d free", s.Retired, s.Free)
	}
	for i := 0; i < 1024; i++ {
		if q := r.create(l); uint32(q.ref) == uint32(p.ref) {
			t.Fatalf("a retired slot is used again")
		}
	}
	if r.w.IsAlive(p.ref) || r.w.IsAlive(last.ref) {
		t.Errorf("a deleted object is alive again")
	}
	r.check()
	r.close()
}

func testNoMemory(t T) {
	// Each round lets one allocation more through, until all that is asked for works.
	for after, failed := 0, true; failed; after++ {
		r := newRig(t, 0, object.FlagDiagnose)
		r.every = 0
		failAllocations(after)
		failed = false
		for _, l := range r.lists {
			var made []object.Ref
			for i := 0; i < 600; i++ {
				ref := r.w.New(l.t)
				if ref == 0 {
					failed = true
					break
				}
				made = append(made, ref)
			}
			for i, ref := range made {
				if i%2 == 0 && r.w.Handle(ref) == 0 {
					failed = true
				}
			}
			if wrong := r.w.Check(); wrong != "" {
				t.Fatalf("after %d allocations: %s", after, wrong)
			}
			r.w.DeleteAll(l.t)
			r.w.Trim(l.t)
			for i := 0; i < 100; i++ {
				if ref := r.w.New(l.t); ref == 0 {
					failed = true
				}
			}
			r.w.DeleteAll(l.t)
			l.made = 0
		}
		failAllocations(-1)
		if !failed && after < 8 {
			t.Errorf("only %d allocations were made: the test is too small", after)
		}
		if wrong := r.w.Check(); wrong != "" {
			t.Fatalf("after %d allocations: %s", after, wrong)
		}
		r.w.Close()
		if countsBlocks && blocksInUse() != r.blocks {
			t.Fatalf("after %d allocations %d blocks are left", after, blocksInUse()-r.blocks)
		}
	}
}

func testSizes(t T) {
	w := newWorld(t)
	for _, bytes := range []uintptr{0, 1, 7, 8, 9, 12, 64, 100, 4096, 4097, 100000, 1 << 20, 3 << 20} {
		of := w.NewType(bytes, 0, 0, 0, 0)
		var refs [40]object.Ref
		for round := byte(1); round < 3; round++ {
			for i := range refs {
				refs[i] = w.New(of)
				f := w.FieldsOf(refs[i])
				for at := uintptr(0); at < bytes; at += 1 + bytes/64 {
					place := (*byte)((f + addr(at)).Pointer())
					if *place != 0 {
						t.Fatalf("%d bytes: byte %d of a new object is %d", bytes, at, *place)
					}
					*place = round*40 + byte(i)
				}
			}
			for i := range refs {
				f := w.FieldsOf(refs[i])
				for at := uintptr(0); at < bytes; at += 1 + bytes/64 {
					if got := *(*byte)((f + addr(at)).Pointer()); got != round*40+byte(i) {
						t.Fatalf("%d bytes: byte %d of object %d is %d", bytes, at, i, got)
					}
				}
			}
			if w.DeleteAll(of) != uint64(len(refs)) {
				t.Errorf("%d bytes: not all were deleted", bytes)
			}
		}
	}
	if wrong := w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	w.Close()
}

func testManyChunks(t T) {
	w := newWorld(t)
	var types []*object.Type
	for i := 0; i < 5; i++ {
		types = append(types, w.NewType(8, 0, 0, 0, object.FlagSingleOwner))
	}
	for i := 0; i < 200000; i++ { // more than what the tables had committed at first
		if w.New(types[i%len(types)]) == 0 {
			t.Fatalf("no memory for object %d", i)
		}
	}
	if wrong := w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	full := w.NewType(8, 0, 0, 0, 0)
	count := 200000
	for w.New(full) != 0 {
		count++
	}
	if count < 1<<20-6*512 || count > 1<<20 {
		t.Errorf("a world of %d slots has %d objects", 1<<20, count)
	}
	if wrong := w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	w.Close()
}
