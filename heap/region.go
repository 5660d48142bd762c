package heap

import (
	"sync"
	"unsafe"

	"granary/internal/core/sys"
)

// Region is one piece of memory that grows and shrinks and never moves: the addresses for the most that it may ever
// have are reserved, which costs nothing, and memory comes as it grows. It is for what must stay in place, as the
// linear memory of a WebAssembly module, or is too large to be copied. Any goroutine may call at any time.
//
//	0 ....... size ....... committed ....... most
//	in use    readable,    a fault
//	          reads as 0
//
// The heap's limit counts whole pages of size. All fields but the const ones are under mu.
type Region struct {
	heap *Heap // const
	most int   // const

	mu        sync.Mutex
	space     addressSpace // start is 0 once it was freed
	size      int
	committed uintptr
}

// addressSpace is what one Reserve of the system took.
type addressSpace struct {
	start sys.Addr
	bytes uintptr
}

// regions are pieces of address space without memory. They are never given back: an address in a Region that was freed
// must not become one of the Go heap.
var regions struct {
	sync.Mutex
	free []freeRegion
}

type freeRegion struct {
	addressSpace
	committed uintptr
}

// Reserve makes a Region of no bytes that may have most bytes at some time. Free it in the end; Close does.
func (h *Heap) Reserve(most int) (*Region, error) {
	if most < 0 || most > mostBytes {
		return nil, ErrSize
	}
	if err := h.enter(); err != nil {
		return nil, err
	}
	defer h.leave()
	space := takeRegion(sys.AlignUp(uintptr(max(most, 1)), sys.PageBytes()))
	if space.start == 0 {
		return nil, ErrNoMemory
	}
	r := &Region{heap: h, most: most, space: space.addressSpace, committed: space.committed}
	h.mu.Lock()
	h.regions[r] = struct{}{}
	h.mu.Unlock()
	return r, nil
}

// takeRegion takes the smallest free piece that wastes at most half, or one of the system.
func takeRegion(bytes uintptr) freeRegion {
	regions.Lock()
	defer regions.Unlock()
	best := -1
	for i, f := range regions.free {
		if f.bytes >= bytes && f.bytes/2 <= bytes && (best < 0 || f.bytes < regions.free[best].bytes) {
			best = i
		}
	}
	if best < 0 {
		return freeRegion{addressSpace{sys.Reserve(bytes), bytes}, 0}
	}
	f := regions.free[best]
	last := len(regions.free) - 1
	regions.free[best] = regions.free[last]
	regions.free = regions.free[:last]
	return f
}

// Bytes are the Region's bytes. They stay where they are until the Region is freed, so that slices of them, also those
// that Resize returned before, remain valid up to the size that the Region has.
func (r *Region) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.space.start == 0 {
		return nil
	}
	return r.slice(0, uintptr(r.size))
}

func (r *Region) slice(from, to uintptr) []byte {
	return unsafe.Slice((*byte)((r.space.start + sys.Addr(from)).Pointer()), to-from)
}

// Resize makes the Region size bytes long and returns them. What is added reads as zero; what is cut off goes back to
// the system. It returns ErrSize beyond what Reserve was told, ErrLimit or ErrNoMemory if there is no memory, ErrClosed
// once the Region was freed, and then the Region is as it was.
func (r *Region) Resize(size int) ([]byte, error) {
	if size < 0 || size > r.most {
		return nil, ErrSize
	}
	if err := r.heap.enter(); err != nil {
		return nil, err
	}
	defer r.heap.leave()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.space.start == 0 {
		return nil, ErrClosed
	}
	before, after := pagesOf(r.size), pagesOf(size)
	if !r.heap.core.Book(int64(after) - int64(before)) {
		return nil, ErrLimit
	}
	if after > r.committed {
		if !sys.Commit(r.space.start+sys.Addr(r.committed), after-r.committed) {
			r.heap.core.Book(int64(before) - int64(after))
			return nil, ErrNoMemory
		}
		r.committed = after
	}
	if size < r.size {
		clear(r.slice(uintptr(size), min(after, uintptr(r.size))))
		if before > after && !sys.Decommit(r.space.start+sys.Addr(after), before-after) {
			clear(r.slice(after, before)) // the system keeps the memory; it reads as zero all the same
		}
	}
	r.heap.regionBytes.Add(int64(after) - int64(before))
	r.size = size
	return r.slice(0, uintptr(size)), nil
}

// pagesOf is size rounded up to whole pages.
func pagesOf(size int) uintptr { return sys.AlignUp(uintptr(size), sys.PageBytes()) }

// Free gives the Region's memory back. A second Free does nothing.
func (r *Region) Free() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.space.start == 0 {
		return
	}
	h := r.heap
	h.mu.Lock()
	delete(h.regions, r)
	h.mu.Unlock()
	if h.enter() == nil { // else the limit is gone with the heap
		h.core.Book(-int64(pagesOf(r.size)))
		h.leave()
	}
	r.giveBack()
}

// giveBack ends a Region that its heap has forgotten. r.mu is held.
func (r *Region) giveBack() {
	used := pagesOf(r.size)
	if used == 0 || sys.Decommit(r.space.start, used) {
		regions.Lock()
		regions.free = append(regions.free, freeRegion{r.space, r.committed})
		regions.Unlock()
	} // else the addresses are lost: what is in them would not read as zero
	r.heap.regionBytes.Add(-int64(used))
	r.space, r.size = addressSpace{}, 0
}

// closeRegions gives all Regions of a closed heap back. Their owners may call Free at the same time.
func (h *Heap) closeRegions() {
	for {
		h.mu.Lock()
		var next *Region
		for r := range h.regions {
			next = r
			break
		}
		h.mu.Unlock()
		if next == nil {
			return
		}
		next.Free()
	}
}
