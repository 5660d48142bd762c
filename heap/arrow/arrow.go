// Package arrow gives Apache Arrow's buffers memory of package heap. Its Allocator is a memory.Allocator of
// github.com/apache/arrow-go, for which it need not be imported here.
//
//	mem := arrow.New(heap.Default())
//	builder := array.NewRecordBuilder(mem, schema)
//
// Buffers begin at multiples of 64 bytes and read as zero, as Arrow wants them. A buffer that was released is free at
// once, and not when the collector comes by: reading it afterwards is a mistake that the Go allocator forgives and
// this one does not. GRANARY_DEBUG_ALLOC=1, or heap.WithDebug, finds writes of that kind and double frees.
//
// Structures:
//
//	Allocator   a heap, and how many bytes of it are Arrow's
//	count       a part of that sum, by the address of the block
package arrow

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"granary/heap"
)

// Allocator allocates from a heap, for any goroutine at any time. Its methods have the contract of Arrow's interface,
// which knows no errors: they panic with the *heap.MisuseError or heap.ErrNoMemory that the heap returns.
//
// Equation: the sum of counts is the bytes of all slices that were handed out and not freed.
type Allocator struct {
	heap   *heap.Heap // const
	counts [countShards]count
}

// count is one part of the sum; its blocks' frees go to the part that their allocations went to.
type count struct {
	bytes atomic.Int64
	_     [120]byte // two cache lines, which processors like to fetch together
}

const (
	alignment   = 64
	countShards = 16
	shardShift  = 16 // neighbours in a span, which belong to one processor's cache, share a part
)

// New makes an Allocator of the heap.
func New(h *heap.Heap) *Allocator { return &Allocator{heap: h} }

func (a *Allocator) count(b []byte, bytes int) {
	shard := uintptr(unsafe.Pointer(unsafe.SliceData(b))) >> shardShift % countShards
	a.counts[shard].bytes.Add(int64(bytes))
}

// Allocate returns a slice of size bytes that read as zero, whose capacity is its length. One of no bytes has no
// memory.
func (a *Allocator) Allocate(size int) []byte {
	if size == 0 {
		return []byte{}
	}
	p, err := a.zeroed(size)
	if err != nil {
		panic(fmt.Errorf("allocate %d bytes for Arrow: %w", size, err))
	}
	b := unsafe.Slice((*byte)(p), size)
	a.count(b, size)
	return b
}

// zeroed takes a block at a multiple of 64. Whole multiples of 64 lie at such addresses by themselves, but for blocks
// in debug mode and those for which the heap's range is full.
func (a *Allocator) zeroed(size int) (unsafe.Pointer, error) {
	p, err := a.heap.AllocZeroed(roundUp(size))
	if err != nil || isAligned(p) {
		return p, err
	}
	if err := a.heap.Free(p); err != nil {
		return nil, err
	}
	if p, err = a.heap.AllocAligned(roundUp(size), alignment); err == nil {
		clear(unsafe.Slice((*byte)(p), size))
	}
	return p, err
}

// roundUp keeps sizes that no block has negative, which the heap refuses.
func roundUp(size int) int {
	if size < 0 {
		return size
	}
	return (size + alignment - 1) &^ (alignment - 1)
}

func isAligned(p unsafe.Pointer) bool { return uintptr(p)%alignment == 0 }

// Reallocate makes a slice of Allocate longer or shorter. What it had up to the smaller length stays, what is added
// reads as zero, and b must not be used any more. A slice without memory stands for a new one.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	switch {
	case cap(b) == 0:
		return a.Allocate(size)
	case size == 0:
		a.Free(b)
		return []byte{}
	}
	old := b[:cap(b)]
	p, err := a.heap.Realloc(unsafe.Pointer(unsafe.SliceData(old)), roundUp(size))
	if err != nil {
		panic(fmt.Errorf("reallocate %d bytes for Arrow to %d: %w", len(old), size, err))
	}
	a.count(old, -len(old))
	resized := unsafe.Slice((*byte)(p), size)
	if !isAligned(p) {
		resized = a.moved(resized, len(old))
	}
	a.count(resized, size)
	if size > len(old) {
		clear(resized[len(old):])
	}
	return resized
}

// moved puts a block that Realloc left at a wrong address into a new one; kept bytes of it matter.
func (a *Allocator) moved(b []byte, kept int) []byte {
	p, err := a.zeroed(len(b))
	if err != nil {
		panic(fmt.Errorf("reallocate a slice of %d bytes for Arrow: %w", len(b), err))
	}
	to := unsafe.Slice((*byte)(p), len(b))
	copy(to, b[:min(kept, len(b))])
	a.mustFree(b)
	return to
}

// Free takes a slice of Allocate or Reallocate back; it must begin where that did, and have its capacity.
func (a *Allocator) Free(b []byte) {
	if cap(b) == 0 {
		return
	}
	a.count(b, -cap(b)) // before: afterwards somebody else may have the address
	a.mustFree(b)
}

func (a *Allocator) mustFree(b []byte) {
	if err := a.heap.FreeBytes(b); err != nil {
		a.count(b, cap(b))
		panic(err)
	}
}

// AllocatedBytes is the sum of the lengths of all slices that are not freed.
func (a *Allocator) AllocatedBytes() int64 {
	sum := int64(0)
	for i := range a.counts {
		sum += a.counts[i].bytes.Load()
	}
	return sum
}

// CurrentAlloc is AllocatedBytes, by the name that memory.CheckedAllocator has for it.
func (a *Allocator) CurrentAlloc() int { return int(a.AllocatedBytes()) }

// TestingT is what AssertSize needs of a *testing.T.
type TestingT interface {
	Errorf(format string, args ...any)
	Helper()
}

// AssertSize fails the test unless AllocatedBytes is size, as memory.CheckedAllocator does. If the heap is in debug
// mode it names the places whose blocks are alive, of which blocks that Arrow did not ask for may be some.
func (a *Allocator) AssertSize(t TestingT, size int) {
	got := a.AllocatedBytes()
	if got == int64(size) {
		return
	}
	t.Helper()
	for _, leak := range a.heap.Leaks() {
		if len(leak.AllocatedAt) != 0 {
			t.Errorf("%v", leak)
		}
	}
	t.Errorf("invalid memory size exp=%d, got=%d", size, got)
}
