package managed

import (
	"reflect"
	"runtime"
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// Order is which objects' finalizers run together.
type Order uint32

// The orders of finalization.
const (
	// Topological runs the finalizer of an object before those of objects that it reaches. An object that reaches
	// itself is never finalized; Stats.Cycles counts that.
	Topological Order = core.OrderTopological
	// IgnoreSelf is the same, but an object's own address in the object does not count.
	IgnoreSelf Order = core.OrderIgnoreSelf
	// Unordered runs the finalizers of all unreachable objects. What they reach is still there.
	Unordered Order = core.OrderNone
	// Unreachable runs a finalizer when the object is not reachable from other objects with finalizers either, whatever
	// their order.
	Unreachable Order = core.OrderUnreachable
)

// finalizers are the functions of finalizers, by number: the core knows them by that. Under Heap.finalMu.
type finalizers struct {
	functions map[uintptr]func(*Mutator, sys.Addr)
	last      uintptr
	run       uint64
}

// SetFinalizer has f called once the object p is not reachable any more; p is what it gets, and lives again for the
// time of the call, or longer if f makes it reachable. A second call replaces the first one's function, nil takes it
// back. f runs in a goroutine of the heap, or in RunFinalizers. Errors are ErrNoObject and ErrNoMemory.
func SetFinalizer[T any](m *Mutator, p *T, f func(m *Mutator, p *T), order Order) error {
	var function func(*Mutator, sys.Addr)
	if f != nil {
		function = func(m *Mutator, object sys.Addr) { f(m, (*T)(object.Pointer())) }
	}
	return m.heap.setFinalizer(addrOf(unsafe.Pointer(p)), function, order)
}

func (h *Heap) setFinalizer(object sys.Addr, f func(*Mutator, sys.Addr), order Order) error {
	if object == 0 || h.core.BaseOf(object) != object {
		return ErrNoObject
	}
	h.finalMu.Lock()
	defer h.finalMu.Unlock()
	number := uintptr(0)
	if f != nil {
		if h.finalizers.functions == nil {
			h.finalizers.functions = map[uintptr]func(*Mutator, sys.Addr){}
		}
		h.finalizers.last++
		number = h.finalizers.last
		h.finalizers.functions[number] = f
	}
	old, _, ok := h.core.RegisterFinalizer(object, number, 0, uint32(order))
	if !ok {
		delete(h.finalizers.functions, number)
		return ErrNoMemory
	}
	delete(h.finalizers.functions, old)
	return nil
}

// takeFinalizer takes the next one that may run. The object is a root as long as it is one of the mutator's
// finalizing.
func (m *Mutator) takeFinalizer() func(*Mutator, sys.Addr) {
	h := m.heap
	h.finalMu.Lock()
	defer h.finalMu.Unlock()
	object, number, _, ok := h.core.NextReady()
	if !ok {
		return nil
	}
	m.finalizing = append(m.finalizing, object)
	f := h.finalizers.functions[number]
	delete(h.finalizers.functions, number)
	h.finalizers.run++
	return f
}

// RunFinalizers runs the finalizers that may run, and returns how many. They are usually run by a goroutine of the
// heap: see WithManualFinalizers.
func (m *Mutator) RunFinalizers() int {
	count := 0
	for m.runFinalizer() {
		count++
	}
	return count
}

// runFinalizer runs a finalizer that may run, and reports whether there was one.
func (m *Mutator) runFinalizer() bool {
	outer := len(m.finalizing) // those whose finalizers called this
	defer func() { m.finalizing = m.finalizing[:outer] }()
	f := m.takeFinalizer()
	if f == nil {
		return false
	}
	f(m, m.finalizing[outer])
	m.finalizing = m.finalizing[:outer]
	m.Safepoint()
	return true
}

// startFinalizers starts a goroutine that runs the finalizers that are ready, if there is none.
func (h *Heap) startFinalizers() {
	if h.options.manual || h.core.ReadyCount() == 0 || h.closing.Load() != 0 ||
		!h.running.CompareAndSwap(false, true) {
		return
	}
	go h.runFinalizers()
}

// runFinalizers is the goroutine that runs finalizers until none is ready, or Close waits for it.
func (h *Heap) runFinalizers() {
	h.atWork.Lock()
	defer func() { // a finalizer may end the goroutine
		h.running.Store(false)
		h.atWork.Unlock()
		if h.usable() {
			h.startFinalizers() // some may have come just now
		}
	}()
	h.Do(func(m *Mutator) { // of a closed heap none run
		for h.closing.Load() == 0 && m.runFinalizer() {
		}
	})
}

// isFinalizing reports whether the caller was called by a finalizer in the goroutine that runs them.
func isFinalizing() bool {
	own := runtime.FuncForPC(reflect.ValueOf((*Heap).runFinalizers).Pointer()).Name()
	var at [64]uintptr
	for skip := 1; ; skip += len(at) - 1 {
		n := runtime.Callers(skip, at[:])
		frames := runtime.CallersFrames(at[:n])
		for more := n != 0; more; {
			var frame runtime.Frame
			if frame, more = frames.Next(); frame.Function == own {
				return true
			}
		}
		if n < len(at) {
			return false
		}
	}
}

// ReadyFinalizers is the number of finalizers that may run.
func (h *Heap) ReadyFinalizers() int {
	if !h.usable() {
		return 0
	}
	return int(h.core.ReadyCount())
}
