package memory

import (
	"unsafe"

	"granary/heap"
)

// Allocator allocates and frees memory. Its zero value is ready for use. It is for one goroutine at a time: callers
// that are several take turns by a lock of their own. It must not be copied once it was used.
//
//	state      heap, cache
//	unused     nil; also after Close
//	used       set, until Close
//
// Allocs is the number of blocks that are alive, whatever wrong pointers the program frees. Bytes, which costs some
// nanoseconds a call, is kept with the build tag memory.counters only.
type Allocator struct {
	Allocs int // blocks that are alive
	Bytes  int // usable bytes of those blocks
	Mmaps  int // 1 while there is a heap, whose address range is one mapping

	heap  *heap.Heap
	cache *heap.Cache
}

// open makes the heap at the first call.
func (a *Allocator) open() error {
	h, err := openHeap()
	if err != nil {
		return err
	}
	cache, err := h.NewCache()
	if err != nil {
		closeHeap(h)
		return err
	}
	a.heap, a.cache, a.Mmaps = h, cache, 1
	return nil
}

// booked counts a block that was allocated.
func (a *Allocator) booked(p unsafe.Pointer, err error) (unsafe.Pointer, error) {
	if err == nil {
		a.Allocs++
		a.Bytes += a.counted(p)
	}
	return p, err
}

// counted is the bytes that Bytes counts for a block.
func (a *Allocator) counted(p unsafe.Pointer) int {
	if !counters {
		return 0
	}
	return a.heap.UsableSize(p)
}

// UnsafeMalloc returns a block of at least size bytes at a multiple of 16, whose contents are undefined; nil for size
// 0. It panics if size is negative.
func (a *Allocator) UnsafeMalloc(size int) (unsafe.Pointer, error) {
	mustBeSize(size)
	if size == 0 {
		return nil, nil
	}
	if a.cache == nil {
		if err := a.open(); err != nil {
			return nil, err
		}
	}
	return a.booked(a.cache.Alloc(size))
}

// UnsafeCalloc is UnsafeMalloc, and the block reads as zero.
func (a *Allocator) UnsafeCalloc(size int) (unsafe.Pointer, error) {
	mustBeSize(size)
	if size == 0 {
		return nil, nil
	}
	if a.cache == nil {
		if err := a.open(); err != nil {
			return nil, err
		}
	}
	return a.booked(a.cache.AllocZeroed(size))
}

// UnsafeRealloc makes a block larger or smaller and returns where it is now. A nil pointer stands for a new block; size
// 0 frees. If it returns an error the block is as it was. It panics if size is negative.
func (a *Allocator) UnsafeRealloc(p unsafe.Pointer, size int) (unsafe.Pointer, error) {
	mustBeSize(size)
	switch {
	case p == nil:
		return a.UnsafeMalloc(size)
	case size == 0:
		return nil, a.UnsafeFree(p)
	case a.cache == nil:
		return nil, notOurs("realloc", p)
	}
	before := a.counted(p)
	to, err := a.cache.Realloc(p, size)
	if err == nil {
		a.Bytes += a.counted(to) - before
	}
	return to, err
}

// UnsafeFree takes a block back. A nil pointer is none; any other that is no block of the Allocator is an error.
func (a *Allocator) UnsafeFree(p unsafe.Pointer) error {
	if p == nil {
		return nil
	}
	if a.cache == nil {
		return notOurs("free", p)
	}
	size := a.counted(p)
	if err := a.cache.Free(p); err != nil {
		return err
	}
	a.Allocs--
	a.Bytes -= size
	return nil
}

func notOurs(call string, p unsafe.Pointer) error {
	return &heap.MisuseError{Kind: heap.NoBlock, Call: call, Addr: uintptr(p)}
}

// UintptrMalloc is UnsafeMalloc.
func (a *Allocator) UintptrMalloc(size int) (uintptr, error) {
	p, err := a.UnsafeMalloc(size)
	return uintptr(p), err
}

// UintptrCalloc is UnsafeCalloc.
func (a *Allocator) UintptrCalloc(size int) (uintptr, error) {
	p, err := a.UnsafeCalloc(size)
	return uintptr(p), err
}

// UintptrRealloc is UnsafeRealloc.
func (a *Allocator) UintptrRealloc(p uintptr, size int) (uintptr, error) {
	to, err := a.UnsafeRealloc(pointer(p), size)
	return uintptr(to), err
}

// UintptrFree is UnsafeFree.
func (a *Allocator) UintptrFree(p uintptr) error { return a.UnsafeFree(pointer(p)) }

// Malloc is UnsafeMalloc: a slice of size bytes whose capacity is what the block has. It is nil for size 0.
func (a *Allocator) Malloc(size int) ([]byte, error) { return slice(size)(a.UnsafeMalloc(size)) }

// Calloc is Malloc, and the slice reads as zero up to size.
func (a *Allocator) Calloc(size int) ([]byte, error) { return slice(size)(a.UnsafeCalloc(size)) }

// Realloc is UnsafeRealloc for a slice of Malloc, Calloc or Realloc; one without capacity stands for a new block.
func (a *Allocator) Realloc(b []byte, size int) ([]byte, error) {
	return slice(size)(a.UnsafeRealloc(base(b), size))
}

// Free is UnsafeFree for a slice of Malloc, Calloc or Realloc.
func (a *Allocator) Free(b []byte) error { return a.UnsafeFree(base(b)) }

// slice makes a slice of a block.
func slice(size int) func(unsafe.Pointer, error) ([]byte, error) {
	return func(p unsafe.Pointer, err error) ([]byte, error) {
		if p == nil || err != nil {
			return nil, err
		}
		return unsafe.Slice((*byte)(p), UnsafeUsableSize(p))[:size], nil
	}
}

func base(b []byte) unsafe.Pointer {
	if cap(b) == 0 {
		return nil
	}
	return unsafe.Pointer(unsafe.SliceData(b))
}

// Trim gives free memory back to the system now. It is not needed: a quarter of a second after memory may be given back
// the heap looks for some by itself.
func (a *Allocator) Trim() error {
	if a.heap != nil {
		a.heap.Trim()
	}
	return nil
}

// Close gives all memory back, with the blocks that are alive, and makes a the zero Allocator.
func (a *Allocator) Close() error {
	h, cache := a.heap, a.cache
	*a = Allocator{}
	if h == nil {
		return nil
	}
	if err := cache.Close(); err != nil {
		return err
	}
	return closeHeap(h)
}
