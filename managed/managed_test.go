package managed

import (
	"errors"
	"math/rand"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"granary/heap"
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

func TestFinalizersRunOnceAndMayResurrect(t *testing.T) {
	h := newHeap(t, WithManualFinalizers())
	mutate(t, h, func(m *Mutator) {
		var ran []int
		kept := must(NewHandle[node](m, nil, Normal))
		add := func(value int, order Order) *node {
			n := must(Make[node](m))
			n.value = value
			s := SetFinalizer(m, n, func(m *Mutator, n *node) {
				m.Collect() // the object lives through it
				ran = append(ran, n.value)
				if n.value == 3 {
					kept.Set(n)
				}
			}, order)
			if s != nil {
				t.Fatal(s)
			}
			return n
		}
		first := must(NewHandle(m, add(1, Topological), Normal))
		first.Get().left.Set(add(2, Topological))
		third := must(NewHandle(m, add(3, Unordered), Normal))
		taken := must(NewHandle(m, add(4, Unordered), Normal))
		SetFinalizer[node](m, taken.Get(), nil, Unordered)
		for _, hd := range []Handle[node]{first, third, taken} {
			hd.Free()
		}
		m.Collect()
		if h.ReadyFinalizers() != 2 {
			t.Errorf("%d are ready", h.ReadyFinalizers())
		}
		m.RunFinalizers()
		m.Collect()
		m.RunFinalizers()
		m.Collect()
		if len(ran) != 3 || ran[2] != 2 || ran[0]+ran[1] != 4 {
			t.Errorf("finalizers ran of %v", ran)
		}
		if n := kept.Get(); n == nil || n.value != 3 {
			t.Error("an object that its finalizer kept is lost")
		}
		s := h.Stats()
		if s.FinalizersRun != 3 || s.Finalizers != 0 || s.FinalizersReady != 0 || len(h.finalizers.functions) != 0 {
			t.Errorf("%d ran, %d and %d are left, %d functions", s.FinalizersRun, s.Finalizers, s.FinalizersReady,
				len(h.finalizers.functions))
		}
	})
}

func TestFinalizersRunByThemselves(t *testing.T) {
	h := newHeap(t)
	var ran atomic.Int32
	done := make(chan struct{})
	mutate(t, h, func(m *Mutator) {
		for range 100 {
			n := must(Make[node](m))
			SetFinalizer(m, n, func(*Mutator, *node) {
				if ran.Add(1) == 100 {
					close(done)
				}
			}, Unordered)
		}
		m.Collect()
	})
	<-done
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

func TestWrappersOfDestroyedObjectsAreNull(t *testing.T) {
	native, err := heap.New(heap.WithTicker(false))
	if err != nil {
		t.Fatal(err)
	}
	defer native.Close()
	h := newHeap(t, WithManualFinalizers())
	type body struct{ x, y float64 }
	mutate(t, h, func(m *Mutator) {
		a := must(NewHandle(m, must(NewWrapper[body](m, native, false)), Normal))
		b := must(NewHandle(m, must(NewWrapper[body](m, native, false)), Normal))
		must(a.Get().Get()).x = 3
		if a.Get().IsNull() || a.Get().Equal(b.Get()) || !a.Get().Equal(a.Get()) || a.Get().Equal(nil) {
			t.Error("wrappers of living objects are mixed up")
		}
		if err := a.Get().Destroy(); err != nil {
			t.Error(err)
		}
		if !a.Get().IsNull() || !a.Get().Equal(nil) || a.Get().Equal(b.Get()) {
			t.Error("the wrapper of a destroyed object is not null")
		}
		if _, err := a.Get().Get(); err != ErrDestroyed || err.Error() != "Object does not exist." {
			t.Errorf("use of it: %v", err)
		}
		if err := a.Get().Destroy(); err != ErrDestroyed {
			t.Errorf("destroyed twice: %v", err)
		}
		b.Get().Destroy()
		if !a.Get().Equal(b.Get()) {
			t.Error("two destroyed ones differ")
		}
		var none *Wrapper[body]
		if _, err := none.Get(); !none.IsNull() || !none.Equal(a.Get()) || err != ErrDestroyed {
			t.Error("nil is not null")
		}
		m.Collect()
		if s := h.Stats().Wrappers; s != (WrapperStats{Alive: 2, Destroyed: 2}) {
			t.Errorf("%+v", s)
		}
		a.Free()
		b.Free()
		must(NewWrapper[body](m, native, false))
		must(NewWrapper[body](m, native, true))
		m.Collect()
		m.RunFinalizers()
		if s := h.Stats().Wrappers; s != (WrapperStats{Orphans: 1}) {
			t.Errorf("%+v", s)
		}
		if live := native.Stats().LiveBlocks; live != 1 {
			t.Errorf("%d native objects are left", live)
		}
		if _, err := NewWrapper[*int](m, native, false); err == nil {
			t.Error("a native object with a Go pointer is accepted")
		}
	})
}

func TestLimitAndOutOfMemory(t *testing.T) {
	var s *Stack
	asked := 0
	h := newHeap(t, WithLimit(4<<20), WithOutOfMemory(func(bytes int) bool {
		asked++
		if asked%3 != 0 {
			s.Truncate(s.Len() / 2) // the mutator is in Blocking: its stack may be changed
		}
		return asked%3 != 0
	}))
	s = must(h.NewStack(100_000))
	mutate(t, h, func(m *Mutator) {
		failed := 0
		for range 30_000 {
			p, err := m.Alloc(1000, Conservative)
			if err != nil {
				if failed++; !errors.Is(err, ErrLimit) || !errors.Is(err, ErrNoMemory) {
					t.Fatal(err)
				}
				s.Truncate(0)
				continue
			}
			s.Push(uintptr(p))
		}
		if failed == 0 || asked < 3 {
			t.Errorf("%d allocations failed, asked %d times", failed, asked)
		}
		if used := h.Stats().HeapBytes; used > 4<<20 {
			t.Errorf("the heap has %d bytes", used)
		}
		if _, err := m.Alloc(5<<20, PointerFree); !errors.Is(err, ErrLimit) {
			t.Errorf("5 MiB: %v", err)
		}
		h.SetLimit(0)
		if _, err := m.Alloc(5<<20, PointerFree); err != nil {
			t.Errorf("5 MiB without a limit: %v", err)
		}
	})
}

func TestModesSayWhoCollects(t *testing.T) {
	h := newHeap(t, WithMode(Manual))
	churn := func(m *Mutator) {
		for range 200_000 {
			must(Make[node](m))
		}
	}
	mutate(t, h, func(m *Mutator) {
		churn(m)
		if n := h.Stats().Collections; n != 0 {
			t.Errorf("%d collections in manual mode", n)
		}
		m.Collect()
		if n := h.Stats().Collections; n != 1 {
			t.Errorf("%d collections after one", n)
		}
		h.SetMode(Disabled)
		m.Collect()
		churn(m)
		if more := m.CollectIncremental(time.Millisecond); more || h.Stats().Collections != 1 {
			t.Errorf("%d collections when disabled", h.Stats().Collections)
		}
		h.SetMode(Enabled)
		churn(m)
		if n := h.Stats().Collections; n < 2 {
			t.Errorf("%d collections when enabled", n)
		}
		h.SetMode(17)
		if h.Mode() != Enabled {
			t.Errorf("mode %v", h.Mode())
		}
	})
}

func TestIncrementalCollectionEndsAndReports(t *testing.T) {
	h := newHeap(t, WithMode(Manual), WithHelpers(0))
	var told []Collection
	h.OnCollect(func(c Collection) { told = append(told, c) })
	s := must(h.NewStack(1000))
	mutate(t, h, func(m *Mutator) {
		root := must(NewHandle(m, tree(m, s, 15), Normal))
		slices := 0
		for m.CollectIncremental(0) {
			slices++
			tree(m, s, 3)
			if !h.Stats().Marking {
				t.Error("no collection is going on between two slices")
			}
		}
		if slices < 10 {
			t.Errorf("only %d slices", slices)
		}
		if len(told) != 1 || !told[0].Incremental || told[0].Pauses != slices+1 || told[0].Cause != CauseCall {
			t.Errorf("told: %+v", told)
		}
		p := h.Stats().Pauses
		if p.Number != uint64(slices)+1 || p.Longest < p.Percentile99 || p.Percentile99 < p.Median || len(p.Buckets) == 0 {
			t.Errorf("pauses: %+v", p)
		}
		if got := count(root.Get()); got != 1<<16-1 {
			t.Errorf("%d nodes", got)
		}
	})
}

// unmarked finds a parent of leaves that marking has not come to.
func unmarked(h *Heap, n *node) *node {
	for _, child := range []*node{n.left.Get(), n.right.Get()} {
		if child == nil {
			return nil
		}
		if child.left.IsNil() {
			if h.core.IsMarked(addrOf(unsafe.Pointer(n))) || h.core.IsMarked(addrOf(unsafe.Pointer(child))) {
				return nil
			}
			return n
		}
		if found := unmarked(h, child); found != nil {
			return found
		}
	}
	return nil
}

func TestMissingBarrierIsFound(t *testing.T) {
	for _, place := range []string{"object", "root"} {
		for _, withSet := range []bool{true, false} {
			var found []*VerifyError
			h := newPlainHeap(t, WithMode(Manual), WithHelpers(0),
				WithVerify(func(e *VerifyError) { found = append(found, e) }))
			s := must(h.NewStack(1000))
			var moved *node
			mutate(t, h, func(m *Mutator) {
				root := must(NewHandle(m, tree(m, s, 14), Normal))
				box := must(NewHandle[node](m, nil, Normal))
				if !m.CollectIncremental(0) {
					t.Fatal("marking is over at once")
				}
				parent := unmarked(h, root.Get())
				moved = parent.right.Get()
				if place == "root" {
					box.Set(moved)
				} else {
					// The new object is marked, and not looked into.
					box.Set(must(Make[node](m)))
					parent = unmarked(h, root.Get())
					moved = parent.right.Get()
					box.Get().left.Set(moved)
				}
				if withSet {
					parent.right.Set(nil)
				} else {
					parent.right = PtrTo[node](nil)
				}
				for m.CollectIncremental(0) {
				}
			})
			if withSet {
				if len(found) != 0 {
					t.Errorf("%s, with Set: %v", place, found[0])
				}
				continue
			}
			if len(found) != 1 {
				t.Fatalf("%s: a pointer is written without Set, and %d errors are found", place, len(found))
			}
			e := found[0]
			if !e.Lost || !e.Incremental || e.Addr != uintptr(unsafe.Pointer(moved)) || e.Size != 32 ||
				!strings.Contains(e.Error(), "without Set") || !strings.Contains(e.Type, "node") {
				t.Errorf("%s: %v", place, e)
			}
		}
	}
}

func TestManyGoroutinesAllocateThroughOneHeap(t *testing.T) {
	for _, slice := range []time.Duration{0, 50 * time.Microsecond} {
		h := newHeap(t, WithTimeSlice(slice))
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				hammer(t, h, int64(g), 60)
			}()
		}
		old := runtime.GOMAXPROCS(0)
		for i := range 20 {
			runtime.GOMAXPROCS(1 + i%4)
			h.Collect()
		}
		wg.Wait()
		runtime.GOMAXPROCS(old)
		h.Collect()
		check(t, h)
		if live := h.Stats().LiveBytes; live != 0 {
			t.Errorf("%d bytes are alive at the end", live)
		}
	}
}

