package objecttest

import (
	"unsafe"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/object"
	"granary/internal/core/sys"
)

// This file: what objects hold, and what happens to it.

var holdTests = []kit.Test{
	{Name: "fields let go before their object, in the order of their offsets", Run: testOrder},
	{Name: "cycles of deleted objects are freed", Run: testCycles},
	{Name: "a long chain of objects is freed without depth", Run: testChain},
	{Name: "elements of arrays let go as fields do", Run: testArrays},
	{Name: "a variable let go of twice takes nothing from others", Run: testReleasedTwice},
	{Name: "any number is a reference", Run: testAnyNumber},
	{Name: "layouts that do not fit are refused", Run: testLayouts},
	{Name: "Trim gives back chunks without objects, and they come back", Run: testTrim},
	{Name: "diagnosed objects keep their sites until 65536 others were deleted", Run: testSites},
	{Name: "the fields of diagnosed objects are filled when they are deleted", Run: testPoison},
}

// Freed slots are used again in the order in which they were freed, which shows that order.
func testOrder(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 4)
	r.setField(made[0], 0, made[2])
	r.setField(made[0], 1, made[1])
	r.setArray(made[0], []*place{made[3]})
	for _, p := range made[1:] {
		r.remove(p)
	}
	r.remove(made[0])
	freed := r.lists[0].freed
	for i, want := range []*place{made[2], made[1], made[3], made[0]} {
		if freed[i] != want.ref {
			t.Errorf("the model freed %#x as number %d", uint64(freed[i]), i)
		}
	}
	r.every = 0
	r.createMany(r.lists[0], 512) // the rig looks at the order
	r.close()
}

func testCycles(t T) {
	r := newRig(t, 0, object.FlagSingleOwner)
	a, b, c := r.create(r.lists[0]), r.create(r.lists[1]), r.create(r.lists[0])
	r.setField(a, 0, b)
	r.setField(b, 0, c)
	r.setField(c, 0, a)
	r.setField(c, 1, c)
	r.remove(a)
	r.remove(b)
	r.remove(c)
	for _, l := range r.lists {
		if len(l.places) != 0 || l.t.Unreleased() != 0 {
			t.Errorf("%d objects of a cycle are left", len(l.places))
		}
	}
	r.close()
}

func testChain(t T) {
	w := newWorld(t)
	of := newThingType(t, w, 0)
	const length = 100000
	stride := sys.Addr(object.StrideOf(unsafe.Sizeof(thing{})))
	before := object.Ref(0)
	for i := 0; i < length; i++ {
		ref := w.New(of)
		if before != 0 {
			w.Retain(before)
			(*thing)(w.Find(ref, stride)).vars[0] = before
		}
		before = ref
	}
	// From the far end: each is held by its successor until that goes.
	if got := w.DeleteAll(of); got != length {
		t.Errorf("%d of %d objects were deleted", got, length)
	}
	if of.Unreleased() != 0 {
		t.Errorf("%d objects are left", of.Unreleased())
	}
	if wrong := w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	w.Close()
}

func testArrays(t T) {
	r := newRig(t, 0, 0)
	a, b, c := r.create(r.lists[0]), r.create(r.lists[1]), r.create(r.lists[1])
	r.setBlock(a)
	r.setArray(a, []*place{b, c})
	r.setArray(b, []*place{b, nil})
	r.remove(b)
	r.remove(c)
	if r.lists[1].t.Unreleased() != 2 {
		t.Errorf("%d objects are unreleased", r.lists[1].t.Unreleased())
	}
	r.remove(a)
	if r.lists[1].t.Unreleased() != 0 {
		t.Errorf("the elements of an array still hold %d objects", r.lists[1].t.Unreleased())
	}
	r.close()
}

func testReleasedTwice(t T) {
	r := newRig(t, 0)
	a, b := r.create(r.lists[0]), r.create(r.lists[0])
	for i := 0; i < 3; i++ {
		r.w.Release(a.ref) // never counted: the list keeps its hold
	}
	r.check()
	r.setOutside(0, b)
	r.remove(b)
	r.w.Release(b.ref) // takes the variable's
	r.modelRelease(b)
	r.outside[0] = nil
	r.check()
	r.w.Release(b.ref)
	r.check()
	c := r.create(r.lists[0])
	r.w.Release(b.ref)
	r.w.Release(c.ref)
	r.check()
	r.close()
}

func testAnyNumber(t T) {
	r := newRig(t, 0)
	p := r.create(r.lists[0])
	random := kit.NewRandom(7)
	refs := []object.Ref{0, 1, 7, 1 << 31, 1 << 32, 1<<32 | 1, ^object.Ref(0), p.ref + 1, p.ref - 1, p.ref &^ (1 << 32),
		p.ref + 1<<32, p.ref + 2<<32, p.ref | 1<<31, p.ref | 1<<20}
	for i := 0; i < 2000; i++ {
		refs = append(refs, object.Ref(random.Next()>>(random.Next()%64)))
	}
	for _, ref := range refs {
		if ref == p.ref {
			continue
		}
		if r.w.IsAlive(ref) || r.w.Delete(ref) || r.w.Retain(ref) || r.w.After(ref) != 0 || r.w.Before(ref) != 0 ||
			r.w.Handle(ref) != 0 || r.w.Move(ref, p.ref, true) || r.w.Move(p.ref, ref, true) || r.w.CountOf(ref) != 0 {
			t.Errorf("%#x is an object", uint64(ref))
		}
		r.w.Find(ref, 56)
		r.w.Release(ref)
		r.w.Sites(ref)
		r.w.FromHandle(r.lists[0].t, uint64(ref))
	}
	r.check()
	r.close()
}

