package linear

import (
	"runtime"
	"unsafe"

	core "granary/internal/core/linear"
	"granary/internal/core/sys"
)

// This file: what the fast paths (fast_pinned.go, fast_portable.go, worker.go) leave to be done.

// mostBytes is more than any address space has.
const mostBytes = 1 << 60

// usualAlignments has a bit for each alignment that every allocation has anyway: 0, which stands for 16, and 1 to 16.
const usualAlignments = 1<<0 | 1<<1 | 1<<2 | 1<<4 | 1<<8 | 1<<16

func isUsual(align int) bool { return uint(align) <= 16 && usualAlignments>>uint(align)&1 != 0 }

// request is one allocation on its way.
type request struct {
	size  int
	align int
	zero  bool
	own   *Worker // nil: any worker that can be had
}

// allocSlow serves what no worker has at hand.
//
//go:noinline
func (a *Allocator) allocSlow(r request) (unsafe.Pointer, error) {
	switch {
	case r.size < 0 || r.size > mostBytes:
		return nil, ErrSize
	case r.align == 0:
		r.align = 16
	case r.align < 0 || r.align&(r.align-1) != 0 || r.align > AlignmentMost:
		return nil, ErrAlignment
	}
	r.align = max(r.align, 16)
	if err := a.enter(); err != nil {
		return nil, err
	}
	defer a.leave()
	site := uint32(0)
	if a.follow != nil {
		site = a.follow.site()
	}
	own := a.core.Load()
	need := own.Need(uintptr(r.size))
	if need == 0 {
		return a.overflow(own, r, site, core.TooLarge)
	}
	p, dirty := a.fromWorker(own, r, need, site, noBlock)
	if p == 0 {
		index := own.Take(need)
		if !core.Taken(index) {
			return a.overflow(own, r, site, core.Full)
		}
		p, dirty = a.fromWorker(own, r, need, site, index)
	}
	if r.zero && dirty != 0 {
		clear(unsafe.Slice((*byte)(p.Pointer()), dirty))
	}
	return p.Pointer(), nil
}

const noBlock = ^uint32(0)

// fromWorker has a worker serve a request: from the block of that index, or if it is noBlock from what there is. p is 0
// if there is nothing. The first dirty bytes of it may not read as zero.
func (a *Allocator) fromWorker(own *core.Allocator, r request, need uintptr, site, index uint32) (
	p sys.Addr, dirty uintptr) {
	if r.own != nil {
		return serve(own, r.own.worker, r, need, site, index)
	}
	w := acquire(own)
	if w == nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.common == nil {
			a.common = own.AddWorker()
		}
		return serve(own, a.common, r, need, site, index)
	}
	p, dirty = serve(own, w, r, need, site, index)
	release(w)
	return p, dirty
}

// serve runs while the worker is the caller's: it calls neither the system nor anything that waits.
func serve(own *core.Allocator, w *core.Worker, r request, need uintptr, site, index uint32) (
	p sys.Addr, dirty uintptr) {
	if index == noBlock {
		p = own.AllocReady(w, need, uintptr(r.align), site)
	} else {
		p = own.Install(w, index, need, uintptr(r.align), site)
	}
	if p != 0 && r.zero {
		dirty = w.Dirty(p, need)
	}
	return p, dirty
}

// heapAlignment is what every block of a heap has.
const heapAlignment = 16

// overflow has the native heap serve a request.
func (a *Allocator) overflow(own *core.Allocator, r request, site uint32, why int) (unsafe.Pointer, error) {
	own.CountOverflow(why)
	zeroed := r.zero && r.align <= heapAlignment // the heap does not clear what the system has just given it
	var p unsafe.Pointer
	var err error
	if zeroed {
		p, err = a.config.Heap.AllocZeroed(r.size)
	} else {
		p, err = a.config.Heap.AllocAligned(r.size, r.align)
	}
	if err != nil {
		return nil, err
	}
	if !own.AddOverflow(sys.Addr(uintptr(p)), uintptr(r.size), site) {
		_ = a.config.Heap.Free(p) // just made
		return nil, ErrNoMemory
	}
	if r.zero && !zeroed {
		clear(unsafe.Slice((*byte)(p), r.size))
	}
	return p, nil
}

// freeSlow takes back what is in no block, or says what is wrong with it, as the core has found.
//
//go:noinline
func (a *Allocator) freeSlow(p unsafe.Pointer, result int) error {
	if p == nil {
		return nil
	}
	if err := a.enter(); err != nil {
		return err
	}
	defer a.leave()
	if result == core.Foreign { // or a block of the heap, for which a lock has to be taken
		result = a.core.Load().FreeSlow(nil, sys.Addr(uintptr(p)), false)
	}
	switch result {
	case core.Freed:
		return nil
	case core.Overflow:
		return a.config.Heap.Free(p)
	}
	return &MisuseError{Misuse(result), a.config.Name, uintptr(p)}
}

// AllocZeroed is Alloc, and the allocation reads as zero. Memory that was never used is not cleared again.
func (a *Allocator) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if isUsual(align) {
		if p, dirty := a.tryAlloc(uintptr(size)); p != 0 {
			if dirty != 0 {
				clear(unsafe.Slice((*byte)(p.Pointer()), dirty))
			}
			return p.Pointer(), nil
		}
	}
	return a.allocSlow(request{size: size, align: align, zero: true})
}

func yield() { runtime.Gosched() }
