package managed

import (
	"testing"
	"time"
	"unsafe"
)

// markedOnly makes slices until marking is over, and sets the next automatic slice off by bytes allocated: blocks are
// left to be sorted.
func markedOnly(t *testing.T, m *Mutator, bytes int64) {
	t.Helper()
	h := m.Heap()
	for h.begun.Load() == h.collections.Load() || h.core.IsMarking() {
		if !m.CollectIncremental(0) {
			t.Fatal("one slice has sorted all blocks")
		}
	}
	h.pacer.due.Store(bytes)
}

// churn allocates so many bytes of garbage.
func churn(m *Mutator, bytes, size int) {
	for range bytes / size {
		must(m.Alloc(size, PointerFree))
	}
}

func TestCollectionsGoOnAfterAllocationsHaveSortedAllBlocks(t *testing.T) {
	h := newPlainHeap(t, WithTimeSlice(time.Microsecond), WithHelpers(0), WithManualFinalizers())
	told := uint64(0)
	h.OnCollect(func(c Collection) {
		if told++; c.Number != told {
			t.Errorf("collection %d is told of as number %d", told, c.Number)
		}
	})
	s := must(h.NewStack(1000))
	mutate(t, h, func(m *Mutator) {
		must(NewHandle(m, tree(m, s, 15), Normal))
		for range 3 {
			markedOnly(t, m, 1<<40)
			for h.core.IsSorting() {
				must(m.Alloc(16<<10, PointerFree))
			}
			before := told
			churn(m, 32<<20, 64)
			if told == before {
				t.Error("no collection ends while 32 MiB are allocated")
			}
		}
	})
}

// What is allocated while a collection is going on comes from free blocks, so that one after the other does not make
// the heap larger.
func TestTheHeapKeepsItsSizeInSlices(t *testing.T) {
	for _, size := range []int{16, 64, 1600, 5000} {
		h := newPlainHeap(t, WithTimeSlice(time.Microsecond), WithHelpers(0))
		s := must(h.NewStack(1000))
		mutate(t, h, func(m *Mutator) {
			must(NewHandle(m, tree(m, s, 15), Normal))
			churn(m, 128<<20, size)
			// 2 MiB are alive. A slice marks 16 blocks at least, and some 64 KiB are allocated between two.
			if used := h.Stats().HeapBytes; used > 24<<20 {
				t.Errorf("objects of %d bytes: the heap has %d bytes", size, used)
			}
		})
	}
}

// A limit is reached only with what is alive, whatever a collection that began before has found.
func TestWhatDiedInACollectionServesAnAllocationAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		slice time.Duration
		until func(t *testing.T, m *Mutator)
	}{
		{"none goes on", time.Microsecond, func(*testing.T, *Mutator) {}},
		{"it marks", time.Microsecond, func(_ *testing.T, m *Mutator) { m.CollectIncremental(0) }},
		{"it sorts", time.Microsecond, func(t *testing.T, m *Mutator) { markedOnly(t, m, 1<<40) }},
		{"it sorts, without slices", 0, func(t *testing.T, m *Mutator) { markedOnly(t, m, 1<<40) }},
		{"all is sorted", time.Microsecond, sortedOnly},
		{"all is sorted, without slices", 0, sortedOnly},
	} {
		for _, first := range []int{0, 16, 1000} {
			asked := 0
			h := newPlainHeap(t, WithTimeSlice(c.slice), WithHelpers(0), WithLimit(8<<20),
				WithOutOfMemory(func(int) bool { asked++; return false }))
			s := must(h.NewStack(10_000))
			mutate(t, h, func(m *Mutator) {
				for range 6 << 10 {
					s.Push(uintptr(must(m.Alloc(1000, Conservative))))
				}
				m.Collect()
				c.until(t, m)
				s.Truncate(0)
				if first != 0 { // so that something was allocated since the collection
					must(m.Alloc(first, PointerFree))
				}
				if _, err := m.Alloc(5<<20, PointerFree); err != nil || asked != 0 {
					t.Errorf("%s, %d bytes first: %v, asked %d times", c.name, first, err, asked)
				}
			})
		}
	}
}

// sortedOnly has all blocks sorted, but the collection not ended.
func sortedOnly(t *testing.T, m *Mutator) {
	t.Helper()
	markedOnly(t, m, 1<<40)
	m.Heap().core.Sort(0)
}

func TestWhatTheProgramLetsGoServesTheAllocationThatAsked(t *testing.T) {
	for _, slice := range []time.Duration{0, time.Microsecond} {
		var s *Stack
		asked := 0
		h := newPlainHeap(t, WithTimeSlice(slice), WithHelpers(0), WithLimit(8<<20), WithOutOfMemory(func(int) bool {
			asked++
			s.Truncate(0)
			return asked == 1
		}))
		s = must(h.NewStack(10_000))
		mutate(t, h, func(m *Mutator) {
			for range 6 << 10 {
				s.Push(uintptr(must(m.Alloc(1000, Conservative))))
			}
			p, err := m.Alloc(5<<20, PointerFree)
			if err != nil || asked != 1 {
				t.Fatalf("slices of %v: %v, asked %d times", slice, err, asked)
			}
			s.Push(uintptr(p))
			if live := unsafe.Slice((*byte)(p), 5<<20); len(live) != h.Size(p) {
				t.Errorf("slices of %v: an object of %d bytes", slice, h.Size(p))
			}
		})
	}
}
