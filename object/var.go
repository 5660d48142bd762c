package object

import (
	"sync/atomic"

	core "granary/internal/core/object"
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

func (v *Var[T]) load() uint64 { return atomic.LoadUint64(&v.bits) }

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
	if old := core.Ref(atomic.SwapUint64(&v.bits, uint64(ref))); old != 0 {
		world.Release(old)
	}
}

// Clear sets the variable to Null.
func (v *Var[T]) Clear() {
	if old := core.Ref(atomic.SwapUint64(&v.bits, 0)); old != 0 {
		if raceEnabled {
			touch(old)
		}
		world.Release(old)
	}
}

// Ref is the reference that was set. It is Null if the object was deleted, but After and Before find its place.
func (v *Var[T]) Ref() Ref[T] { return Ref[T]{bits: v.load()} }

// Get is Ref.Get.
func (v *Var[T]) Get() (*T, error) { return v.Ref().Get() }

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
