package heap

import "unsafe"

// Bytes returns a slice of size bytes, whose contents are undefined and whose capacity is its length. One of no bytes
// is a slice without memory.
func (h *Heap) Bytes(size int) ([]byte, error) { return makeBytes(h, size) }

// FreeBytes takes a slice of Bytes back: it must begin where that did, its length does not matter.
func (h *Heap) FreeBytes(b []byte) error { return freeSlice(h, b) }

// Bytes is Heap.Bytes.
func (t *Tag) Bytes(size int) ([]byte, error) { return makeBytes(t, size) }

// FreeBytes is Heap.FreeBytes.
func (t *Tag) FreeBytes(b []byte) error { return freeSlice(t, b) }

// Bytes is Heap.Bytes.
func (c *Cache) Bytes(size int) ([]byte, error) { return makeBytes(c, size) }

// FreeBytes is Heap.FreeBytes.
func (c *Cache) FreeBytes(b []byte) error { return freeSlice(c, b) }

// Bytes is Heap.Bytes of the default heap.
func Bytes(size int) ([]byte, error) { return Default().Bytes(size) }

// FreeBytes is Heap.FreeBytes of the default heap.
func FreeBytes(b []byte) error { return Default().FreeBytes(b) }

func makeBytes(a Allocator, size int) ([]byte, error) {
	if size == 0 {
		return []byte{}, nil
	}
	p, err := a.Alloc(size)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(p), size), nil
}

// freeSlice frees what a slice lies in. One without capacity has no memory.
func freeSlice[T any](a Allocator, s []T) error {
	if cap(s) == 0 {
		return nil
	}
	return a.Free(unsafe.Pointer(unsafe.SliceData(s)))
}
