package managed

import (
	"testing"
	"time"
	"unsafe"
)

func BenchmarkMake(b *testing.B) {
	h := newPlainHeap(b)
	h.Do(func(m *Mutator) {
		for range b.N {
			if _, err := Make[node](m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkMakeInGoHeap(b *testing.B) {
	for range b.N {
		goNode = new(plainNode)
	}
}

type plainNode struct {
	left, right *plainNode
	value       int
}

var goNode *plainNode

type pair struct{ left, right Ptr[pair] }

func pairs(m *Mutator, s *Stack, depth int) *pair {
	p, err := Make[pair](m)
	if err != nil {
		panic(err)
	}
	if depth == 0 {
		return p
	}
	s.Push(uintptr(unsafe.Pointer(p)))
	p.left.Set(pairs(m, s, depth-1))
	p.right.Set(pairs(m, s, depth-1))
	s.Pop()
	return p
}

func BenchmarkBinaryTrees16(b *testing.B) {
	for _, slice := range []time.Duration{0, time.Millisecond} {
		name := "Whole"
		if slice != 0 {
			name = "Sliced"
		}
		b.Run(name, func(b *testing.B) {
			h := newPlainHeap(b, WithTimeSlice(slice))
			s, _ := h.NewStack(1000)
			for range b.N {
				h.Do(func(m *Mutator) { binaryTrees(m, s, 16) })
			}
			p := h.Stats().Pauses
			b.ReportMetric(float64(p.Longest.Microseconds()), "µs-longest-pause")
			b.ReportMetric(float64(p.Number)/float64(b.N), "pauses/op")
		})
	}
}

func binaryTrees(m *Mutator, s *Stack, depth int) {
	const least = 4
	pairs(m, s, depth+1)
	s.Push(uintptr(unsafe.Pointer(pairs(m, s, depth))))
	for d := least; d <= depth; d += 2 {
		for range 1 << (depth - d + least) {
			pairs(m, s, d)
		}
	}
	s.Pop()
}

func goPairs(depth int) *goPair {
	p := new(goPair)
	if depth != 0 {
		p.left, p.right = goPairs(depth-1), goPairs(depth-1)
	}
	return p
}

type goPair struct{ left, right *goPair }

var keptPair *goPair

func BenchmarkBinaryTrees16InGoHeap(b *testing.B) {
	const depth, least = 16, 4
	for range b.N {
		keptPair = goPairs(depth + 1)
		keptPair = goPairs(depth)
		long := keptPair
		for d := least; d <= depth; d += 2 {
			for range 1 << (depth - d + least) {
				keptPair = goPairs(d)
			}
		}
		keptPair = long
	}
}

func BenchmarkSet(b *testing.B) {
	h := newPlainHeap(b)
	h.Do(func(m *Mutator) {
		n, _ := Make[node](m)
		for range b.N {
			n.left.Set(n)
		}
	})
}

func BenchmarkHandleGet(b *testing.B) {
	h := newPlainHeap(b)
	h.Do(func(m *Mutator) {
		n, _ := Make[node](m)
		hd, _ := NewHandle(m, n, Normal)
		for range b.N {
			if hd.Get() != n {
				b.Fatal("lost")
			}
		}
	})
}

func BenchmarkDo(b *testing.B) {
	h := newPlainHeap(b)
	for range b.N {
		h.Do(func(m *Mutator) {})
	}
}

// BenchmarkPausesAt500MB builds trees beside a live set of 500 MB, which is collected in slices of a millisecond.
func BenchmarkPausesAt500MB(b *testing.B) {
	h := newPlainHeap(b, WithRange(4<<30), WithTimeSlice(time.Millisecond), WithMode(Disabled))
	s, _ := h.NewStack(1000)
	h.Do(func(m *Mutator) {
		for range 4 {
			s.Push(uintptr(unsafe.Pointer(pairs(m, s, 22)))) // 8 million pairs of 16 bytes each
		}
		h.SetMode(Enabled)
		m.Collect()
		h.pauses = pauses{}
		b.ResetTimer()
		for range b.N {
			pairs(m, s, 14)
		}
	})
	p := h.Stats().Pauses
	b.ReportMetric(float64(p.Percentile99.Microseconds()), "µs-99%-pause")
	b.ReportMetric(float64(p.Longest.Microseconds()), "µs-longest-pause")
}

// BenchmarkCollect500MB is one collection of trees of 500 MB, with and without helpers.
func BenchmarkCollect500MB(b *testing.B) {
	for name, helpers := range map[string]int{"Alone": 0, "Helped": mostHelpers} {
		b.Run(name, func(b *testing.B) {
			h := newPlainHeap(b, WithRange(4<<30), WithMode(Manual), WithHelpers(helpers))
			s, _ := h.NewStack(1000)
			h.Do(func(m *Mutator) {
				for range 4 {
					s.Push(uintptr(unsafe.Pointer(pairs(m, s, 22))))
				}
			})
			h.Collect()
			b.ResetTimer()
			for range b.N {
				h.Collect()
			}
		})
	}
}