// hammer builds trees as a mutator, blocks now and then, and checks what it built.
func hammer(t *testing.T, h *Heap, seed int64, rounds int) {
	random := rand.New(rand.NewSource(seed))
	s, err := h.NewStack(1000)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	for range rounds {
		err := h.Do(func(m *Mutator) {
			depth := random.Intn(8)
			root := must(NewHandle(m, tree(m, s, depth), Normal))
			weak := must(NewHandle(m, root.Get(), WeakShort))
			for range random.Intn(100) {
				must(m.Alloc(random.Intn(5000), Kind(random.Intn(2))))
			}
			m.Blocking(func() { runtime.Gosched() })
			swap(root.Get(), random)
			if got := count(root.Get()); got != 1<<(depth+1)-1 {
				t.Errorf("%d nodes of depth %d", got, depth)
			}
			if weak.Get() != root.Get() {
				t.Error("a weak handle of a living object is cleared")
			}
			root.Free()
			weak.Free()
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// swap exchanges the children of some nodes.
func swap(n *node, random *rand.Rand) {
	for n != nil {
		left, right := n.left.Get(), n.right.Get()
		n.left.Set(right)
		n.right.Set(left)
		if n = left; random.Intn(2) == 0 {
			n = right
		}
	}
}

func TestDetachedAndBlockedMutatorsAreNotWaitedFor(t *testing.T) {
	h := newHeap(t)
	m, err := h.Attach()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != ErrMutators {
		t.Errorf("Close with a mutator: %v", err)
	}
	other, err := h.Attach()
	if err != nil {
		t.Fatal(err)
	}
	other.Detach()
	other.Detach()
	m.Blocking(func() { h.Collect() })
	running, collected := make(chan struct{}), make(chan struct{})
	go func() {
		<-running
		h.Collect()
		close(collected)
	}()
	close(running)
	for done := false; !done; {
		m.Safepoint()
		select {
		case <-collected:
			done = true
		default:
			must(Make[node](m))
		}
	}
	m.Detach()
	h.Collect()
	if n := h.Stats().Mutators; n != 0 {
		t.Errorf("%d mutators", n)
	}
}

func TestClosedHeapSaysSo(t *testing.T) {
	h, err := New(WithRange(16 << 20))
	if err != nil {
		t.Fatal(err)
	}
	var p *node
	var hd Handle[node]
	if err := h.Do(func(m *Mutator) {
		p = must(Make[node](m))
		hd = must(NewHandle(m, p, Normal))
		m.CollectIncremental(0)
	}); err != nil {
		t.Fatal(err)
	}
	if h.Close() != nil || h.Close() != nil {
		t.Error("Close fails")
	}
	if err := h.Do(func(*Mutator) { t.Error("a closed heap has mutators") }); err != ErrClosed {
		t.Errorf("Do: %v", err)
	}
	if _, err := h.Attach(); err != ErrClosed {
		t.Errorf("Attach: %v", err)
	}
	if _, err := h.NewStack(10); err != ErrClosed {
		t.Errorf("NewStack: %v", err)
	}
	if h.AddRange(unsafe.Pointer(h.core), 8) != ErrClosed || h.Reserve(1) != ErrClosed {
		t.Error("a closed heap takes roots, or memory")
	}
	h.Collect()
	if h.CollectIncremental(time.Second) || h.IsHeapPointer(unsafe.Pointer(p)) || hd.Get() != nil || hd.Free() ||
		h.Idle() != (Released{}) || h.Trim() != (Released{}) || h.ReadyFinalizers() != 0 {
		t.Error("a closed heap does something")
	}
	if s := h.Stats(); s.HeapBytes != 0 {
		t.Errorf("a closed heap has %d bytes", s.HeapBytes)
	}
	if barriers.Load()%barrierVerify != 0 {
		t.Errorf("%d heaps are marking", barriers.Load())
	}
}

func TestFreeMemoryGoesBack(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		must(m.Alloc(32<<20, PointerFree))
		if held := h.Stats().ResidentBytes; held < 32<<20 {
			t.Errorf("%d bytes are held", held)
		}
		m.Collect()
	})
	if done := h.Trim(); done.Bytes < 32<<20 {
		t.Errorf("%d bytes went back", done.Bytes)
	}
	if held := h.Stats().ResidentBytes; held > 4<<20 {
		t.Errorf("%d bytes are still held", held)
	}
	check(t, h)
}

func TestReportSaysWhatThereIs(t *testing.T) {
	h := newHeap(t, WithLimit(1<<28))
	s := must(h.NewStack(100))
	mutate(t, h, func(m *Mutator) {
		root := must(NewHandle(m, tree(m, s, 10), Pinned))
		buffer := must(NewHandle(m, &must(MakeSlice[byte](m, 100_000))[0], Normal))
		m.Collect()
		var b strings.Builder
		if err := h.WriteReport(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"Managed heap " + t.Name(), "262144 KiB", "1, 0 in slices", "1 normal, 0 weak, 1 pinned", "managed.node", "large: 98 KiB",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, &b)
			}
		}
		root.Free()
		buffer.Free()
	})
}
