package heap

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"unsafe"
)

// panics returns what a call panics with, nil if it does not.
func panics(call func()) (what any) {
	defer func() { what = recover() }()
	call()
	return nil
}

// A fault under the pin would end the process: no recover could help.
func TestNilHeapPanicsAsAnyNilPointer(t *testing.T) {
	var h *Heap
	var block [16]byte
	for name, call := range map[string]func(){
		"Alloc":        func() { h.Alloc(16) },
		"AllocZeroed":  func() { h.AllocZeroed(16) },
		"AllocAligned": func() { h.AllocAligned(16, 64) },
		"Bytes":        func() { h.Bytes(16) },
		"Realloc":      func() { h.Realloc(nil, 16) },
		"Free":         func() { h.Free(unsafe.Pointer(&block)) },
		"Free of nil":  func() { h.Free(nil) },
		"FreeBytes":    func() { h.FreeBytes(block[:]) },
		"Make":         func() { Make[int](h) },
		"Stats":        func() { h.Stats() },
	} {
		if what, ok := panics(call).(runtime.Error); !ok {
			t.Errorf("%s of a nil Heap: %v", name, what)
		}
	}
}

func TestZeroHeapIsClosed(t *testing.T) {
	var h Heap
	var block [16]byte
	p := unsafe.Pointer(&block)
	errs := map[string]error{
		"Free": h.Free(p), "FreeBytes": h.FreeBytes(block[:]), "Free by a tag": h.Tag("tag").Free(p),
	}
	_, errs["Alloc"] = h.Alloc(16)
	_, errs["AllocZeroed"] = h.AllocZeroed(16)
	_, errs["AllocAligned"] = h.AllocAligned(16, 64)
	_, errs["large AllocAligned"] = h.AllocAligned(1<<20, 4096)
	_, errs["Bytes"] = h.Bytes(16)
	_, errs["Realloc"] = h.Realloc(p, 1<<20)
	_, errs["small Realloc"] = h.Realloc(p, 16)
	_, errs["NewCache"] = h.NewCache()
	_, errs["Reserve"] = h.Reserve(16)
	_, errs["Make"] = Make[int](&h)
	for name, err := range errs {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.Owns(p) || h.UsableSize(p) != 0 || h.Stats().Mallocs != 0 || h.Leaks() != nil || h.CheckMisuse() != nil {
		t.Error("a zero Heap has something")
	}
	h.Idle()
	h.Trim()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func TestTagsOfTheOptionAreMade(t *testing.T) {
	h := mustNew(t, WithTags("index", "cache", "index"))
	got := h.Stats().Tags
	if len(got) != 2 || got[0].Name != "index" || got[1].Name != "cache" {
		t.Errorf("%+v", got)
	}
}

func TestShareOfMemoryIsAShare(t *testing.T) {
	for _, share := range []float64{-1, 0, 1.5, 50, math.NaN(), math.Inf(1)} {
		if h, err := New(WithMemoryShare(share)); err == nil {
			t.Errorf("a share of %v is taken", share)
			h.Close()
		}
	}
	if AvailableMemory() == 0 {
		return
	}
	h := mustNew(t, WithMemoryShare(1e-30))
	if p, err := h.Alloc(16); !errors.Is(err, ErrLimit) {
		t.Errorf("next to no share of the memory: %v, %v", p, err)
	}
}

// Distances grow up to 32 rates.
func TestLargestProfileRate(t *testing.T) {
	for _, rate := range []int{math.MaxInt, math.MaxInt / 2, math.MaxInt / 33} {
		h := mustNew(t, WithProfileRate(rate))
		d := distance{}
		for now := range uint64(100) { // many distances in no time: the mean grows as far as it can
			d.restart(h.options.rate, 0.5, now)
			if d.mean < 0 || d.left < 0 {
				t.Fatalf("rate %d: a distance of %d, mean %d", rate, d.left, d.mean)
			}
		}
	}
}

func TestAppendOfASliceToItself(t *testing.T) {
	h := mustNew(t)
	for _, count := range []int{1, 2, 3, 8, 100, 5000} {
		s, err := MakeSlice[uint64](h, count, count)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s {
			s[i] = uint64(i) + 1
		}
		s = s[:cap(s)]
		for _, part := range [][2]int{{0, count}, {count / 2, count}, {count - 1, count}} {
			from, to := part[0], part[1]
			s = slices.Clip(s) // so that it has to grow
			want := append(slices.Clone(s), s[from:to]...)
			if s, err = Append(h, s, s[from:to]...); err != nil || !slices.Equal(s, want) {
				t.Fatalf("%d elements, %d to %d: %v, %v", count, from, to, s, err)
			}
		}
		if err := FreeSlice(h, s); err != nil {
			t.Error(err)
		}
	}
}
