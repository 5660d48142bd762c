package heap

import (
	"math"
	"unsafe"
)

// Allocator is what the generic functions take: a *Heap, a *Cache or a *Tag.
type Allocator interface {
	Alloc(size int) (unsafe.Pointer, error)
	AllocZeroed(size int) (unsafe.Pointer, error)
	Realloc(p unsafe.Pointer, size int) (unsafe.Pointer, error)
	UsableSize(p unsafe.Pointer) int
	Free(p unsafe.Pointer) error
}

// mostElementAlignment is what every block has. No type of Go without pointers needs more.
const mostElementAlignment = 16

// Make returns a zero T. Types that contain Go pointers are refused with a *PointerError. A T of no bytes has no
// memory, and need not be freed.
func Make[T any](a Allocator) (*T, error) {
	if err := checkType[T](); err != nil {
		return nil, err
	}
	size := unsafe.Sizeof(*(*T)(nil))
	if size == 0 {
		return new(T), nil
	}
	if size > zeroedHere {
		p, err := a.AllocZeroed(int(size))
		return (*T)(p), err
	}
	p, err := a.Alloc(int(size))
	if err != nil {
		return nil, err
	}
	var zero T
	*(*T)(p) = zero
	return (*T)(p), nil
}

// zeroedHere is the size up to which Make and MakeSlice write the zeros themselves. For Make the compiler knows how
// many there are. That costs less than to find out whether the block reads as zero already, and the calls for it.
const zeroedHere = 512

// Free takes back what Make returned.
func Free[T any](a Allocator, p *T) error {
	if unsafe.Sizeof(*p) == 0 {
		return nil
	}
	return a.Free(unsafe.Pointer(p))
}

// MakeSlice returns a slice of length zero Ts with room for capacity. Types that contain Go pointers are refused with
// a *PointerError.
func MakeSlice[T any](a Allocator, length, capacity int) ([]T, error) {
	if err := checkType[T](); err != nil {
		return nil, err
	}
	if length < 0 || capacity < length {
		return nil, ErrSize
	}
	bytes, err := sliceBytes[T](capacity)
	if err != nil {
		return nil, err
	}
	if bytes == 0 {
		return make([]T, length, capacity), nil
	}
	var p unsafe.Pointer
	if bytes > zeroedHere {
		p, err = a.AllocZeroed(bytes)
	} else if p, err = a.Alloc(bytes); err == nil {
		clear(unsafe.Slice((*byte)(p), bytes))
	}
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), capacity)[:length], nil
}

// sliceBytes is the size of so many Ts.
func sliceBytes[T any](count int) (int, error) {
	size := int(unsafe.Sizeof(*(*T)(nil)))
	if size != 0 && count > math.MaxInt/size {
		return 0, ErrSize
	}
	return count * size, nil
}

// FreeSlice takes back what MakeSlice, Append or Clone returned. The slice must begin where theirs did.
func FreeSlice[T any](a Allocator, s []T) error {
	if unsafe.Sizeof(*(*T)(nil)) == 0 {
		return nil
	}
	return freeSlice(a, s)
}

// Append appends values to a slice of the allocator, which may be nil, and returns it; as with the built-in append the
// slice that was given is not to be used any more. The values may be elements of it. If it returns an error the slice
// is as it was.
func Append[T any](a Allocator, s []T, values ...T) ([]T, error) {
	if len(values) <= cap(s)-len(s) {
		return append(s, values...), nil
	}
	if err := checkType[T](); err != nil {
		return s, err
	}
	need := len(s) + len(values)
	bytes, err := sliceBytes[T](max(need, cap(s)+cap(s)/2))
	if err != nil {
		return s, err
	}
	if bytes == 0 {
		return append(s, values...), nil
	}
	var old unsafe.Pointer
	if cap(s) != 0 {
		old = unsafe.Pointer(unsafe.SliceData(s))
	}
	from, own := elementsOf(s, values)
	p, err := a.Realloc(old, bytes)
	if err != nil {
		return s, err
	}
	if own { // they have moved with it
		values = unsafe.Slice((*T)(p), cap(s))[from : from+len(values)]
	}
	room := a.UsableSize(p) / int(unsafe.Sizeof(*(*T)(nil)))
	return append(unsafe.Slice((*T)(p), room)[:len(s)], values...), nil
}

// elementsOf reports whether values lie in the memory of a slice, and at which of its elements.
func elementsOf[T any](s, values []T) (from int, own bool) {
	offset := uintptr(unsafe.Pointer(unsafe.SliceData(values))) - uintptr(unsafe.Pointer(unsafe.SliceData(s)))
	size := unsafe.Sizeof(*(*T)(nil))
	return int(offset / size), cap(s) != 0 && offset < uintptr(cap(s))*size
}

// Clone returns a copy of a slice, which may lie anywhere.
func Clone[T any](a Allocator, s []T) ([]T, error) {
	to, err := MakeSlice[T](a, len(s), len(s))
	copy(to, s)
	return to, err
}
