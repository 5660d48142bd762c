package linear

import (
	"unsafe"

	core "granary/internal/core/linear"
	"granary/internal/core/sys"
)

// Worker is a current block that one goroutine has for itself: its calls need no pinning and so cost about half. What
// it hands out may be freed by any goroutine, to any Worker of the allocator or to the Allocator. A Worker itself may
// be used by one goroutine at a time. Each takes one block of the pool while it has something alive.
type Worker struct {
	core   *core.Allocator
	worker *core.Worker
	owner  *Allocator
	uses   int // touched in race builds, so that the detector sees two goroutines using it at once
}

// NewWorker makes a worker. Close it when the goroutine ends.
func (a *Allocator) NewWorker() (*Worker, error) {
	own, err := a.hold()
	if err != nil {
		return nil, err
	}
	w := own.AddWorker()
	if w == nil {
		a.letGo()
		return nil, ErrWorkers
	}
	return &Worker{core: own, worker: w, owner: a}, nil
}

// Close gives the block up; what was allocated of it stays valid. The worker must not be used any more.
func (w *Worker) Close() error {
	a := w.owner
	if a == nil {
		return nil
	}
	w.core.DropWorker(w.worker)
	w.core, w.owner = runs.closed, nil
	w.worker = runs.closed.WorkerAt(0)
	a.letGo()
	return nil
}

// Alloc is Allocator.Alloc.
func (w *Worker) Alloc(size, align int) (unsafe.Pointer, error) {
	if raceEnabled {
		w.uses++
	}
	if need := core.Need(uintptr(size)); isUsual(align) && w.worker.Fits(w.core.Frame(), need) {
		return w.worker.Bump(need).Pointer(), nil
	}
	return w.allocSlow(size, align, false)
}

//go:noinline
func (w *Worker) allocSlow(size, align int, zero bool) (unsafe.Pointer, error) {
	if w.owner == nil {
		return nil, ErrClosed
	}
	return w.owner.allocSlow(request{size: size, align: align, zero: zero, own: w})
}

// AllocZeroed is Allocator.AllocZeroed.
func (w *Worker) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if raceEnabled {
		w.uses++
	}
	if need := core.Need(uintptr(size)); isUsual(align) && w.worker.Fits(w.core.Frame(), need) {
		p := w.worker.Bump(need)
		if dirty := w.worker.Dirty(p, need); dirty != 0 {
			clear(unsafe.Slice((*byte)(p.Pointer()), dirty))
		}
		return p.Pointer(), nil
	}
	return w.allocSlow(size, align, true)
}

// Free is Allocator.Free.
func (w *Worker) Free(p unsafe.Pointer) error {
	if raceEnabled {
		w.uses++
	}
	if w.worker.Mine(w.core.Frame(), sys.Addr(uintptr(p))) {
		if w.worker.Drop() {
			w.worker.Rewind()
		}
		return nil
	}
	if w.owner == nil {
		return ErrClosed
	}
	result := w.core.FreeSlow(w.worker, sys.Addr(uintptr(p)), true)
	if result == core.Freed {
		return nil
	}
	return w.owner.freeSlow(p, result)
}
