package managed

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// This file: the references that fields of managed objects have. What marking needs to know of a change is said by
// their Set methods: while a collection is marking in slices, the object that a field named before is marked too, so
// that all is marked which was reachable when the collection began.

// An address that may be 0 becomes a pointer by a load of that type, here and elsewhere: of the result of
// sys.Addr.Pointer the compiler knows that it is not nil.

// pointer is such a conversion.
func pointer[T any](addr uintptr) *T { return *(**T)(unsafe.Pointer(&addr)) }

// barriers is 0 if a Set has nothing to do but to write: the number of heaps that are marking while their mutators run,
// and barrierVerify times the number of those that check themselves.
var barriers atomic.Int64

const barrierVerify = 1 << 32

// overwritten is told of the word that a reference held.
//
//go:noinline
func overwritten(was uintptr) {
	if was == 0 {
		return
	}
	if h := find(was); h != nil {
		h.core.Shade(was)
	}
}

// Ptr is a field that refers to a T in the same heap, or to nothing, and keeps it alive. The T must be what Make
// returned, not a part of something larger, unless the heap was made WithInterior. Copying an object copies its Ptrs
// without a barrier: that is safe into an object that is new, else use Set for each.
//
// Fields are changed by one goroutine at a time, as all variables.
type Ptr[T any] struct {
	_    [0]*T // Ptrs to different types are different types
	addr uintptr
}

// PtrTo is a reference to a T for composite literals of objects that are new.
func PtrTo[T any](to *T) Ptr[T] { return Ptr[T]{addr: uintptr(unsafe.Pointer(to))} }

// Get is what the field refers to, or nil.
func (p *Ptr[T]) Get() *T { return *(**T)(unsafe.Pointer(&p.addr)) }

// Set makes the field refer to something else, or to nothing.
func (p *Ptr[T]) Set(to *T) {
	if barriers.Load() != 0 {
		overwritten(p.addr)
	}
	p.addr = uintptr(unsafe.Pointer(to))
}

// IsNil reports whether the field refers to nothing.
func (p Ptr[T]) IsNil() bool { return p.addr == 0 }

// Slice is a field that refers to an array of Ts in the same heap, as MakeSlice returned it or with fewer elements at
// its end, and keeps it alive.
type Slice[T any] struct {
	_      [0]*T
	addr   uintptr
	length int
}

// SliceOf is a reference to an array for composite literals of objects that are new.
func SliceOf[T any](to []T) Slice[T] {
	var s Slice[T]
	s.put(to)
	return s
}

func (s *Slice[T]) put(to []T) {
	s.addr, s.length = 0, len(to)
	if len(to) != 0 {
		s.addr = uintptr(unsafe.Pointer(unsafe.SliceData(to)))
	}
}

// Get is the array as a slice whose capacity is its length.
func (s *Slice[T]) Get() []T { return unsafe.Slice(*(**T)(unsafe.Pointer(&s.addr)), s.length) }

// Len is the number of elements.
func (s Slice[T]) Len() int { return s.length }

// Set makes the field refer to another array.
func (s *Slice[T]) Set(to []T) {
	if barriers.Load() != 0 {
		overwritten(s.addr)
	}
	s.put(to)
}

// Word is a field that may be the address of an object, which it keeps alive then, or anything else: for values of
// dynamic languages. With WithOffsets addresses may carry marks in their lowest bits.
type Word struct{ word uintptr }

// WordOf is a word for composite literals of objects that are new.
func WordOf(word uintptr) Word { return Word{word} }

// Get is the word.
func (w Word) Get() uintptr { return w.word }

// Set changes the word.
func (w *Word) Set(word uintptr) {
	if barriers.Load() != 0 {
		overwritten(w.word)
	}
	w.word = word
}

// SetWord changes a word of an object that was made by Alloc with the kind Conservative or Uncollectable, as Word.Set
// does.
func SetWord(at *uintptr, word uintptr) {
	if barriers.Load() != 0 {
		overwritten(*at)
	}
	*at = word
}

// Weak is a field that refers to a T in the same heap without keeping it alive: it refers to nothing once the T is not
// reachable otherwise. A Weak must lie in a managed object, where it stays, and is not copied.
type Weak[T any] struct {
	_    [0]*T
	_    [0]func() // not comparable: compare what Get returns
	addr uintptr
}

// Get is what the field refers to, or nil. The object is safe until the mutator's next safepoint.
func (w *Weak[T]) Get() *T {
	if w.addr != 0 && barriers.Load() != 0 {
		overwritten(w.addr) // now it is reachable again, so marking must know it
	}
	return *(**T)(unsafe.Pointer(&w.addr))
}

// Set makes the field refer to something else, or to nothing. Errors are ErrNoObject, if the field does not lie in an
// object of the mutator's heap or to is not of it, and ErrNoMemory.
func (w *Weak[T]) Set(m *Mutator, to *T) error {
	c, link := m.heap.core, sys.Addr(uintptr(unsafe.Pointer(&w.addr)))
	if c.BaseOf(link) == 0 {
		return ErrNoObject
	}
	if to == nil {
		c.UnregisterLink(link, false)
		w.addr = 0
		return nil
	}
	object := addrOf(unsafe.Pointer(to))
	if c.BaseOf(object) == 0 {
		return ErrNoObject
	}
	if c.RegisterLink(link, object, false) == linkNoMemory {
		return ErrNoMemory
	}
	w.addr = uintptr(object)
	return nil
}
