package heap

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

type vector struct{ X, Y, Z float64 }

type mixed struct {
	ID   int32
	Rows [3]struct {
		Name  [8]byte
		Label string
	}
}

func TestTypesWithPointersAreRefusedByName(t *testing.T) {
	h := mustNew(t)
	check := func(err error, field string) {
		t.Helper()
		var pointer *PointerError
		if !errors.As(err, &pointer) || pointer.Field != field {
			t.Errorf("%v, want one about %q", err, field)
		}
	}
	for range 2 { // the second time out of the table
		_, err := Make[mixed](h)
		check(err, "field Rows, element, field Label")
		if !strings.Contains(err.Error(), "heap.mixed") || !strings.Contains(err.Error(), "string") {
			t.Error(err)
		}
		_, err = Make[*int](h)
		check(err, "")
		_, err = MakeSlice[map[int]int](h, 1, 1)
		check(err, "")
		_, err = Append(h, nil, any(1))
		check(err, "")
		_, err = Clone(h, []struct{ F func() }{{}})
		check(err, "field F")
		_, err = Make[struct{ P unsafe.Pointer }](h)
		check(err, "field P")
		for _, make := range []func() error{
			func() error { p, err := Make[vector](h); Free(h, p); return err },
			func() error { p, err := Make[[0]*int](h); Free(h, p); return err },
			func() error { p, err := Make[struct{}](h); Free(h, p); return err },
			func() error { p, err := Make[complex128](h); Free(h, p); return err },
			func() error { p, err := Make[struct{ A [2]uintptr }](h); Free(h, p); return err },
		} {
			if err := make(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestSlicesGrowAndKeepTheirElements(t *testing.T) {
	h := mustNew(t)
	var s []vector
	for i := range 5000 {
		grown, err := Append(h, s, vector{X: float64(i)}, vector{Y: float64(i)})
		if err != nil {
			t.Fatal(err)
		}
		s = grown
	}
	for i := range 5000 {
		if s[2*i] != (vector{X: float64(i)}) || s[2*i+1] != (vector{Y: float64(i)}) {
			t.Fatalf("elements %d: %v", i, s[2*i:2*i+2])
		}
	}
	copied, err := Clone(h, s)
	if err != nil || !slices.Equal(copied, s) || &copied[0] == &s[0] {
		t.Error("the copy differs or is the same slice", err)
	}
	for _, s := range [][]vector{s, copied, nil} {
		if err := FreeSlice(h, s); err != nil {
			t.Error(err)
		}
	}
	zeros, err := MakeSlice[int64](h, 10, 100)
	if err != nil || len(zeros) != 10 || cap(zeros) != 100 || slices.Max(zeros[:100]) != 0 {
		t.Error(len(zeros), cap(zeros), err)
	}
	FreeSlice(h, zeros)
	for _, c := range [][2]int{{-1, 5}, {5, 4}, {0, math.MaxInt / 4}} {
		if _, err := MakeSlice[int64](h, c[0], c[1]); !errors.Is(err, ErrSize) {
			t.Errorf("MakeSlice(%d, %d): %v", c[0], c[1], err)
		}
	}
	if s := h.Stats(); s.LiveBlocks != 0 {
		t.Errorf("after everything was freed: %v", s)
	}
}

func TestRefsAreSmallComparableAndWithoutPointers(t *testing.T) {
	h := mustNew(t)
	p, err := Make[vector](h)
	if err != nil {
		t.Fatal(err)
	}
	p.Y = 5
	r := RefOf(p)
	if unsafe.Sizeof(r) != 8 || checkType[Ref[vector]]() != nil {
		t.Error("a Ref is not 8 bytes without a pointer")
	}
	if r != RefOf(p) || r.Get() != p || r.Get().Y != 5 || r.IsZero() || r.String() == "none" {
		t.Error("a Ref does not lead back", r)
	}
	var none Ref[vector]
	if none.Get() != nil || !none.IsZero() || none.String() != "none" || RefOf[vector](nil) != none {
		t.Error("the zero Ref is something")
	}
	if FreeRef(h, none) != nil || FreeRef(h, r) != nil {
		t.Error("a Ref cannot be freed")
	}
}

// TestTheZeroRefIsNilToCallers compares in place, where compilers fold what they know of an inlined Get.
func TestTheZeroRefIsNilToCallers(t *testing.T) {
	var none Ref[vector]
	if p := none.Get(); p != nil {
		t.Error("a variable", p)
	}
	if none.Get() != nil {
		t.Error("in place")
	}
	refs := make([]Ref[vector], 3)
	for i := range refs {
		if p := refs[i].Get(); !(p == nil) {
			t.Error("of a slice", p)
		}
	}
	h := mustNew(t)
	if s, err := Append[byte](h, nil); s != nil || err != nil {
		t.Error("Append of nothing to nil", s, err)
	}
	if p, err := h.Alloc(-1); p != nil || err == nil {
		t.Error("Alloc", p, err)
	}
	if p, err := h.Realloc(nil, -1); p != nil || err == nil {
		t.Error("Realloc", p, err)
	}
	r, err := h.Reserve(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	r.Free()
	if b := r.Bytes(); b != nil {
		t.Error("Bytes of a Region that was freed", len(b))
	}
	if b, err := r.Resize(1); b != nil || err == nil {
		t.Error("Resize of a Region that was freed", len(b), err)
	}
}

// conversionsEscape reports whether the build has -d=checkptr=2: with it everything whose address becomes an
// unsafe.Pointer lies on the Go heap, so that its bounds can be looked up.
func conversionsEscape() bool {
	return testing.AllocsPerRun(10, func() {
		var here [2]uint64
		escaped = uintptr(unsafe.Pointer(&here)) != 0
	}) >= 1
}

var escaped bool

func TestNothingOnTheGoHeapForABlock(t *testing.T) {
	h := mustNew(t)
	if conversionsEscape() {
		t.Log("built with checkptr=2, which puts variables on the Go heap itself")
		return
	}
	for what, do := range map[string]func(){
		"Alloc": func() { p, _ := h.Alloc(100); h.Free(p) },
		"Make":  func() { p, _ := Make[vector](h); Free(h, p) },
		"Bytes": func() { b, _ := h.Bytes(1000); h.FreeBytes(b) },
		"Ref":   func() { p, _ := Make[vector](h); FreeRef(h, RefOf(p)) },
		"Append": func() {
			s, _ := Append(h, nil, vector{}, vector{})
			FreeSlice(h, s)
		},
	} {
		if allocs := testing.AllocsPerRun(1000, do); allocs >= 1 {
			t.Errorf("%s allocates %v times on the Go heap", what, allocs)
		}
	}
}

func TestWhatMakeReturnsIsZeroInBlocksUsedBefore(t *testing.T) {
	h := mustNew(t)
	c, err := h.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, a := range []Allocator{h, c, h.Tag("tag")} {
		mustMakeZero[byte](t, a)
		mustMakeZero[[3]uint64](t, a)
		mustMakeZero[[zeroedHere]byte](t, a)
		mustMakeZero[[zeroedHere + 1]byte](t, a)
		mustMakeZero[[100_000]byte](t, a)
	}
}

// mustMakeZero makes Ts, by Make and by MakeSlice, twice: the second ones most likely where the first were filled.
func mustMakeZero[T any](t *testing.T, a Allocator) {
	t.Helper()
	for range 2 {
		p, err := Make[T](a)
		if err != nil {
			t.Fatal(err)
		}
		s, err := MakeSlice[T](a, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []*T{p, &s[0]} {
			all := unsafe.Slice((*byte)(unsafe.Pointer(at)), unsafe.Sizeof(*at))
			if i := slices.IndexFunc(all, func(b byte) bool { return b != 0 }); i >= 0 {
				t.Errorf("%T of %T: byte %d is %#x", *p, a, i, all[i])
			}
			for i := range all {
				all[i] = 0xa5
			}
		}
		if err := errors.Join(Free(a, p), FreeSlice(a, s)); err != nil {
			t.Fatal(err)
		}
	}
}
