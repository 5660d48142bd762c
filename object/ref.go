package object

import (
	"fmt"
	"unsafe"

	core "granary/internal/core/object"
	"granary/internal/core/sys"
)

// Ref refers to an object, or to none: Null, which is the zero Ref. It is a number of 8 bytes, checked at every use: as
// soon as its object is deleted it is Null. It does not keep anything alive, may be copied at will, and may lie
// anywhere.
//
//	bits 0 to 31    the index of the object's slot
//	bits 32 to 63   the generation: which object of that slot
type Ref[T any] struct {
	_    [0]*T // not convertible to a Ref of other objects
	bits uint64
}

// Get returns the fields of the object. They are good to use until the object is deleted: the pointer itself is not
// checked any more. For Null, and after a Delete, the error is ErrNotExist.
func (r Ref[T]) Get() (*T, error) {
	if p := (*T)(world.Find(core.Ref(r.bits), sys.Addr(unsafe.Sizeof(*(*T)(nil))+7)&^7)); p != nil {
		return p, nil
	}
	return nil, missing(r.bits)
}

// Must is Get for objects that must exist: it panics if this one does not, with its type, and, if the type is
// diagnosed, with where it was deleted.
func (r Ref[T]) Must() *T {
	p := (*T)(world.Find(core.Ref(r.bits), sys.Addr(unsafe.Sizeof(*(*T)(nil))+7)&^7))
	if p == nil {
		panic(gone[T]{missing(r.bits)})
	}
	return p
}

// IsNull reports whether there is no object, or no more.
func (r Ref[T]) IsNull() bool { return !world.IsAlive(core.Ref(r.bits)) }

// Equal reports whether two references are to the same object. Those to deleted objects are all equal to Null, and so
// to each other.
func (r Ref[T]) Equal(other Ref[T]) bool {
	if r.bits == other.bits {
		return true
	}
	return r.IsNull() && other.IsNull()
}

// String is the type and a number that tells objects apart; "Null" for Null.
func (r Ref[T]) String() string {
	info := infoOf(core.Ref(r.bits))
	if info == nil || r.IsNull() {
		return "Null"
	}
	return fmt.Sprintf("%s#%d.%d", info.name, uint32(r.bits), r.bits>>33)
}

// Handle is the number of an object, for places that can hold a number only. It is given when it is first asked for,
// counted from 1 over all types, stays the same, and is never given to another object. It is 0 for Null, and if there
// is no memory to remember it.
func Handle[T any](r Ref[T]) int64 { return int64(world.Handle(core.Ref(r.bits))) }

// variable is what Delete takes.
type variable[T any] interface{ Ref[T] | Var[T] }

// Delete deletes the object that a Ref or a Var refers to, and sets that to Null. Every other reference to the object
// reads as Null from then on. If it is Null already nothing happens.
//
// Once it is Null for everybody, the object's fields let go of what they hold, in the order in which they are declared:
// Vars of their objects, Strings and Slices of their memory. Then its handle is forgotten, and the list lets go of it.
// Its memory is used again as soon as no Var holds it any more.
func Delete[V variable[T], T any](v *V) {
	switch v := any(v).(type) {
	case *Ref[T]:
		deleteObject(core.Ref(v.bits))
		v.bits = 0
	case *Var[T]:
		deleteObject(core.Ref(v.load()))
		v.Clear()
	}
}

func deleteObject(ref core.Ref) {
	if raceEnabled {
		touch(ref)
	}
	world.Delete(ref)
}
