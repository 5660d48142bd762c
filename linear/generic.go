package linear

import (
	"math"
	"unsafe"

	"granary/heap"
)

// Source is what the generic functions take: an *Allocator, a *Worker or a *Stack.
type Source interface {
	Alloc(size, align int) (unsafe.Pointer, error)
	AllocZeroed(size, align int) (unsafe.Pointer, error)
	Free(p unsafe.Pointer) error
}

// checkType refuses types that contain Go pointers, with a *heap.PointerError. A slice of no elements is looked at and
// takes nothing from anybody.
func checkType[T any]() error {
	_, err := heap.MakeSlice[T](nil, 0, 0)
	return err
}

// Make returns a zero T. Types that contain Go pointers are refused with a *heap.PointerError.
func Make[T any](s Source) (*T, error) {
	if err := checkType[T](); err != nil {
		return nil, err
	}
	p, err := s.AllocZeroed(int(unsafe.Sizeof(*(*T)(nil))), 0)
	return (*T)(p), err
}

// Free takes back what Make returned.
func Free[T any](s Source, p *T) error { return s.Free(unsafe.Pointer(p)) }

// MakeSlice returns a slice of length zero Ts with room for capacity. Types that contain Go pointers are refused with a
// *heap.PointerError.
func MakeSlice[T any](s Source, length, capacity int) ([]T, error) {
	if err := checkType[T](); err != nil {
		return nil, err
	}
	size := int(unsafe.Sizeof(*(*T)(nil)))
	if length < 0 || capacity < length || size != 0 && capacity > math.MaxInt/size {
		return nil, ErrSize
	}
	p, err := s.AllocZeroed(capacity*size, 0)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), capacity)[:length], nil
}

// FreeSlice takes back what MakeSlice returned. The slice must begin where that did.
func FreeSlice[T any](s Source, slice []T) error {
	return s.Free(unsafe.Pointer(unsafe.SliceData(slice)))
}
