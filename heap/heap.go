package heap

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/heap"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// Heap is a heap of its own: blocks of one cannot be freed to another. All methods may be called by any goroutine at
// any time; only New makes one that is usable. The zero Heap is one that is closed.
//
//	field            written by
//	const fields     New
//	slots            see slot
//	open             New, Close
//	busy             goroutines on a slow path; Close waits until there are none
//	spare, caches, foreign, owned, regions   whoever holds mu
//
// Locks are taken in this order: sweeping or that of a Region, mu. The two others are not held over a call of the core
// that allocates or frees.
type Heap struct {
	core  *core.Heap     // const: place.core
	slots unsafe.Pointer // const: empty from Close on

	place   *place    // const
	options options   // const
	debug   *debugger // const; nil if the heap is not being debugged
	samples *sampler  // const; nil if no samples are taken

	slotsUsed   atomic.Uint64
	busy        atomic.Int64
	regionBytes atomic.Int64 // of memory that Regions have
	open        atomic.Bool  // from New to Close
	armed       atomic.Bool  // a tick is to come
	fastState
	sweeping sync.Mutex

	mu      sync.Mutex
	spare   []core.Cache
	caches  int                   // in slots, spare, or with a goroutine on a slow path
	owned   int                   // Caches that are not closed
	foreign map[sys.Addr]struct{} // blocks that are not in the range
	regions map[*Region]struct{}  // that are not freed
	tags    []*Tag
}

var registry struct {
	sync.Mutex
	heaps []*Heap
}

// New makes a heap. It reserves address space and takes next to no memory until blocks are asked for.
func New(opts ...Option) (*Heap, error) {
	o := defaultOptions()
	for _, option := range opts {
		option(&o)
	}
	if o.err != nil {
		return nil, o.err
	}
	tellOfMisuse()
	p, err := takePlace(&o)
	if err != nil {
		return nil, fmt.Errorf("granary: no address space for a heap of %d bytes (see WithRange): %w",
			o.rangeBytes, err)
	}
	slots := takeSlots()
	if slots == nil {
		givePlace(p)
		return nil, ErrNoMemory
	}
	h := &Heap{core: p.core, slots: slots, place: p, options: o,
		foreign: map[sys.Addr]struct{}{}, regions: map[*Region]struct{}{}}
	switch {
	case o.debug:
		if h.debug, err = newDebugger(h); err != nil {
			givePlace(p)
			giveSlots(slots)
			return nil, err
		}
	case o.rate > 0:
		h.samples = newSampler(o.rate)
	}
	for _, name := range o.tags {
		h.Tag(name)
	}
	h.open.Store(true)
	registry.Lock()
	registry.heaps = append(registry.heaps, h)
	registry.Unlock()
	return h, nil
}

var defaultHeap = sync.OnceValue(func() *Heap {
	h, err := New(WithName("default"))
	if err != nil {
		panic(err) // as the Go runtime does when it cannot have its heap
	}
	return h
})

// Default is the heap of programs that need but one. It is made at the first call, with the options that New has if it
// is given none, and is never closed.
func Default() *Heap { return defaultHeap() }

// Name is what WithName said.
func (h *Heap) Name() string { return h.options.name }

// all are the heaps that are open.
func all() []*Heap {
	registry.Lock()
	defer registry.Unlock()
	return slices.Clone(registry.heaps)
}

// Close gives all memory of the heap back at once. Blocks of it must not be used any more; calls return ErrClosed. It
// returns ErrOpenCaches, and does nothing, if Caches are open. A second Close does nothing.
func (h *Heap) Close() error {
	h.mu.Lock()
	if h.owned != 0 {
		h.mu.Unlock()
		return ErrOpenCaches
	}
	first := h.open.CompareAndSwap(true, false)
	h.mu.Unlock()
	if !first {
		return nil
	}
	registry.Lock()
	registry.heaps = slices.DeleteFunc(registry.heaps, func(other *Heap) bool { return other == h })
	registry.Unlock()
	for h.busy.Load() != 0 {
		runtime.Gosched()
	}
	h.sweeping.Lock()
	defer h.sweeping.Unlock()
	h.takeAllCaches()
	if h.debug != nil {
		h.debug.close()
	}
	for block := range h.foreign {
		h.core.SystemFree(block)
	}
	clear(h.foreign)
	h.closeRegions()
	h.freeSlots()
	givePlace(h.place)
	return nil
}

// enter begins a slow path. Close waits for its end.
func (h *Heap) enter() error {
	h.busy.Add(1)
	if !h.open.Load() {
		h.busy.Add(-1)
		return ErrClosed
	}
	return nil
}

func (h *Heap) leave() { h.busy.Add(-1) }

// contains reports whether the address lies in the heap's range.
func (h *Heap) contains(block sys.Addr) bool { return h.core.Owns(block) }

// find is the heap whose range holds an address, or nil.
func find(addr sys.Addr) *Heap {
	for _, h := range all() {
		if h.contains(addr) {
			return h
		}
	}
	return nil
}

const granuleBytes = space.GranuleBytes

// tellOfMisuse has the core report what it finds only when a block reaches its span.
var tellOfMisuse = sync.OnceFunc(func() {
	core.MisuseHandler = func(block sys.Addr, blockBytes uintptr, what int) {
		handler := printMisuse
		if h := find(block); h != nil {
			handler = h.options.onMisuse
		}
		handler(&MisuseError{Kind: kindOf(what), Call: "free", Addr: uintptr(block), Class: int(blockBytes)})
	}
})

func kindOf(what int) Misuse {
	switch what {
	case core.MisuseInside:
		return InsideBlock
	case core.MisuseTwice:
		return FreedTwice
	}
	return NoBlock
}
