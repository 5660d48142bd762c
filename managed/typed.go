package managed

import (
	"math"
	"reflect"
	"unsafe"

	"granary/internal/core/sys"
)

// Make makes a zero T, which lies in the heap; its Ptr, Slice and Word fields keep other objects alive. It is a
// safepoint: the object is safe until the next one, as Alloc says. Types that contain Go pointers are refused with a
// *PointerError, which names the field.
func Make[T any](m *Mutator) (*T, error) {
	p, err := m.make((*T)(nil)) // small enough to be inlined
	return (*T)(p), err
}

// make is Make for the type that pointers of none's type point to.
func (m *Mutator) make(none any) (unsafe.Pointer, error) {
	key := typeAddr(none)
	q := m.quickSlot(key)
	if q.key == key && m.cache != 0 && m.heap.stop.Load() == 0 {
		if object := m.cache.Take(q.chain); object != 0 {
			return object.Pointer(), nil
		}
	}
	return m.makeSlow(none)
}

// makeSlow is for types that are new to the mutator, or of which no cache has objects, and if no object is at hand.
//
//go:noinline
func (m *Mutator) makeSlow(none any) (unsafe.Pointer, error) {
	k, err := m.kindFor(none, 0)
	if err != nil {
		return nil, err
	}
	return m.allocTyped(int(reflect.TypeOf(none).Elem().Size()), k)
}

// MakeSlice makes an array of length zero Ts in the heap, and returns it as a slice whose capacity is its length; it is
// to Make what make is to new. A slice of no Ts has no object.
func MakeSlice[T any](m *Mutator, length int) ([]T, error) {
	k, err := m.kindFor((*T)(nil), quickSlice)
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
	p, err := m.allocTyped(length*size, k)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(p), length), nil
}

// allocTyped makes an object of a kind for types, which may have to end with its descriptor.
func (m *Mutator) allocTyped(size int, k typeKind) (unsafe.Pointer, error) {
	if k.descriptor == 0 {
		return m.Alloc(size, k.kind)
	}
	p, err := m.Alloc(size+int(wordBytes), k.kind)
	if err == nil {
		object := addrOf(p)
		(object + sys.Addr(m.heap.core.SizeOf(object)-wordBytes)).SetWord(k.descriptor)
	}
	return p, err
}
