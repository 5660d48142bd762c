package managed

import (
	"testing"
	"unsafe"

	"granary/heap"
)

func TestHandlesAreRootsOrWeak(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		var all [handleKinds]Handle[node]
		for kind := range all {
			n := must(Make[node](m))
			n.value = kind
			all[kind] = must(NewHandle(m, n, HandleKind(kind)))
		}
		if got := h.Stats().Handles; got != [4]int64{1, 1, 1, 1} {
			t.Errorf("handles: %v", got)
		}
		m.Collect()
		for kind, hd := range all {
			alive := HandleKind(kind) == Normal || HandleKind(kind) == Pinned
			if n := hd.Get(); (n != nil) != alive || alive && n.value != kind {
				t.Errorf("handle of kind %d: %v", kind, n)
			}
			if hd.Kind() != HandleKind(kind) {
				t.Errorf("kind %d is %d", kind, hd.Kind())
			}
		}
		n := must(Make[node](m))
		for _, hd := range all {
			if err := hd.Set(n); err != nil || hd.Get() != n {
				t.Errorf("Set: %v", err)
			}
		}
		m.Collect()
		for kind, hd := range all {
			if hd.Get() != n {
				t.Errorf("handle of kind %d has lost its object", kind)
			}
			if !hd.Free() || hd.Free() || hd.Get() != nil || hd.Set(n) != ErrNoObject {
				t.Errorf("handle of kind %d is used after it was freed", kind)
			}
		}
		if got := h.Stats().Handles; got != [4]int64{} {
			t.Errorf("handles: %v", got)
		}
		var zero Handle[node]
		if zero.Get() != nil || zero.Free() {
			t.Error("the zero handle refers to something")
		}
	})
}

func TestManyHandles(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		var all []Handle[node]
		for i := range 3*handlesPerChunk + 5 {
			n := must(Make[node](m))
			n.value = i
			kind := Normal
			if i%3 == 0 {
				kind = WeakLong
			}
			all = append(all, must(NewHandle(m, n, kind)))
		}
		m.Collect()
		for i, hd := range all {
			if n := hd.Get(); (n == nil) != (i%3 == 0) || n != nil && n.value != i {
				t.Fatalf("handle %d: %v", i, n)
			}
			hd.Free()
		}
		again := must(NewHandle(m, must(Make[node](m)), Normal))
		for _, hd := range all {
			if hd.Get() != nil {
				t.Fatal("a freed handle refers to another one's object")
			}
		}
		again.Free()
	})
}

func TestWeakFieldsAreCleared(t *testing.T) {
	type holder struct {
		strong Ptr[node]
		weak   Weak[node]
	}
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		hd := must(NewHandle(m, must(Make[holder](m)), Normal))
		n := must(Make[node](m))
		if err := hd.Get().weak.Set(m, n); err != nil {
			t.Fatal(err)
		}
		hd.Get().strong.Set(n)
		m.Collect()
		if hd.Get().weak.Get() != n {
			t.Error("a weak field of a reachable object is cleared")
		}
		hd.Get().strong.Set(nil)
		m.Collect()
		if hd.Get().weak.Get() != nil {
			t.Error("a weak field of an unreachable object is not cleared")
		}
		n = must(Make[node](m))
		hd.Get().strong.Set(n)
		hd.Get().weak.Set(m, n)
		hd.Get().weak.Set(m, nil)
		if s := h.Stats(); s.Links != 0 || hd.Get().weak.Get() != nil {
			t.Errorf("%d links are left", s.Links)
		}
		var outside Weak[node]
		if err := outside.Set(m, n); err != ErrNoObject {
			t.Errorf("a weak field in Go memory: %v", err)
		}
		if err := hd.Get().weak.Set(m, new(node)); err != ErrNoObject {
			t.Errorf("a weak reference to Go memory: %v", err)
		}
		hd.Free()
	})
}

func TestStackIsARootUpToItsTop(t *testing.T) {
	h := newHeap(t)
	s := must(h.NewStack(20_000))
	mutate(t, h, func(m *Mutator) {
		for i := range 20_000 {
			n := must(Make[node](m))
			n.value = i
			if err := s.Push(uintptr(unsafe.Pointer(n)) + uintptr(i%2)*8); err != nil { // inner addresses count too
				t.Fatal(err)
			}
		}
		if err := s.Push(1); err != ErrStackFull {
			t.Errorf("a full stack: %v", err)
		}
		m.Collect()
		for i := range s.Len() {
			if n := (*node)(addr(s.At(i) - uintptr(i%2)*8)); n.value != i {
				t.Fatalf("word %d: %v", i, n.value)
			}
		}
		s.Truncate(1000)
		m.Collect()
		if live := h.Stats().LiveBytes; live != 1000*32 {
			t.Errorf("%d bytes are alive, want %d", live, 1000*32)
		}
		top := s.Top(0)
		s.SetTop(1, 5)
		if s.Pop() != top || s.Pop() != 5 || s.Len() != 998 {
			t.Error("the top of the stack is wrong")
		}
		s.Truncate(0)
		if s.Pop() != 0 || s.Top(0) != 0 || s.At(-1) != 0 {
			t.Error("an empty stack has words")
		}
	})
	s.Close()
	s.Close()
	if err := s.Push(1); err != ErrStackFull {
		t.Errorf("a closed stack: %v", err)
	}
}

func addr(word uintptr) unsafe.Pointer { return unsafe.Add(nil, word) }

func TestRangesAreRoots(t *testing.T) {
	h := newHeap(t)
	native, err := heap.New(heap.WithTicker(false))
	if err != nil {
		t.Fatal(err)
	}
	defer native.Close()
	block := must(native.AllocZeroed(64))
	if err := h.AddRange(block, 64); err != nil {
		t.Fatal(err)
	}
	mutate(t, h, func(m *Mutator) {
		n := must(Make[node](m))
		unsafe.Slice((**node)(block), 8)[7] = n
		weak := must(NewHandle(m, n, WeakShort))
		m.Collect()
		if weak.Get() != n {
			t.Error("what a range names is collected")
		}
		if !h.RemoveRange(block, 64) || h.RemoveRange(block, 64) {
			t.Error("a range is removed twice, or not at all")
		}
		m.Collect()
		if weak.Get() != nil {
			t.Error("what a removed range named is kept")
		}
	})
	if err := h.AddRange(nil, 8); err != ErrSize {
		t.Errorf("a range at nil: %v", err)
	}
}

func TestNothingIsNilForTheCompilerToo(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		n := must(Make[node](m))
		weak := must(Make[struct{ w Weak[node] }](m))
		hd := must(NewHandle[node](m, nil, Normal))
		if n.left.Get() != nil || weak.w.Get() != nil || hd.Get() != nil || h.Base(nil) != nil {
			t.Error("a reference to nothing is not nil")
		}
		if p, err := m.Alloc(-1, PointerFree); p != nil || err == nil {
			t.Error("no object is not nil")
		}
		hd.Free()
	})
}
