package managed

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"
)

type node struct {
	left, right Ptr[node]
	value       int
}

// newHeap makes a heap that checks itself, and is closed with the test.
func newHeap(t testing.TB, opts ...Option) *Heap {
	t.Helper()
	verify := WithVerify(func(e *VerifyError) { t.Error(e) })
	return newPlainHeap(t, append([]Option{verify}, opts...)...)
}

func newPlainHeap(t testing.TB, opts ...Option) *Heap {
	t.Helper()
	h, err := New(append([]Option{WithRange(1 << 30), WithTicker(false), WithName(t.Name())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// mutate runs f as a mutator, and looks at the heap's structures afterwards.
func mutate(t testing.TB, h *Heap, f func(m *Mutator)) {
	t.Helper()
	if err := h.Do(f); err != nil {
		t.Fatal(err)
	}
	check(t, h)
}

// check has the core walk over everything. Nobody else may use the heap.
func check(t testing.TB, h *Heap) {
	t.Helper()
	h.collecting.Lock()
	defer h.collecting.Unlock()
	if problem := h.core.Check(); problem != "" {
		t.Fatal(problem)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// tree builds a tree of that depth; stack holds what is not linked yet.
func tree(m *Mutator, s *Stack, depth int) *node {
	n := must(Make[node](m))
	n.value = depth
	if depth == 0 {
		return n
	}
	s.Push(uintptr(unsafe.Pointer(n)))
	n.left.Set(tree(m, s, depth-1))
	n.right.Set(tree(m, s, depth-1))
	s.Pop()
	return n
}

func count(n *node) int {
	if n == nil {
		return 0
	}
	return 1 + count(n.left.Get()) + count(n.right.Get())
}

func TestTreesSurviveAndGarbageDoesNot(t *testing.T) {
	for _, o := range [][]Option{nil, {WithInterior(true)}, {WithHelpers(0)}, {WithTimeSlice(100 * time.Microsecond)}} {
		h := newHeap(t, o...)
		s := must(h.NewStack(1000))
		mutate(t, h, func(m *Mutator) {
			root := must(NewHandle(m, tree(m, s, 12), Normal))
			for range 20 {
				tree(m, s, 11)
			}
			m.Collect()
			if got := count(root.Get()); got != 1<<13-1 {
				t.Errorf("%d nodes of %d are left", got, 1<<13-1)
			}
			live := h.Stats().LiveBytes
			if most := int64(1<<13) * 48; live > most {
				t.Errorf("%d bytes are alive, want at most %d", live, most)
			}
			root.Free()
			m.Collect()
			if live := h.Stats().LiveBytes; live > 4096 {
				t.Errorf("%d bytes are alive when all is garbage", live)
			}
		})
		s.Close()
	}
}

func TestLinkedListOfIntegersThatLookLikeAddressesKeepsNothing(t *testing.T) {
	type link struct {
		next  Ptr[link]
		noise [6]uintptr
	}
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		var first Handle[link]
		first = must(NewHandle[link](m, nil, Normal))
		var addresses []uintptr
		for range 20_000 {
			l := must(Make[link](m))
			for i := range l.noise {
				if len(addresses) != 0 {
					l.noise[i] = addresses[(len(addresses)*7+i*31)%len(addresses)]
				}
			}
			addresses = append(addresses, uintptr(unsafe.Pointer(l)))
			l.next.Set(first.Get())
			first.Set(l)
		}
		// Half of the list goes: every element is still named by integers of the other half.
		l := first.Get()
		for range 10_000 {
			l = l.next.Get()
		}
		l.next.Set(nil)
		m.Collect()
		if live := h.Stats().LiveBytes; live > 10_001*64*101/100 {
			t.Errorf("%d bytes are alive, want %d", live, 10_001*64)
		}
	})
}

func TestKindsHoldWhatTheySay(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		root := must(m.Alloc(64, Uncollectable))
		words := unsafe.Slice((*uintptr)(root), 8)
		watch := func(kind Kind) (unsafe.Pointer, Handle[byte]) {
			target := must(m.Alloc(16, PointerFree))
			weak := must(NewHandle(m, (*byte)(target), WeakShort))
			words[7] = uintptr(target)
			holder := must(m.Alloc(32, kind))
			*(*uintptr)(holder) = uintptr(target)
			words[7] = 0
			return holder, weak
		}
		conservative, seen := watch(Conservative)
		words[0] = uintptr(conservative)
		plain, unseen := watch(PointerFree)
		words[1] = uintptr(plain)
		fixed, kept := watch(Uncollectable)
		m.Collect()
		if seen.Get() == nil || kept.Get() == nil || unseen.Get() != nil {
			t.Errorf("kept: %v, %v, not %v", seen.Get(), kept.Get(), unseen.Get())
		}
		for _, p := range []unsafe.Pointer{fixed, root} {
			if err := m.Free(p); err != nil {
				t.Error(err)
			}
		}
		m.Collect()
		if live := h.Stats().LiveBytes; live != 0 {
			t.Errorf("%d bytes are alive", live)
		}
		if err := m.Free(unsafe.Pointer(&words)); err != ErrNoObject {
			t.Errorf("Free of Go memory: %v", err)
		}
	})
}

func TestBadRequestsAreErrors(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		for _, c := range []struct {
			size int
			kind Kind
			want error
		}{{-1, PointerFree, ErrSize}, {1 << 60, Conservative, ErrSize}, {16, 63, ErrKind}, {16, 1000, ErrKind},
			{16, 40, ErrKind}, {1 << 40, Conservative, ErrNoMemory}} {
			if p, err := m.Alloc(c.size, c.kind); p != nil || !errors.Is(err, c.want) {
				t.Errorf("Alloc(%d, %d): %v, %v; want %v", c.size, c.kind, p, err, c.want)
			}
		}
		if _, err := MakeSlice[node](m, -1); err != ErrSize {
			t.Errorf("slice of -1: %v", err)
		}
		if _, err := MakeSlice[node](m, 1<<60); err != ErrSize {
			t.Errorf("slice of 1<<60: %v", err)
		}
		if s, err := MakeSlice[node](m, 0); err != nil || len(s) != 0 {
			t.Errorf("slice of 0: %v, %v", s, err)
		}
		if _, err := NewHandle(m, new(int), Normal); err != ErrNoObject {
			t.Errorf("handle of Go memory: %v", err)
		}
		if err := SetFinalizer(m, new(int), func(*Mutator, *int) {}, Unordered); err != ErrNoObject {
			t.Errorf("finalizer of Go memory: %v", err)
		}
		n := must(Make[node](m))
		if err := SetFinalizer(m, &n.value, func(*Mutator, *int) {}, Unordered); err != ErrNoObject {
			t.Errorf("finalizer of a part of an object: %v", err)
		}
	})
	if _, err := h.NewStack(0); err != ErrSize {
		t.Errorf("stack of 0: %v", err)
	}
	if _, err := New(WithOffsets(4096)); err == nil {
		t.Error("an offset of 4096 is accepted")
	}
}

