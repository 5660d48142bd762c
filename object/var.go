package object

import (
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/object"
	"granary/internal/core/sys"
)

// Var is a variable, a field or an element of an array that refers to an object and is counted: as long as a Var holds
// an object that was deleted, its memory is not used for another one, and After and Before find its place in the list.
// It does not keep the object from being deleted. The zero Var is Null.
//
// A Var must not be copied; what it refers to is copied with Set. One that is a field of an object lets go when the
// object is deleted; any other one needs a Clear when it is no longer used, else the memory of its object stays in use
// after a Delete, and is counted as unreleased. Like any variable it must not be written by two goroutines at once.
type Var[T any] struct {
	_    [0]*T
	bits uint64
}

// load and store are for one who writes and any number who read. A word is read and written at once, so it needs no
// exchange, and without the call Get is part of its callers; the race detector wants to be told.
func (v *Var[T]) load() uint64 {
	if raceEnabled {
		return atomic.LoadUint64(&v.bits)
	}
	return v.bits
}

func (v *Var[T]) store(bits uint64) {
	if raceEnabled {
		atomic.StoreUint64(&v.bits, bits)
	} else {
		v.bits = bits
	}
}

// Set makes the variable refer to r's object. If that was freed, or r is Null, the variable becomes Null.
func (v *Var[T]) Set(r Ref[T]) {
	ref := core.Ref(r.bits)
	if raceEnabled {
		touch(ref)
	}
	// The new one first: it may be the old one, and held by nobody else.
	if ref != 0 && !world.Retain(ref) {
		ref = 0
	}
	old := core.Ref(v.load())
	v.store(uint64(ref))
	if old != 0 {
		world.Release(old)
	}
}

// Clear sets the variable to Null.
func (v *Var[T]) Clear() {
	if old := core.Ref(v.load()); old != 0 {
		v.store(0)
		if raceEnabled {
			touch(old)
		}
		world.Release(old)
	}
}

// Ref is the reference that was set. It is Null if the object was deleted, but After and Before find its place.
func (v *Var[T]) Ref() Ref[T] { return Ref[T]{bits: v.load()} }

// Get is Ref.Get.
func (v *Var[T]) Get() (*T, error) {
	if raceEnabled {
		return v.Ref().Get()
	}
	// The same once more, as a call less is what lets the compiler make it part of its callers.
	if p := (*T)(world.Find(core.Ref(v.bits), sys.Addr(unsafe.Sizeof(*(*T)(nil))+7)&^7)); p != nil {
		return p, nil
	}
	return nil, missing(v.bits)
}

// Must is Ref.Must.
func (v *Var[T]) Must() *T { return v.Ref().Must() }

// IsNull is Ref.IsNull.
func (v *Var[T]) IsNull() bool { return v.Ref().IsNull() }

// Equal is Ref.Equal.
func (v *Var[T]) Equal(r Ref[T]) bool { return v.Ref().Equal(r) }

// String is Ref.String.
func (v *Var[T]) String() string { return v.Ref().String() }

func touch(ref core.Ref) {
	if info := infoOf(ref); info != nil {
		info.use()
	}
}
