package managed

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
	"granary/object"
)

// ObjectWrapper is a Wrapper whose native object is one of package object: whoever deletes that, by whatever reference,
// makes the wrapper null.
type ObjectWrapper[T any] struct {
	ref    object.Ref[T]
	heap   uint32 // number of the wrapper's heap
	counts uint32 // 1: it is counted as one of a destroyed object
}

// WrapObject makes a wrapper of an object. It is a safepoint. The error is ErrDestroyed if there is no object.
func WrapObject[T any](m *Mutator, ref object.Ref[T]) (*ObjectWrapper[T], error) {
	if ref.IsNull() {
		return nil, ErrDestroyed
	}
	w, err := Make[ObjectWrapper[T]](m)
	if err != nil {
		return nil, err
	}
	h := m.heap
	w.ref, w.heap = ref, natives.heaps.number(h)
	err = h.setFinalizer(addrOf(unsafe.Pointer(w)), func(_ *Mutator, at sys.Addr) {
		(*ObjectWrapper[T])(at.Pointer()).died(h)
	}, Unordered)
	if err != nil {
		return nil, err
	}
	h.wrappers.alive.Add(1)
	return w, nil
}

// died is the finalizer of a wrapper.
func (w *ObjectWrapper[T]) died(h *Heap) {
	if !w.IsNull() {
		h.wrappers.orphans.Add(1)
	}
	if atomic.LoadUint32(&w.counts) != 0 {
		h.wrappers.destroyed.Add(-1)
	}
	h.wrappers.alive.Add(-1)
}

// IsNull reports whether the object was deleted, or w is nil. The first call that finds it so counts the wrapper.
func (w *ObjectWrapper[T]) IsNull() bool {
	if w == nil {
		return true
	}
	if !w.ref.IsNull() {
		return false
	}
	if atomic.CompareAndSwapUint32(&w.counts, 0, 1) {
		natives.heaps.get(w.heap).wrappers.destroyed.Add(1)
	}
	return true
}

// Get is the object. The error is ErrDestroyed if it was deleted, or w is nil.
func (w *ObjectWrapper[T]) Get() (*T, error) {
	if w.IsNull() {
		return nil, ErrDestroyed
	}
	p, err := w.ref.Get()
	if err != nil { // somebody has deleted it just now
		return nil, ErrDestroyed
	}
	return p, nil
}

// Destroy deletes the object. The error is ErrDestroyed if that was done before.
func (w *ObjectWrapper[T]) Destroy() error {
	if w.IsNull() {
		return ErrDestroyed
	}
	ref := w.ref
	object.Delete(&ref)
	w.IsNull()
	return nil
}

// Equal compares as Wrapper.Equal does; wrappers of the same object are equal.
func (w *ObjectWrapper[T]) Equal(other *ObjectWrapper[T]) bool {
	if w.IsNull() || other.IsNull() {
		return w.IsNull() && other.IsNull()
	}
	return w.ref.Equal(other.ref)
}
