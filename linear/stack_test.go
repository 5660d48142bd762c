package linear

import (
	"testing"
	"unsafe"
)

func TestStackOverflowsIntoTheAllocatorAndTheHeap(t *testing.T) {
	a := mustNew(t, Config{BlockSize: 64 << 10, MaxBlocks: 1})
	s, err := a.NewStack("MAIN", 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	outer := s.Mark()
	mustAlloc(t, s, 8000, 16)
	inner := s.Mark()
	for _, align := range []int{1, 16, 256, 4096, 32 << 10} {
		p := mustAlloc(t, s, 5000, align)
		if uintptr(p)%uintptr(align) != 0 {
			t.Errorf("%#x is not at a multiple of %d", p, align)
		}
		clear(unsafe.Slice((*byte)(p), 5000))
	}
	mustAlloc(t, s, 1<<20, 16)
	stats := a.Stats()
	if stats.Live == 0 || stats.OverflowsLive == 0 || stats.Live+stats.OverflowsLive != 6 {
		t.Errorf("%+v", stats)
	}
	if got := s.Stats(); got.Overflows != 6 || got.Initial != 4096 || got.Current != 8192 || got.Peak != 8000 {
		t.Errorf("%+v", got)
	}
	if err := s.Rewind(inner); err != nil {
		t.Fatal(err)
	}
	if stats := a.Stats(); stats.Live != 0 || stats.OverflowsLive != 0 {
		t.Errorf("after the rewind %+v", stats)
	}
	if err := s.Rewind(outer); err != nil {
		t.Fatal(err)
	}
	if err := s.Rewind(inner); err != ErrMark {
		t.Errorf("a mark that was passed gives %v", err)
	}
	mustAlloc(t, s, 9000, 16) // for Close to free
}

func TestStackRefusesBadInput(t *testing.T) {
	a := mustNew(t, Config{})
	for _, size := range []int{-1, StackSizeMost + 1} {
		if _, err := a.NewStack("x", size); err != ErrSize {
			t.Errorf("a stack of %d bytes gives %v", size, err)
		}
	}
	s, err := a.NewStack("x", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Alloc(-1, 8); err != ErrSize {
		t.Errorf("a negative size gives %v", err)
	}
	if _, err := s.Alloc(1, 5); err != ErrAlignment {
		t.Errorf("an odd alignment gives %v", err)
	}
	if p, q := mustAlloc(t, s, 0, 0), mustAlloc(t, s, 0, 1); p == q {
		t.Error("two allocations of no bytes have one address")
	}
}
