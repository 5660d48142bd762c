package managed

import (
	"sync/atomic"
	"unsafe"

	"granary/heap"
	"granary/internal/core/sys"
)

// Wrapper is a managed object that stands for a native one, which lies outside of the managed heap and whose life the
// program ends with Destroy: as in game engines, where scripts hold wrappers of what the engine owns. Once the native
// object is destroyed the wrapper says that it is null, though it lives on as long as something refers to it; using it
// is the error ErrDestroyed, whose text is "Object does not exist.".
//
// A *Wrapper is the address of a managed object: it is kept in Ptr[Wrapper[T]] fields and handles.
type Wrapper[T any] struct {
	native uintptr // the T; 0: destroyed
	owner  uint32  // number of the allocator
	heap   uint32  // number of the wrapper's heap
}

// natives are the allocators of native objects, and the heaps of wrappers, by number: a managed object cannot hold a Go
// pointer.
var natives struct {
	allocators numbered[heap.Allocator]
	heaps      numbered[*Heap]
}

// wrapperCounts are the figures of WrapperStats.
type wrapperCounts struct {
	alive, destroyed, orphans atomic.Int64
}

// WrapperStats counts the wrappers of a heap.
type WrapperStats struct {
	Alive     int64 `json:"alive"`     // wrappers that no collection has found dead
	Destroyed int64 `json:"destroyed"` // of them, those whose native object is destroyed: something still refers to them
	Orphans   int64 `json:"orphans"`   // native objects that were not destroyed before their wrapper died
}

func (c *wrapperCounts) stats() WrapperStats {
	return WrapperStats{c.alive.Load(), c.destroyed.Load(), c.orphans.Load()}
}

// NewWrapper makes a zero native T with an allocator of package heap, and its wrapper. Types that contain Go pointers
// are refused. It is a safepoint.
//
// A wrapper that dies before its native object was destroyed leaves an orphan: the native object stays, as others may
// use it by its address. If destroy is set it is destroyed instead.
func NewWrapper[T any](m *Mutator, a heap.Allocator, destroy bool) (*Wrapper[T], error) {
	native, err := heap.Make[T](a)
	if err != nil {
		return nil, err
	}
	w, err := wrap(m, native, a, destroy)
	if err != nil {
		heap.Free(a, native)
	}
	return w, err
}

// wrap makes the wrapper of a native object.
func wrap[T any](m *Mutator, native *T, a heap.Allocator, destroy bool) (*Wrapper[T], error) {
	w, err := Make[Wrapper[T]](m)
	if err != nil {
		return nil, err
	}
	w.native = uintptr(unsafe.Pointer(native))
	w.owner, w.heap = natives.allocators.number(a), natives.heaps.number(m.heap)
	h := m.heap
	err = h.setFinalizer(addrOf(unsafe.Pointer(w)), func(_ *Mutator, object sys.Addr) {
		(*Wrapper[T])(object.Pointer()).died(h, destroy)
	}, Unordered)
	if err != nil {
		return nil, err
	}
	h.wrappers.alive.Add(1)
	return w, nil
}

// died is the finalizer of a wrapper.
func (w *Wrapper[T]) died(h *Heap, destroy bool) {
	if !w.IsNull() {
		if destroy {
			w.Destroy()
		} else {
			h.wrappers.orphans.Add(1)
		}
	}
	if w.IsNull() {
		h.wrappers.destroyed.Add(-1)
	}
	h.wrappers.alive.Add(-1)
}

// Get is the native object. The error is ErrDestroyed if it was destroyed, or w is nil.
func (w *Wrapper[T]) Get() (*T, error) {
	if w == nil {
		return nil, ErrDestroyed
	}
	native := atomic.LoadUintptr(&w.native)
	if native == 0 {
		return nil, ErrDestroyed
	}
	return (*T)(sys.Addr(native).Pointer()), nil
}

// Destroy ends the native object's life. The wrapper is null from then on, for everybody who holds it. The error is
// ErrDestroyed if that was so before, or what the native heap says.
func (w *Wrapper[T]) Destroy() error {
	if w == nil {
		return ErrDestroyed
	}
	native := atomic.SwapUintptr(&w.native, 0)
	if native == 0 {
		return ErrDestroyed
	}
	natives.heaps.get(w.heap).wrappers.destroyed.Add(1)
	return heap.Free(natives.allocators.get(w.owner), (*T)(sys.Addr(native).Pointer()))
}

// IsNull reports whether the native object was destroyed, or w is nil.
func (w *Wrapper[T]) IsNull() bool { return w == nil || atomic.LoadUintptr(&w.native) == 0 }

// Equal compares as users of engines expect it: wrappers of destroyed objects and nil are all the same null.
func (w *Wrapper[T]) Equal(other *Wrapper[T]) bool {
	if w.IsNull() || other.IsNull() {
		return w.IsNull() && other.IsNull()
	}
	return w == other
}
