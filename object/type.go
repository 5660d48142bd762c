package object

import (
	"fmt"
	"reflect"
	"unsafe"

	"granary/heap"
	core "granary/internal/core/object"
)

// Type is a kind of objects with the fields of T, and the list of those that were made and not deleted. There may be
// several of one T. A Type is never taken back.
//
// All methods may be called by any goroutine at any time, but for types made with WithSingleOwner.
type Type[T any] struct {
	core *core.Type
	info *typeInfo
}

// NewType is MakeType for variables of packages: it panics where MakeType returns an error.
func NewType[T any](name string, options ...Option) *Type[T] {
	t, err := MakeType[T](name, options...)
	if err != nil {
		panic(err)
	}
	return t
}

// MakeType makes a type. Its name is for messages. T must not contain Go pointers: the error is a *heap.PointerError
// that names the field. It may contain Var, Ref, String and Slice, also in arrays and structs, but a Slice must not
// contain itself: that is a *LayoutError, as is a T of more than 1 GiB. Without memory it is heap.ErrNoMemory.
func MakeType[T any](name string, options ...Option) (*Type[T], error) {
	if err := start(); err != nil {
		return nil, fmt.Errorf("object type %s: %w", name, err)
	}
	o := defaultOptions()
	for _, option := range options {
		option(&o)
	}
	layout, err := layoutFor[T]()
	if err != nil {
		return nil, fmt.Errorf("object type %s: %w", name, err)
	}
	made := world.NewType(unsafe.Sizeof(*(*T)(nil)), layout.addr, layout.count, layout.total, o.flags())
	if made == nil {
		return nil, fmt.Errorf("object type %s: %w", name, heap.ErrNoMemory)
	}
	for i := range len(name) {
		made.SetNameByte(uintptr(i), name[i])
	}
	made.SetReuseDistance(o.reuseDistance)
	info := &typeInfo{name: name, goType: reflect.TypeFor[T](), core: made, diagnose: o.diagnose}
	register(info)
	return &Type[T]{made, info}, nil
}

// Name is what the type was made with.
func (t *Type[T]) Name() string { return t.info.name }

// New makes an object. Its fields are zero, and it is the last of the list. It is Null if there is no memory: TryNew
// says so.
func (t *Type[T]) New() Ref[T] {
	if raceEnabled {
		t.info.use()
	}
	return Ref[T]{bits: uint64(world.New(t.core))}
}

// TryNew is New, with heap.ErrNoMemory if there is no memory for another object.
func (t *Type[T]) TryNew() (Ref[T], error) {
	r := t.New()
	if r.bits == 0 {
		return r, fmt.Errorf("object type %s: %w", t.info.name, heap.ErrNoMemory)
	}
	return r, nil
}

// First is the first object of the list, Null if there is none.
func (t *Type[T]) First() Ref[T] { return Ref[T]{bits: uint64(world.First(t.core))} }

// Last is the last object of the list, Null if there is none.
func (t *Type[T]) Last() Ref[T] { return Ref[T]{bits: uint64(world.Last(t.core))} }

// After is the object that follows r in the list, Null at the end, and Null for a Null r. From a deleted object that
// some Var still holds it goes on from where that was.
func (t *Type[T]) After(r Ref[T]) Ref[T] {
	if !t.has(r) {
		return Ref[T]{}
	}
	return Ref[T]{bits: uint64(world.After(core.Ref(r.bits)))}
}

// Before is After in the other direction.
func (t *Type[T]) Before(r Ref[T]) Ref[T] {
	if !t.has(r) {
		return Ref[T]{}
	}
	return Ref[T]{bits: uint64(world.Before(core.Ref(r.bits)))}
}

// has reports whether the slot of a reference is one of this type.
func (t *Type[T]) has(r Ref[T]) bool { return world.TypeOf(core.Ref(r.bits)) == t.core }

// InsertAfter gives r the place right after to. If they are the same object nothing happens. Both may be deleted
// objects as long as some Var holds them. The error is ErrNotExist if one is not, and ErrOtherType if one is of another
// type.
func (t *Type[T]) InsertAfter(r, to Ref[T]) error { return t.insert(r, to, true) }

// InsertBefore gives r the place right before to, else as InsertAfter.
func (t *Type[T]) InsertBefore(r, to Ref[T]) error { return t.insert(r, to, false) }

func (t *Type[T]) insert(r, to Ref[T], after bool) error {
	t.info.use()
	for _, ref := range [...]Ref[T]{r, to} {
		if !t.has(ref) {
			if ref.IsNull() {
				return missing(ref.bits)
			}
			return ErrOtherType
		}
	}
	if !world.Move(core.Ref(r.bits), core.Ref(to.bits), after) {
		if r.IsNull() {
			return missing(r.bits)
		}
		return missing(to.bits)
	}
	return nil
}

// DeleteEach deletes every object of the type, in the order of the list, and returns how many that were.
func (t *Type[T]) DeleteEach() int {
	t.info.use()
	return int(world.DeleteAll(t.core))
}

// Count is how many objects there are.
func (t *Type[T]) Count() int { return int(t.core.Count()) }

// Unreleased is how many objects are deleted, but still held by some Var, so that their memory cannot be used again.
func (t *Type[T]) Unreleased() int { return int(t.core.Unreleased()) }

// FromHandle is the object with that handle. It is Null if there is none: if the number is 0 or was never given, if the
// object was deleted, or if it is of another type.
func (t *Type[T]) FromHandle(handle int64) Ref[T] {
	return Ref[T]{bits: uint64(world.FromHandle(t.core, uint64(handle)))}
}

// Trim gives memory back to the heap that is of deleted objects only, and returns how many bytes that were. It is for
// the end of a level: objects lie in chunks of up to 512, and a chunk with a single one stays.
func (t *Type[T]) Trim() int {
	t.info.use()
	return int(world.Trim(t.core))
}

// Stats are the figures of a type at one moment.
type Stats struct {
	Alive      int // objects
	Unreleased int // deleted, but some Var still holds them
	Made       int // objects made in all
	Slots      int // objects that there was memory for at one time
	Free       int // of those, what the next objects get
	Retired    int // of those, used up: a slot serves some two thousand million objects
	Bytes      int // of the heap now, for the fields
}

// Stats reads the type's figures.
func (t *Type[T]) Stats() Stats {
	var s core.Stats
	world.Read(t.core, &s)
	return Stats{int(s.Alive), int(s.Unreleased), int(s.Made), int(s.Slots), int(s.Free), int(s.Retired),
		int(s.Bytes)}
}
