package managed

import (
	"math"
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// Make makes a zero T, which lies in the heap; its Ptr, Slice and Word fields keep other objects alive. It is a
// safepoint: the object is safe until the next one, as Alloc says. Types that contain Go pointers are refused with a
// *PointerError, which names the field.
func Make[T any](m *Mutator) (*T, error) {
	var none *T
	key := typeAddr(none)
	entry := m.heap.quickSlot(key).Load()
	kind := Kind(entry & (quickSlice - 1))
	if entry&^(quickSlice-1) == quickEntry(key, 0) && kind != PointerFree &&
		unsafe.Sizeof(*none) < core.SmallMaxBytes {
		if object := m.tryAlloc(unsafe.Sizeof(*none), kind); object != 0 {
			return (*T)(object.Pointer()), nil
		}
	}
	return makeSlow[T](m)
}

// makeSlow is for types that are new to the heap, hold no addresses, or are large, and if no object is at hand.
func makeSlow[T any](m *Mutator) (*T, error) {
	k, err := kindFor[T](m.heap, 0)
	if err != nil {
		return nil, err
	}
	if k.descriptor != 0 {
		p, err := m.allocDescribed(int(unsafe.Sizeof(*(*T)(nil))), k)
		return (*T)(p), err
	}
	p, err := m.Alloc(int(unsafe.Sizeof(*(*T)(nil))), k.kind)
	if k.kind == PointerFree && err == nil {
		clear(unsafe.Slice((*T)(p), 1))
	}
	return (*T)(p), err
}

// MakeSlice makes an array of length zero Ts in the heap, and returns it as a slice whose capacity is its length; it is
// to Make what make is to new. A slice of no Ts has no object.
func MakeSlice[T any](m *Mutator, length int) ([]T, error) {
	k, err := kindFor[T](m.heap, quickSlice)
	if err != nil {
		return nil, err
	}
	size := int(unsafe.Sizeof(*(*T)(nil)))
	if length < 0 || size != 0 && length > math.MaxInt/2/size {
		return nil, ErrSize
	}
	if length*size == 0 {
		return make([]T, length), nil
	}
	var p unsafe.Pointer
	if k.descriptor != 0 {
		p, err = m.allocDescribed(length*size, k)
	} else {
		p, err = m.Alloc(length*size, k.kind)
	}
	if err != nil {
		return nil, err
	}
	s := unsafe.Slice((*T)(p), length)
	if k.kind == PointerFree {
		clear(s)
	}
	return s, nil
}

// allocDescribed makes an object that ends with its descriptor.
func (m *Mutator) allocDescribed(size int, k typeKind) (unsafe.Pointer, error) {
	p, err := m.Alloc(size+int(wordBytes), k.kind)
	if err == nil {
		object := addrOf(p)
		(object + sys.Addr(m.heap.core.SizeOf(object)-wordBytes)).SetWord(k.descriptor)
	}
	return p, err
}