func TestBaseAndSizeOfAnyAddress(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		for _, size := range []int{0, 1, 16, 17, 100, 2048, 4096, 100_000} {
			p := must(m.Alloc(size, PointerFree))
			have := h.Size(p)
			if have < size || h.Base(p) != p || !h.IsHeapPointer(p) {
				t.Errorf("object of %d: size %d, base %v of %v", size, have, h.Base(p), p)
			}
			if last := unsafe.Add(p, have-1); h.Base(last) != p || h.Size(last) != have {
				t.Errorf("object of %d: base of its last byte %v, size %d", size, h.Base(last), h.Size(last))
			}
		}
	})
	local := 0
	for _, p := range []unsafe.Pointer{nil, unsafe.Pointer(&local), unsafe.Pointer(h.core), unsafe.Add(nil, 1<<40)} {
		if h.Base(p) != nil || h.Size(p) != 0 || h.IsHeapPointer(p) {
			t.Errorf("%v is taken for an object", p)
		}
	}
}

func TestTypesWithGoPointersAreRefused(t *testing.T) {
	type inner struct {
		fine Ptr[node]
		name string
	}
	type outer struct {
		count int
		list  [2]inner
	}
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		_, err := Make[outer](m)
		var pointer *PointerError
		if !errors.As(err, &pointer) || !strings.Contains(err.Error(), "field list, element, field name is a string") {
			t.Errorf("the error is %v", err)
		}
		if _, err := Make[*int](m); err == nil {
			t.Error("a pointer is accepted")
		}
		if _, err := MakeSlice[map[int]int](m, 3); err == nil {
			t.Error("a map is accepted")
		}
		if _, err := Make[struct {
			a [0]*int
			b int
		}](m); err != nil {
			t.Errorf("no pointers are refused: %v", err)
		}
	})
}

func TestMoreTypesThanKinds(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		array := reflect.TypeFor[uintptr]()
		var root Handle[node]
		for i := range 100 {
			// A type with its address in word i, and noise before it.
			shape := reflect.StructOf([]reflect.StructField{
				{Name: "Before", Type: reflect.ArrayOf(i, array)},
				{Name: "To", Type: reflect.TypeFor[Ptr[node]]()},
				{Name: "After", Type: array},
			})
			k, err := h.kindForType(shape, false)
			if err != nil {
				t.Fatal(err)
			}
			kept, lost := must(NewHandle(m, must(Make[node](m)), WeakShort)), Handle[node]{}
			rooted := must(NewHandle(m, kept.Get(), Normal))
			lost = must(NewHandle(m, must(Make[node](m)), WeakShort))
			noise := uintptr(unsafe.Pointer(lost.Get()))
			p := must(m.allocTyped(int(shape.Size()), k))
			root = must(NewHandle(m, (*node)(p), Normal))
			words := unsafe.Slice((*uintptr)(p), i+2)
			words[i] = uintptr(unsafe.Pointer(rooted.Get()))
			for j := range words {
				if j != i {
					words[j] = noise
				}
			}
			rooted.Free()
			m.Collect()
			if kept.Get() == nil || lost.Get() != nil {
				t.Fatalf("type %d: kept %v, not %v", i, kept.Get(), lost.Get())
			}
			for _, hd := range []Handle[node]{root, kept, lost} {
				hd.Free()
			}
		}
		if h.types.perObject == 0 {
			t.Error("100 types have kinds of their own")
		}
	})
}
