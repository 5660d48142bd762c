package object

import (
	"math"
	"unsafe"

	"granary/heap"
	"granary/internal/core/sys"
)

// String is text outside of the Go heap, for the fields of objects, which cannot hold Go strings. The zero String is
// empty. As a field it is freed when its object is deleted; elsewhere it needs a Clear. It must not be copied:
// give its text to Set. It must not be used by two goroutines at once if one of them changes it.
type String struct {
	addr   sys.Addr // of a block of the heap, 0 while empty
	length uintptr
}

// Set makes s a copy of text. Without memory the error is heap.ErrNoMemory, and s is as it was.
func (s *String) Set(text string) error {
	if len(text) == 0 {
		s.Clear()
		return nil
	}
	block, err := heap.Default().Alloc(len(text))
	if err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(block), len(text)), text) // before the old one goes: text may be a view of it
	s.Clear()
	s.addr, s.length = sys.Addr(uintptr(block)), uintptr(len(text))
	return nil
}

// Clear makes s empty.
func (s *String) Clear() {
	if s.addr != 0 {
		freeBlock(s.addr)
		*s = String{}
	}
}

// Len is the number of bytes.
func (s *String) Len() int { return int(s.length) }

// String is a copy of the text.
func (s *String) String() string { return string(s.View()) }

// View is the text in place. It is good to read until s is changed, or its object deleted.
func (s *String) View() []byte {
	if s.addr == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(s.addr.Pointer()), s.length)
}

func freeBlock(block sys.Addr) {
	if err := heap.Default().Free(block.Pointer()); err != nil {
		panic("granary: BUG: memory of a String or Slice: " + err.Error())
	}
}

// Slice is a growing array outside of the Go heap, for the fields of objects, which cannot hold Go slices. The zero
// Slice is empty. As a field it is freed when its object is deleted, and its elements let go of what they hold;
// elsewhere it needs a Clear. It must not be copied. It must not be used by two goroutines at once if one of
// them changes it.
//
// T is subject to what MakeType says of the fields of objects.
type Slice[T any] struct {
	_        [0]*T
	addr     sys.Addr // of a block of the heap, 0 while there is none
	length   uintptr
	capacity uintptr
}

// Len is the number of elements.
func (s *Slice[T]) Len() int { return int(s.length) }

// At is the element with an index. It is good to use until the Slice grows, or its object is deleted. An index
// that is out of range panics, as with the slices of Go.
func (s *Slice[T]) At(index int) *T { return &s.View()[index] }

// View is the elements in place, good to use as those of At are.
func (s *Slice[T]) View() []T {
	if s.length == 0 {
		return nil
	}
	return unsafe.Slice((*T)(s.addr.Pointer()), s.length)
}

// Append adds elements. What they hold is from then on held by the Slice: Vars and Strings among them must not be
// cleared any more, nor used again. Values that hold nothing may be elements of s. Without memory the error is
// heap.ErrNoMemory, and s is as it was.
func (s *Slice[T]) Append(values ...T) error {
	old, addr := int(s.length), s.addr
	if err := s.reserve(old + len(values)); err != nil {
		return err
	}
	offset := sys.Addr(uintptr(unsafe.Pointer(unsafe.SliceData(values)))) - addr
	if addr != 0 && offset < sys.Addr(uintptr(old)*unsafe.Sizeof(*(*T)(nil))) { // they have moved with s
		values = unsafe.Slice((*T)((s.addr + offset).Pointer()), len(values))
	}
	s.length += uintptr(len(values))
	copy(s.View()[old:], values)
	return nil
}

// Resize makes s have so many elements. Those added are zero; those taken away let go of what they hold. The error is
// heap.ErrNoMemory or heap.ErrSize, and then s is as it was.
func (s *Slice[T]) Resize(length int) error {
	if length < 0 {
		return heap.ErrSize
	}
	if err := s.reserve(length); err != nil {
		return err
	}
	if old := int(s.length); length < old {
		s.letGo(length)
		s.length = uintptr(length)
	} else {
		s.length = uintptr(length)
		clear(s.View()[old:])
	}
	return nil
}

// Clear makes s empty and gives its memory back.
func (s *Slice[T]) Clear() {
	s.letGo(0)
	if s.addr != 0 {
		freeBlock(s.addr)
	}
	*s = Slice[T]{}
}

// letGo has the elements from an index on let go of what they hold.
func (s *Slice[T]) letGo(from int) {
	l, err := layoutFor[T]()
	if err != nil || l.count == 0 {
		return
	}
	elements := s.View()
	for i := from; i < len(elements); i++ {
		world.ReleaseFields(l.addr, 0, l.count, sys.Addr(uintptr(unsafe.Pointer(&elements[i]))))
	}
}

// reserve makes room for so many elements.
func (s *Slice[T]) reserve(length int) error {
	if uintptr(length) <= s.capacity {
		return nil
	}
	if err := start(); err != nil {
		return err
	}
	if _, err := layoutFor[T](); err != nil {
		return err
	}
	bytes := unsafe.Sizeof(*(*T)(nil))
	capacity := max(uintptr(length), s.capacity+s.capacity/2)
	if bytes != 0 && capacity > math.MaxInt64/bytes {
		return heap.ErrSize
	}
	block, err := heap.Default().Realloc(s.addr.Pointer(), int(max(capacity*bytes, 1)))
	if err != nil {
		return err
	}
	s.addr, s.capacity = sys.Addr(uintptr(block)), capacity
	return nil
}
