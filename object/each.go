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
// The object at hand is held while the body runs, and let go of by break, return and panic as well. So are up to 63
// objects around it: what is deleted of those gets free as soon as all of them are passed.
func (t *Type[T]) Each() iter.Seq[Ref[T]] {
	return t.each
}

// All is Each with the fields of each object.
func (t *Type[T]) All() iter.Seq2[Ref[T], *T] { return t.all }

func (t *Type[T]) each(yield func(Ref[T]) bool) {
	t.info.use()
	var b core.Batch
	defer world.LeaveBatch(t.core, &b)
	for world.Fill(t.core, &b) {
		index, end := b.Run()
		for ; index != end && b.IsInOrder(t.core); index++ {
			if ref := world.AliveAt(index); ref != 0 && !yield(Ref[T]{bits: uint64(ref)}) {
				return
			}
		}
		if end != 0 {
			b.Passed(index)
			continue
		}
		for b.HasMore(t.core) {
			if ref := world.Next(&b); ref != 0 && !yield(Ref[T]{bits: uint64(ref)}) {
				return
			}
		}
	}
}

func (t *Type[T]) all(yield func(Ref[T], *T) bool) {
	t.info.use()
	var b core.Batch
	defer world.LeaveBatch(t.core, &b)
	for world.Fill(t.core, &b) {
		for b.HasMore(t.core) {
			// Another goroutine may delete it at this moment: then it is not visited.
			ref := world.Next(&b)
			p := (*T)(world.Find(ref, sys.Addr(unsafe.Sizeof(*(*T)(nil))+7)&^7))
			if p != nil && !yield(Ref[T]{bits: uint64(ref)}, p) {
				return
			}
		}
	}
}
