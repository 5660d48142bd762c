package memory

import (
	"sync"

	"granary/heap"
)

// Shared allocates and frees memory for any goroutine at any time, without a lock: each processor has a cache. Its zero
// value is ready for use. It has the calls of Allocator that libc makes, under the same rules. It must not be copied,
// and is never closed.
type Shared struct {
	once sync.Once
	heap *heap.Heap
	err  error
}

func (s *Shared) open() (*heap.Heap, error) {
	s.once.Do(func() { s.heap, s.err = openHeap() })
	return s.heap, s.err
}

// UintptrMalloc is Allocator.UintptrMalloc.
func (s *Shared) UintptrMalloc(size int) (uintptr, error) {
	mustBeSize(size)
	h, err := s.open()
	if err != nil || size == 0 {
		return 0, err
	}
	p, err := h.Alloc(size)
	return uintptr(p), err
}

// UintptrCalloc is Allocator.UintptrCalloc.
func (s *Shared) UintptrCalloc(size int) (uintptr, error) {
	mustBeSize(size)
	h, err := s.open()
	if err != nil || size == 0 {
		return 0, err
	}
	p, err := h.AllocZeroed(size)
	return uintptr(p), err
}

// UintptrRealloc is Allocator.UintptrRealloc.
func (s *Shared) UintptrRealloc(p uintptr, size int) (uintptr, error) {
	mustBeSize(size)
	h, err := s.open()
	switch {
	case err != nil:
		return 0, err
	case p == 0:
		return s.UintptrMalloc(size)
	case size == 0:
		return 0, h.Free(pointer(p))
	}
	to, err := h.Realloc(pointer(p), size)
	return uintptr(to), err
}

// UintptrFree is Allocator.UintptrFree.
func (s *Shared) UintptrFree(p uintptr) error {
	h, err := s.open()
	if err != nil {
		return err
	}
	return h.Free(pointer(p))
}

// Counts is the figures that an Allocator has in its fields: blocks that are alive, their bytes, and 1 if there is a
// heap. It looks at all size classes: not for every call.
func (s *Shared) Counts() (allocs, bytes, mmaps int) {
	h, err := s.open()
	if err != nil {
		return 0, 0, 0
	}
	stats := h.Stats()
	return int(stats.LiveBlocks), int(stats.LiveBytes), 1
}
