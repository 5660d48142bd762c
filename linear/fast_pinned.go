//go:build !granary_nolinkname

package linear

import (
	"runtime"
	"unsafe"

	core "granary/internal/core/linear"
	"granary/internal/core/sys"
)

// This file: the fast paths under pin. fast_portable.go has them for builds without linkname.
//
// While a goroutine is pinned to its P nobody else runs on that P, so the P's worker is the goroutine's. It must not
// wait, call user code or fault meanwhile. What happens between procPin and procUnpin reads and writes the
// allocator's own tables only.

// The runtime keeps the two for packages like this one: https://go.dev/issue/67401.

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

// mustExist panics for a nil Allocator, as the use of any nil pointer does. Under the pin the same fault would end the
// process, and no recover could help.
func (a *Allocator) mustExist() { _ = a.config.Heap }

// Alloc returns size bytes at a multiple of align, a power of two of at most 64 KiB; 0 stands for 16, and every
// allocation has at least that. The contents are undefined. 0 bytes have an address of their own. What the pool cannot
// serve the heap does; if that has no memory either, the error is the heap's.
func (a *Allocator) Alloc(size, align int) (unsafe.Pointer, error) {
	if isUsual(align) {
		need := core.Need(uintptr(size))
		a.mustExist()
		id := procPin()
		own := a.core.Load() // while pinned: Close waits for who is
		if uint(id) < workers && own != nil {
			if w := own.WorkerAt(uintptr(id)); w.Fits(own.Frame(), need) {
				p := w.Bump(need)
				procUnpin()
				return p.Pointer(), nil
			}
		}
		procUnpin()
	}
	return a.allocSlow(request{size: size, align: align})
}

// Free takes an allocation back, whoever made it. A nil pointer is none. A pointer that is no allocation, or was freed
// before, is a *MisuseError where that is known: always with diagnostics.
func (a *Allocator) Free(p unsafe.Pointer) error {
	var w *core.Worker
	a.mustExist()
	id := procPin()
	own := a.core.Load() // while pinned: Close waits for who is
	if own == nil {
		procUnpin()
		return a.freeSlow(p, core.Foreign)
	}
	if uint(id) < workers {
		if w = own.WorkerAt(uintptr(id)); w.Mine(own.Frame(), sys.Addr(uintptr(p))) {
			if w.Drop() {
				w.Rewind()
			}
			procUnpin()
			return nil
		}
	}
	result := own.FreeSlow(w, sys.Addr(uintptr(p)), true)
	procUnpin()
	if result == core.Freed {
		return nil
	}
	return a.freeSlow(p, result)
}

// tryAlloc is the fast path of Alloc for others; p is 0 if it does not go. The first dirty bytes of it may not read as
// zero.
func (a *Allocator) tryAlloc(size uintptr) (p sys.Addr, dirty uintptr) {
	a.mustExist()
	id := procPin()
	own := a.core.Load() // while pinned
	if need := core.Need(size); uint(id) < workers && own != nil {
		if w := own.WorkerAt(uintptr(id)); w.Fits(own.Frame(), need) {
			p = w.Bump(need)
			dirty = w.Dirty(p, need)
		}
	}
	procUnpin()
	return p, dirty
}

// acquire makes a worker the caller's until release, nil if there is none for him. He is on a slow path, for which
// Close waits, and may not wait meanwhile.
func acquire(own *core.Allocator) *core.Worker {
	if id := procPin(); uint(id) < workers {
		return own.WorkerAt(uintptr(id))
	}
	return nil
}

func release(*core.Worker) { procUnpin() }

// waitForFast returns when every goroutine that was on a fast path at the call has left it. One that is pinned cannot
// be stopped, so stopping the world takes just that long; runtime.Stack with no room for text does nothing else.
func waitForFast() { runtime.Stack(nil, true) }
