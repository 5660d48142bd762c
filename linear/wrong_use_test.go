package linear

import (
	"errors"
	"runtime"
	"testing"
	"unsafe"

	"granary/heap"
)

// A fault under the pin would end the process: no recover could help.
func TestNilAllocatorPanicsAsAnyNilPointer(t *testing.T) {
	var a *Allocator
	var block [16]byte
	for name, call := range map[string]func(){
		"Alloc":       func() { a.Alloc(16, 0) },
		"AllocZeroed": func() { a.AllocZeroed(16, 0) },
		"Free":        func() { a.Free(unsafe.Pointer(&block)) },
		"Make":        func() { Make[int](a) },
		"NextFrame":   func() { a.NextFrame() },
	} {
		func() {
			defer func() {
				if what, ok := recover().(runtime.Error); !ok {
					t.Errorf("%s of a nil Allocator: %v", name, what)
				}
			}()
			call()
		}()
	}
}

func TestZeroAllocatorIsClosed(t *testing.T) {
	var a Allocator
	var block [16]byte
	errs := map[string]error{"Free": a.Free(unsafe.Pointer(&block)), "Reset": a.Reset()}
	_, errs["Alloc"] = a.Alloc(16, 0)
	_, errs["AllocZeroed"] = a.AllocZeroed(16, 0)
	_, errs["aligned Alloc"] = a.Alloc(16, 4096)
	_, errs["NewWorker"] = a.NewWorker()
	_, errs["NewStack"] = a.NewStack("stack", 4096)
	_, errs["Make"] = Make[int](&a)
	for name, err := range errs {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := a.Free(nil); err != nil {
		t.Error(err)
	}
	if a.NextFrame() != 0 || a.Frame() != 0 || a.Stats() != (Stats{}) || a.Leaks(false) != nil {
		t.Error("a zero Allocator has something")
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// What the heap serves reads as zero too, whatever lay there before.
func TestOverflowsReadAsZero(t *testing.T) {
	h, err := heap.New()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	a := mustNew(t, Config{BlockSize: BlockSizeLeast, MaxBlocks: 1, Growth: 1, Heap: h})
	stack, err := a.NewStack("stack", StackSizeLeast)
	if err != nil {
		t.Fatal(err)
	}
	defer stack.Close()
	const size = 200_000
	for _, s := range []Source{a, stack} {
		for _, align := range []int{0, 16, 64, AlignmentMost} {
			dirty, err := h.AllocAligned(size+align, max(align, 16))
			if err != nil {
				t.Fatal(err)
			}
			for i := range size {
				*(*byte)(unsafe.Add(dirty, i)) = 0xff
			}
			h.Free(dirty)
			before := a.Stats().TooLarge
			p, err := s.AllocZeroed(size, align)
			if err != nil {
				t.Fatal(err)
			}
			if a.Stats().TooLarge == before {
				t.Fatal("the heap did not serve this")
			}
			for i, b := range unsafe.Slice((*byte)(p), size) {
				if b != 0 {
					t.Fatalf("%T, aligned to %d: byte %d is %#x", s, align, i, b)
				}
			}
			mustFree(t, s, p)
		}
	}
}

func TestSystemIsClosedOnceNothingIsOpen(t *testing.T) {
	s, err := NewSystem(SystemConfig{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := s.JobTemp.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); !errors.Is(err, ErrOpen) {
		t.Errorf("closed with an open worker: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, a := range s.allocators() {
		if _, err := a.Alloc(16, 0); !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: %v", a.Name(), err)
		}
	}
}
