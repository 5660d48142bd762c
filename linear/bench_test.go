package linear

import (
	"testing"
	"unsafe"
)

// The benchmarks with peers are in bench/linear; these are for a look at one part.

var sink unsafe.Pointer

const batch = 1000

func benchAlloc(b *testing.B, s Source) {
	var all [batch]unsafe.Pointer
	for i := 0; i < b.N; i += batch {
		for j := range all {
			all[j], _ = s.Alloc(64, 16)
		}
		b.StopTimer()
		for _, p := range all {
			mustFree(b, s, p)
		}
		b.StartTimer()
	}
}

func benchFree(b *testing.B, s Source) {
	var all [batch]unsafe.Pointer
	for i := 0; i < b.N; i += batch {
		b.StopTimer()
		for j := range all {
			all[j] = mustAlloc(b, s, 64, 16)
		}
		b.StartTimer()
		for _, p := range all {
			_ = s.Free(p)
		}
	}
}

func benchPair(b *testing.B, s Source) {
	for b.Loop() {
		sink, _ = s.Alloc(64, 16)
		_ = s.Free(sink)
	}
}

func BenchmarkAllocator(b *testing.B) {
	a := mustNew(b, Config{})
	b.Run("alloc", func(b *testing.B) { benchAlloc(b, a) })
	b.Run("free", func(b *testing.B) { benchFree(b, a) })
	b.Run("pair", func(b *testing.B) { benchPair(b, a) })
}

func BenchmarkWorker(b *testing.B) {
	a := mustNew(b, Config{})
	w, err := a.NewWorker()
	if err != nil {
		b.Fatal(err)
	}
	defer w.Close()
	b.Run("alloc", func(b *testing.B) { benchAlloc(b, w) })
	b.Run("free", func(b *testing.B) { benchFree(b, w) })
	b.Run("pair", func(b *testing.B) { benchPair(b, w) })
}

// BenchmarkFreeOfAnEarlierFrame counts by compare-and-swap.
func BenchmarkFreeOfAnEarlierFrame(b *testing.B) {
	a := mustNew(b, Config{MaxAge: 4})
	var all [batch]unsafe.Pointer
	for i := 0; i < b.N; i += batch {
		b.StopTimer()
		for j := range all {
			all[j] = mustAlloc(b, a, 64, 16)
		}
		a.NextFrame()
		last := mustAlloc(b, a, 64, 16)
		b.StartTimer()
		for _, p := range all {
			_ = a.Free(p)
		}
		b.StopTimer()
		mustFree(b, a, last)
		b.StartTimer()
	}
}

func BenchmarkStack(b *testing.B) {
	a := mustNew(b, Config{})
	s, err := a.NewStack("x", 1<<20)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := 0; i < b.N; i += batch {
		mark := s.Mark()
		for range batch {
			sink, _ = s.Alloc(64, 16)
		}
		if err := s.Rewind(mark); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNextFrame(b *testing.B) {
	a := mustNew(b, Config{MaxAge: 4})
	for b.Loop() {
		a.NextFrame()
	}
}
