//go:build granary_nolinkname

package linear

import (
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/linear"
	"granary/internal/core/sys"
)

// This file: the fast paths without linkname, for builds with the tag granary_nolinkname. A goroutine takes a worker
// for the time of its call, by a flag in it. Workers belong to nobody; goroutines start to look at one that depends on
// where their stack lies.

const portableWorkers = 32

// workerStart is a number that goroutines seldom share: most stacks lie in one piece of this size.
func workerStart() uintptr {
	const stackPieceShift = 13
	var here byte
	return uintptr(unsafe.Pointer(&here)) >> stackPieceShift * 0x9e3779b97f4a7c15 >> 32
}

// acquire makes a worker the caller's until release, nil if others have all of them.
func acquire(own *core.Allocator) *core.Worker {
	start := workerStart()
	for i := uintptr(0); i < portableWorkers; i++ {
		w := own.WorkerAt((start + i) % portableWorkers)
		if atomic.LoadUint32(&w.Busy) == 0 && atomic.CompareAndSwapUint32(&w.Busy, 0, 1) {
			return w
		}
	}
	return nil
}

func release(w *core.Worker) {
	if w != nil {
		atomic.StoreUint32(&w.Busy, 0)
	}
}

// Alloc returns size bytes at a multiple of align, a power of two of at most 64 KiB; 0 stands for 16, and every
// allocation has at least that. The contents are undefined. 0 bytes have an address of their own. What the pool cannot
// serve the heap does; if that has no memory either, the error is the heap's.
func (a *Allocator) Alloc(size, align int) (unsafe.Pointer, error) {
	if isUsual(align) {
		if p, _ := a.tryAlloc(uintptr(size)); p != 0 {
			return p.Pointer(), nil
		}
	}
	return a.allocSlow(request{size: size, align: align})
}

// tryAlloc is the fast path of Alloc for others; p is 0 if it does not go. The first dirty bytes of it may not read as
// zero.
func (a *Allocator) tryAlloc(size uintptr) (p sys.Addr, dirty uintptr) {
	if a.enter() != nil {
		return 0, 0
	}
	defer a.leave()
	own := a.core.Load()
	w := acquire(own)
	if need := core.Need(size); w != nil && w.Fits(own.Frame(), need) {
		p = w.Bump(need)
		dirty = w.Dirty(p, need)
	}
	release(w)
	return p, dirty
}

// Free takes an allocation back, whoever made it. A nil pointer is none. A pointer that is no allocation, or was freed
// before, is a *MisuseError where that is known: always with diagnostics.
func (a *Allocator) Free(p unsafe.Pointer) error {
	if p == nil {
		return nil
	}
	if err := a.enter(); err != nil {
		return err
	}
	own := a.core.Load()
	w := acquire(own)
	result := core.Freed
	if w == nil || !w.Mine(own.Frame(), sys.Addr(uintptr(p))) {
		result = own.FreeSlow(w, sys.Addr(uintptr(p)), true)
	} else if w.Drop() {
		w.Rewind()
	}
	release(w)
	a.leave()
	if result == core.Freed {
		return nil
	}
	return a.freeSlow(p, result)
}

// waitForFast: in this build every call counts as busy, and Close waits for those.
func waitForFast() {}