func testLayouts(t T) {
	w := newWorld(t)
	v := object.Field{Offset: 8, Stride: 8, Kind: object.FieldVar, Count: 1, Bytes: 8}
	change := func(f func(f *object.Field)) []object.Field {
		changed := v
		f(&changed)
		return []object.Field{changed}
	}
	array := object.Field{Stride: 16, Kind: object.FieldArray, Count: 1, Bytes: 16, ElementBytes: 16, Inner: 1,
		InnerCount: 1}
	for i, c := range []struct {
		fields []object.Field
		count  uint32
		fine   bool
	}{
		{nil, 0, true},
		{[]object.Field{v}, 1, true},
		{change(func(f *object.Field) { f.Offset = 24 }), 1, true},
		{change(func(f *object.Field) { f.Offset = 32 }), 1, false},
		{change(func(f *object.Field) { f.Offset = ^uintptr(7) }), 1, false},
		{change(func(f *object.Field) { f.Offset = 4 }), 1, false},
		{change(func(f *object.Field) { f.Kind = 4 }), 1, false},
		{change(func(f *object.Field) { f.Kind = 0 }), 1, false},
		{change(func(f *object.Field) { f.Bytes = 16 }), 1, false},
		{change(func(f *object.Field) { f.Count = 0 }), 1, false},
		{change(func(f *object.Field) { f.Count = 3 }), 1, true},
		{change(func(f *object.Field) { f.Count = 4 }), 1, false},
		{change(func(f *object.Field) { f.Count, f.Stride = 2, 4 }), 1, false},
		{change(func(f *object.Field) { f.Count, f.Stride = 1<<32-1, 1<<20 }), 1, false},
		{[]object.Field{v, v}, 2, false},
		{[]object.Field{v}, 2, false},
		{[]object.Field{array, v}, 1, true},
		{[]object.Field{array}, 1, false},
		{[]object.Field{array, change(func(f *object.Field) { f.Offset = 16 })[0]}, 1, false},
		{[]object.Field{v, array}, 2, false},
	} {
		made := w.NewType(32, tableOf(c.fields), c.count, uint32(len(c.fields)), 0)
		if (made != nil) != c.fine && c.count <= uint32(len(c.fields)) || c.count > uint32(len(c.fields)) && made != nil {
			t.Errorf("layout %d: accepted %v", i, made != nil)
		}
	}
	if w.NewType(object.BytesMost+1, 0, 0, 0, 0) != nil {
		t.Errorf("objects of more than a GiB were accepted")
	}
	w.Close()
}

func testTrim(t T) {
	r := newRig(t, 0)
	r.every = 0
	l := r.lists[0]
	made := r.createMany(l, 2000)
	for i, p := range made {
		if i != 700 {
			r.remove(p)
		}
	}
	r.trim(l)
	var s object.Stats
	r.w.Read(l.t, &s)
	// What stays: the chunk with 700, and the newest one, which has slots never used.
	if s.Bytes != 2*512*uint64(object.StrideOf(unsafe.Sizeof(thing{}))) {
		t.Errorf("%d bytes are left with one object alive", s.Bytes)
	}
	r.every = 97
	more := r.createMany(l, 2100)
	for _, p := range more {
		r.remove(p)
	}
	r.trim(l)
	r.close()
}

func testSites(t T) {
	w := newWorld(t)
	of := newThingType(t, w, object.FlagDiagnose)
	first := w.New(of)
	made, deleted, known := w.Sites(first)
	if made == 0 || deleted != 0 || !known {
		t.Errorf("an object alive has the sites %d, %d, %v", made, deleted, known)
	}
	w.Delete(first)
	for i := 0; i < object.DiagnoseKept; i++ {
		if m, d, known := w.Sites(first); i%97 == 0 && (!known || m != made || d <= made) {
			t.Fatalf("after %d others the sites are %d, %d, %v", i, m, d, known)
		}
		w.Delete(w.New(of))
	}
	for i := 0; i < 1024; i++ { // what was left of chunks
		w.Delete(w.New(of))
	}
	if _, _, known := w.Sites(first); known {
		t.Errorf("the sites are kept for more than %d others", object.DiagnoseKept)
	}
	if wrong := w.Check(); wrong != "" {
		t.Errorf("%s", wrong)
	}
	w.Close()
}

func testPoison(t T) {
	r := newRig(t, object.FlagDiagnose)
	p := r.create(r.lists[0])
	f := r.fields(p)
	f.weak = p.ref
	r.setField(p, 1, p)
	r.setOutside(0, p)
	r.remove(p)
	filled := uint64(0)
	for i := 0; i < 8; i++ {
		filled = filled<<8 | object.PoisonByte
	}
	if f.number != filled || uint64(f.weak) != filled || f.vars != [varsCount]object.Ref{} || f.block != 0 ||
		f.array.elements != 0 {
		t.Errorf("the fields of a deleted object are %+v", *f)
	}
	if r.w.IsAlive(f.weak) {
		t.Errorf("what deleted fields are filled with is an object")
	}
	r.close()
}
