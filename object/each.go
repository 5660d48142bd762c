package object

import (
	"iter"
	"unsafe"

	core "granary/internal/core/object"
	"granary/internal/core/sys"
)

// Each visits the objects of the list in its order. Whatever happens in the body is fine: the object at hand may be
// deleted, and any other one; deleted ones are not visited; ones made meanwhile are, as they are the last of the list.
// Objects that InsertAfter or InsertBefore moves behind the current one are visited at their new place.
//
// The object at hand is held while the body runs, and let go of by break, return and panic as well. In a type without
// WithSingleOwner it holds up to 32 objects ahead; what is deleted of those gets free as soon as they are passed.
func (t *Type[T]) Each() iter.Seq[Ref[T]] {
	if t.core.IsSingleOwner() {
		return t.eachOwned
	}
	return t.eachShared
}

// All is Each with the fields of each object.
func (t *Type[T]) All() iter.Seq2[Ref[T], *T] {
	return func(yield func(Ref[T], *T) bool) {
		t.Each()(func(r Ref[T]) bool {
			// Another goroutine may have deleted it just now: then it is not visited.
			p := (*T)(world.Find(core.Ref(r.bits), sys.Addr(unsafe.Sizeof(*(*T)(nil))+7)&^7))
			return p == nil || yield(r, p)
		})
	}
}

func (t *Type[T]) eachOwned(yield func(Ref[T]) bool) {
	t.info.use()
	current := world.Step(t.core, 0)
	defer func() {
		if current != 0 {
			world.Release(current)
		}
	}()
	for current != 0 {
		if !yield(Ref[T]{bits: uint64(current)}) {
			return
		}
		if next := world.StepOwned(current); next != 0 {
			current = next
		} else {
			current = world.Step(t.core, current)
		}
	}
}

func (t *Type[T]) eachShared(yield func(Ref[T]) bool) {
	var b core.Batch
	defer world.LeaveBatch(t.core, &b)
	for world.Fill(t.core, &b) {
		for b.HasMore(t.core) {
			if ref := b.Next(); world.IsAlive(ref) && !yield(Ref[T]{bits: uint64(ref)}) {
				return
			}
		}
	}
}
