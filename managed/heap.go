package managed

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// Heap is a managed heap of its own: objects of one know nothing of another's. All methods may be called by any
// goroutine, but those that collect not by one that is a running mutator of this heap: it would wait for itself
// (Mutator has the same methods). Only New makes a heap that is usable. The zero Heap is one that is closed.
//
//	field             written by
//	const fields      New
//	slots             see slot
//	stop, world       see world
//	cycle, begun      whoever holds collecting; collections, too
//	spare, caches     whoever holds spareMu
//	types, natives    whoever holds typesMu
//	handles, weak     see handleTable
//	roots             whoever holds rootsMu
//	finalizers        whoever holds finalMu
//	pauses            whoever holds pausesMu
//
// Locks are taken in this order: atWork, collecting, then one of the others, which are never held together but for
// rootsMu over handleTable.mu. Mutators take collecting only while they are away.
type Heap struct {
	core  *core.Heap     // const
	slots unsafe.Pointer // const
	place *place         // const
	stop  atomic.Uint32  // 1: mutators wait at their next safepoint

	options     options // const
	mode        atomic.Int32
	slice       atomic.Int64  // nanoseconds of a slice of automatic collections, 0: they are not incremental
	begun       atomic.Uint64 // collections
	collections atomic.Uint64 // of them, those that have ended
	open        atomic.Bool   // from New to Close
	armed       atomic.Bool   // a tick is to come

	world world

	collecting sync.Mutex
	cycle      cycle
	pacer      pacer

	spareMu sync.Mutex
	spare   []core.Cache
	caches  int // in slots, spare, or with a mutator on a slow path

	typesMu sync.Mutex
	types   types

	handles, weak handleTable
	rootsMu       sync.Mutex
	roots         roots

	finalMu    sync.Mutex
	finalizers finalizers
	running    atomic.Bool  // a goroutine runs finalizers
	atWork     sync.Mutex   // held by that goroutine
	closing    atomic.Int32 // Close waits for it to end

	wrappers wrapperCounts

	pausesMu sync.Mutex
	pauses   pauses
	observer []func(Collection) // under pausesMu
	wrong    []*VerifyError     // that nobody was told of; under pausesMu
}

// heaps are those that are open, and those that were closed, whose addresses nobody else gets.
var heaps struct {
	sync.Mutex
	open atomic.Pointer[[]*Heap]
}

// New makes a heap. It reserves address space and takes next to no memory until objects are made.
func New(opts ...Option) (*Heap, error) {
	o := defaultOptions()
	for _, option := range opts {
		option(&o)
	}
	tellOfDifferences()
	p, err := takePlace(&o)
	if err != nil {
		return nil, fmt.Errorf("granary: no address space for a managed heap of %d bytes (see WithRange): %w",
			o.rangeBytes, err)
	}
	h := &Heap{core: p.core, slots: p.slots, place: p, options: o}
	h.world.init()
	h.mode.Store(int32(o.mode))
	h.slice.Store(int64(o.slice))
	if o.divisor != 0 {
		h.core.SetDivisor(uintptr(o.divisor))
	}
	for _, offset := range o.offsets {
		if offset < 0 || !h.core.RegisterDisplacement(uintptr(offset)) {
			givePlace(p)
			return nil, fmt.Errorf("granary: WithOffsets(%d): an offset is at least 0 and below 4096", offset)
		}
	}
	h.startTypes()
	h.open.Store(true)
	setOpen(func(open []*Heap) []*Heap { return append(open, h) })
	if o.verify != nil {
		barriers.Add(barrierVerify)
	}
	return h, nil
}

// setOpen changes the list of heaps, which readers have a copy of.
func setOpen(change func([]*Heap) []*Heap) {
	heaps.Lock()
	defer heaps.Unlock()
	open := change(slices.Clone(all()))
	heaps.open.Store(&open)
}

// all are the heaps that are open.
func all() []*Heap {
	if open := heaps.open.Load(); open != nil {
		return *open
	}
	return nil
}

// find is the open heap whose range holds an address, or nil.
func find(addr uintptr) *Heap {
	for _, h := range all() {
		if h.core.Owns(sys.Addr(addr)) {
			return h
		}
	}
	return nil
}

