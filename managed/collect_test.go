package managed

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unsafe"
)

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
		for range 12_000 {
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
		slices, marking := 0, 0
		for m.CollectIncremental(0) {
			slices++
			if h.core.IsMarking() {
				marking++ // the slices that sort stop nobody
			}
			tree(m, s, 3)
			if !h.Stats().Marking {
				t.Error("no collection is going on between two slices")
			}
		}
		if marking < 10 || slices == marking {
			t.Errorf("only %d slices, %d of them marked", slices, marking)
		}
		if len(told) != 1 || !told[0].Incremental || told[0].Pauses != marking+1 || told[0].Cause != CauseCall {
			t.Errorf("told: %+v", told)
		}
		p := h.Stats().Pauses
		if p.Number != uint64(marking)+1 || p.Longest < p.Percentile99 || p.Percentile99 < p.Median || len(p.Buckets) == 0 {
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
			"Managed heap " + t.Name(), "262144 KiB", "1, 0 in slices", "1 normal, 0 weak, 1 pinned", "managed.node",
			"large: 98 KiB",
		} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, &b)
			}
		}
		root.Free()
		buffer.Free()
	})
}

func TestMemoryThatEndsAnywhereIsAnError(t *testing.T) {
	for limit := uint64(64 << 10); limit <= 512<<10; limit += 64 << 10 {
		h := newPlainHeap(t, WithRange(16<<20), WithLimit(limit), WithManualFinalizers())
		s := must(h.NewStack(100_000))
		mutate(t, h, func(m *Mutator) {
			failed := 0
			for i := range 500 {
				if err := useSome(m, s, i); err != nil {
					failed++
					if !errors.Is(err, ErrLimit) {
						t.Errorf("limit %d: %v", limit, err)
					}
					s.Truncate(s.Len() / 2)
				}
			}
			if failed == 0 {
				t.Errorf("limit %d: memory was enough", limit)
			}
			m.RunFinalizers()
			s.Truncate(0)
			for range 3 {
				m.Collect()
				m.RunFinalizers()
			}
			if live := h.Stats().LiveBytes; live != 0 {
				t.Errorf("limit %d: %d bytes are alive at the end", limit, live)
			}
		})
	}
}

// useSome makes objects of several kinds, some with a finalizer or a weak reference.
func useSome(m *Mutator, s *Stack, i int) error {
	type holder struct {
		to   Ptr[node]
		weak Weak[node]
	}
	n, err := Make[node](m)
	if err != nil {
		return err
	}
	s.Push(uintptr(unsafe.Pointer(n)))
	if i%3 == 0 {
		if err := SetFinalizer(m, n, func(*Mutator, *node) {}, Order(i%4)); err != nil {
			return err
		}
	}
	if i%5 == 0 {
		o, err := Make[holder](m)
		if err != nil {
			return err
		}
		s.Push(uintptr(unsafe.Pointer(o)))
		if err := o.weak.Set(m, n); err != nil {
			return err
		}
	}
	p, err := m.Alloc(i*37%5000, Kind(i%2))
	if err == nil && i%2 == 0 {
		s.Push(uintptr(p))
	}
	return err
}
