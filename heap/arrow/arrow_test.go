package arrow

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"granary/heap"
	"granary/heap/heaptest"
)

var _ memory.Allocator = (*Allocator)(nil)

func mustNew(t testing.TB, options ...heap.Option) *Allocator {
	t.Helper()
	h, err := heap.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(h)
}

func mustBeBuffer(t *testing.T, b []byte, size int) {
	t.Helper()
	if len(b) != size || cap(b) != size {
		t.Fatalf("%d bytes have room for %d, want %d", len(b), cap(b), size)
	}
	if start := uintptr(unsafe.Pointer(unsafe.SliceData(b))); size != 0 && start%alignment != 0 {
		t.Fatalf("a buffer of %d bytes begins at %#x, not at a multiple of %d", size, start, alignment)
	}
}

func countBytes(b []byte, value byte) int { return bytes.Count(b, []byte{value}) }

// TestBuffersAreZeroAlignedAndKeepTheirContents with the heap in all its moods.
func TestBuffersAreZeroAlignedAndKeepTheirContents(t *testing.T) {
	for name, options := range map[string][]heap.Option{
		"plain": nil, "sampled": {heap.WithProfileRate(1)}, "debug": {heap.WithDebug(true)},
		"small range": {heap.WithRange(1)},
	} {
		t.Run(name, func(t *testing.T) {
			a := mustNew(t, options...)
			var held [][]byte // so that the range becomes full
			for round := range 30 {
				for _, size := range []int{0, 1, 63, 64, 65, 127, 160, 1000, 4097, 32 << 10, 33000, 1 << 20} {
					b := a.Allocate(size)
					mustBeBuffer(t, b, size)
					if n := countBytes(b, 0); n != size {
						t.Fatalf("round %d: %d of %d bytes are not zero", round, size-n, size)
					}
					copy(b, bytes.Repeat([]byte{0xcc}, size))
					for _, to := range []int{size + 1, 2*size + 3, size/2 + 1, 64, size} {
						kept := countBytes(b[:min(len(b), to)], 0xcc)
						b = a.Reallocate(to, b)
						mustBeBuffer(t, b, to)
						if got := countBytes(b, 0xcc); got != kept {
							t.Fatalf("reallocated to %d: %d bytes are as written, want %d", to, got, kept)
						}
						if got := countBytes(b, 0); got != to-kept {
							t.Fatalf("reallocated to %d: %d bytes are zero, want %d", to, got, to-kept)
						}
					}
					held = append(held, b)
				}
			}
			want := int64(0)
			for _, b := range held {
				want += int64(len(b))
			}
			if got := a.AllocatedBytes(); got != want {
				t.Errorf("%d bytes are allocated, want %d", got, want)
			}
			for _, b := range held {
				a.Free(b[:len(b)/2])
			}
			a.AssertSize(t, 0)
			if live := a.heap.Stats().LiveBlocks; live != 0 {
				t.Errorf("%d blocks are left", live)
			}
		})
	}
}

func TestSlicesWithoutMemory(t *testing.T) {
	a := mustNew(t)
	a.Free(nil)
	a.Free(a.Allocate(0))
	b := a.Reallocate(10, nil)
	mustBeBuffer(t, b, 10)
	if b = a.Reallocate(0, b); len(b) != 0 {
		t.Errorf("reallocated to nothing it has %d bytes", len(b))
	}
	a.AssertSize(t, 0)
}

// recovered is the error that a call panics with.
func recovered(call func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	call()
	return nil
}

func TestMistakesPanicWithTheirErrorAndCountNothing(t *testing.T) {
	a := mustNew(t, heap.WithLimit(1<<20))
	b := a.Allocate(100)
	a.Free(b)
	kept := a.Allocate(5000)
	defer a.Free(kept)
	var misuse *heap.MisuseError
	if err := recovered(func() { a.Free(b) }); !errors.As(err, &misuse) || misuse.Kind != heap.FreedTwice {
		t.Errorf("freed twice: %v", err)
	}
	if err := recovered(func() { a.Reallocate(200, b) }); !errors.As(err, &misuse) {
		t.Errorf("reallocated after it was freed: %v", err)
	}
	if err := recovered(func() { a.Free(make([]byte, 10)) }); !errors.As(err, &misuse) || misuse.Kind != heap.NoBlock {
		t.Errorf("a slice of the Go heap: %v", err)
	}
	if err := recovered(func() { a.Allocate(2 << 20) }); !errors.Is(err, heap.ErrLimit) {
		t.Errorf("more than the limit: %v", err)
	}
	if err := recovered(func() { a.Reallocate(2<<20, kept) }); !errors.Is(err, heap.ErrLimit) {
		t.Errorf("more than the limit: %v", err)
	}
	if err := recovered(func() { a.Allocate(-1) }); !errors.Is(err, heap.ErrSize) {
		t.Errorf("a negative size: %v", err)
	}
	if err := recovered(func() { a.Reallocate(-1, kept) }); !errors.Is(err, heap.ErrSize) {
		t.Errorf("a negative size: %v", err)
	}
	a.AssertSize(t, 5000)
}

// fakeT keeps what a test would have failed with.
type fakeT struct{ errors []string }

func (f *fakeT) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *fakeT) Helper() {}

func TestAssertSizeNamesThePlaceInDebugMode(t *testing.T) {
	for _, debug := range []bool{false, true} {
		a := mustNew(t, heap.WithDebug(debug))
		b := a.Allocate(100)
		var fake fakeT
		a.AssertSize(&fake, 100)
		if len(fake.errors) != 0 {
			t.Errorf("the size is right, but: %q", fake.errors)
		}
		a.AssertSize(&fake, 0)
		text := strings.Join(fake.errors, "\n")
		if !strings.Contains(text, "invalid memory size exp=0, got=100") {
			t.Errorf("the sizes are not in %q", text)
		}
		if named := strings.Contains(text, "TestAssertSizeNamesThePlaceInDebugMode"); named != debug {
			t.Errorf("debug mode %v: %q", debug, text)
		}
		a.Free(b)
	}
}

func TestCheckedAllocatorMayWrapIt(t *testing.T) {
	checked := memory.NewCheckedAllocator(New(heaptest.New(t)))
	defer checked.AssertSize(t, 0)
	buffer := memory.NewResizableBuffer(checked)
	for _, size := range []int{10, 1000, 100_000, 50, 0, 70} {
		buffer.Resize(size)
	}
	buffer.Release()
}

func TestAnyGoroutineMayFree(t *testing.T) {
	a := mustNew(t)
	slices := make(chan []byte, 100)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for size := range 5000 {
				slices <- a.Allocate(size)
			}
		})
		done.Go(func() {
			for range 5000 {
				b := <-slices
				if size := len(b); countBytes(b, 0) != size {
					t.Error("a buffer is not zero")
				}
				copy(b, "x")
				a.Free(b)
			}
		})
	}
	done.Wait()
	a.AssertSize(t, 0)
}