// Name is what WithName said.
func (h *Heap) Name() string { return h.options.name }

// Close gives all memory of the heap back, without running finalizers: it waits for the one that the heap's goroutine
// runs just now, and for no other. Objects of the heap must not be used any more. It returns ErrMutators, and does
// nothing, if goroutines are attached, or a finalizer calls it. A second Close does nothing.
func (h *Heap) Close() error {
	if isFinalizing() {
		return ErrMutators
	}
	h.closing.Add(1)
	h.atWork.Lock()
	err := h.close()
	h.atWork.Unlock()
	if h.closing.Add(-1); err != nil {
		h.startFinalizers()
	}
	return err
}

// close is Close while no goroutine of the heap runs finalizers.
func (h *Heap) close() error {
	h.collecting.Lock()
	defer h.collecting.Unlock()
	w := &h.world
	w.mu.Lock()
	if len(w.mutators) != len(w.idle) {
		w.mu.Unlock()
		return ErrMutators
	}
	first := h.open.CompareAndSwap(true, false)
	w.mu.Unlock()
	if !first {
		return nil
	}
	if h.cycle.active && !h.cycle.marked {
		h.endMarking()
	}
	if h.options.verify != nil {
		barriers.Add(-barrierVerify)
	}
	setOpen(func(open []*Heap) []*Heap {
		return slices.DeleteFunc(open, func(other *Heap) bool { return other == h })
	})
	h.handles.release()
	h.weak.release()
	h.releaseRoots()
	givePlace(h.place)
	return nil
}

// usable reports whether the heap is still open.
func (h *Heap) usable() bool { return h.open.Load() }

const tickInterval = core.SweepNanoseconds * time.Nanosecond

// Released is what a look for free memory gave back to the system.
type Released struct {
	Bytes   int64
	Longest time.Duration // the longest that any of it had been free
}

// Idle is for the moments in which a program waits: memory that has been free for a second goes back to the system. At
// most every quarter second it does something.
func (h *Heap) Idle() Released { return h.release(core.ReleaseNanoseconds) }

// Trim gives all free memory back at once: after Collect nothing is kept that is not needed.
func (h *Heap) Trim() Released { return h.release(0) }

func (h *Heap) release(age uint64) Released {
	done, _ := h.releaseOlder(age)
	return done
}

func (h *Heap) releaseOlder(age uint64) (done Released, more bool) {
	h.collecting.Lock()
	defer h.collecting.Unlock()
	if !h.usable() {
		return Released{}, false
	}
	h.dropSpares()
	released, wake := h.core.Idle(sys.Now(), age)
	return Released{int64(released.Bytes), time.Duration(released.Longest)}, wake != 0
}

// arm sees to it that a tick comes, if the heap has them. There is no goroutine that waits for it: a timer starts one.
func (h *Heap) arm() {
	if h.options.ticker && !h.armed.Load() && h.armed.CompareAndSwap(false, true) {
		time.AfterFunc(tickInterval, h.tick)
	}
}

// tick gives back what can be, and comes again as long as there may be more.
func (h *Heap) tick() {
	if _, more := h.releaseOlder(core.ReleaseNanoseconds); more {
		time.AfterFunc(tickInterval, h.tick)
		return
	}
	h.armed.Store(false)
}

// Base is the start of the object that holds the address p, nil if none of this heap does.
func (h *Heap) Base(p unsafe.Pointer) unsafe.Pointer {
	if !h.usable() {
		return nil
	}
	return unsafe.Pointer(pointer[byte](uintptr(h.core.BaseOf(addrOf(p)))))
}

// Size is the number of bytes of the object that holds the address p, as they were rounded up; 0 if none does.
func (h *Heap) Size(p unsafe.Pointer) int {
	if !h.usable() {
		return 0
	}
	return int(h.core.SizeOf(addrOf(p)))
}

// IsHeapPointer reports whether the address p lies in an object of this heap.
func (h *Heap) IsHeapPointer(p unsafe.Pointer) bool { return h.Base(p) != nil }

func addrOf(p unsafe.Pointer) sys.Addr { return sys.Addr(uintptr(p)) }
