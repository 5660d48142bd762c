package managed

import (
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// Kind is what a heap knows of the contents of an object.
type Kind uint32

// The kinds that every heap has. Those that Make and MakeSlice use beside them are made as types come.
const (
	// PointerFree objects are not scanned; their contents are undefined at first.
	PointerFree Kind = core.KindPointerFree
	// Conservative objects read as zero at first, and each word of them may be the address of an object.
	Conservative Kind = core.KindNormal
	// Uncollectable objects are as Conservative ones, and roots until they are freed with Free.
	Uncollectable Kind = core.KindUncollectable
	// PointerFreeUncollectable objects are not scanned, and live until they are freed with Free.
	PointerFreeUncollectable Kind = core.KindPointerFreeUncollectable
)

const mostBytes = 1 << 45

// Alloc makes an object of at least size bytes at a multiple of 16. It is a safepoint. The object is safe until the
// mutator's next one; then it must be reachable. Errors are ErrSize, ErrKind, ErrNoMemory and ErrLimit.
func (m *Mutator) Alloc(size int, kind Kind) (unsafe.Pointer, error) {
	if uint(size) < core.SmallMaxBytes && m.heap.stop.Load() == 0 && m.cache != 0 {
		if object := m.heap.core.Alloc(m.cache, uintptr(size), uint32(kind)); object != 0 {
			return object.Pointer(), nil
		}
	}
	if kind > PointerFreeUncollectable && !m.heap.hasKind(kind) {
		return nil, ErrKind
	}
	return m.allocSlow(size, kind)
}

// allocSlow is for all that the mutator's cache cannot serve. The kind is one that the heap has.
//
//go:noinline
func (m *Mutator) allocSlow(size int, kind Kind) (unsafe.Pointer, error) {
	h := m.heap
	if size < 0 || size > mostBytes {
		return nil, ErrSize
	}
	m.Safepoint()
	m.pace(size, kind)
	for grow, collected := false, false; ; grow = true {
		object, need := m.allocOnce(size, kind, grow)
		switch {
		case object != 0:
			h.arm()
			return object.Pointer(), nil
		case need == core.NeedCollect:
			// Slices go on with the next allocations; this one takes new memory.
			if !m.startSlices() {
				collected = m.collect(CauseAllocation)
			}
		case !collected && Mode(h.mode.Load()) == Enabled:
			m.collect(CauseMemory) // slices, and the end of a collection that began before, free only a part
			collected = true
		case h.options.noMemory != nil && h.askForMemory(m, size):
			collected = false // a collection finds what the program let go
		default:
			return nil, h.whyNot(size)
		}
	}
}

// allocOnce takes an object of the core, and a cache if the mutator has none. grow has the heap become larger even if a
// collection would be due.
func (m *Mutator) allocOnce(size int, kind Kind, grow bool) (sys.Addr, uint32) {
	h, flags := m.heap, uint32(0)
	if grow || Mode(h.mode.Load()) != Enabled {
		flags = core.FlagExpand
	}
	if m.cache == 0 {
		m.cache = h.takeCache()
	}
	return h.core.AllocSlow(m.cache, uintptr(size), uint32(kind), flags)
}

// askForMemory asks the program to make room, and reports whether it says that it did.
func (h *Heap) askForMemory(m *Mutator, size int) (again bool) {
	m.Blocking(func() { again = h.options.noMemory(size) })
	return again
}

// whyNot is the error for an object that could not be had.
func (h *Heap) whyNot(size int) error {
	var s core.Stats
	h.core.ReadStats(&s)
	const margin = 64 << 10
	if s.LimitBytes != 0 && s.HeapBytes+uint64(size)+margin > s.LimitBytes {
		return ErrLimit
	}
	return ErrNoMemory
}

// Free makes an object free before a collection finds that it is dead: what is uncollectable, and large buffers whose
// end is known. Nobody may use it any more, and no finalizer of it runs. The error is ErrNoObject; an object that is
// freed twice is not always known.
func (m *Mutator) Free(p unsafe.Pointer) error {
	m.Safepoint()
	h := m.heap
	if !h.core.Free(m.cache, addrOf(p)) {
		return ErrNoObject
	}
	h.arm()
	return nil
}

// SetLimit bounds the memory of objects, counted in blocks of 4 KiB; 0 is no limit. What they take already stays.
// When an allocation would be over it the heap is collected, the function of WithOutOfMemory is asked, and then the
// allocation's error is ErrLimit.
func (h *Heap) SetLimit(bytes uint64) {
	if h.usable() {
		h.core.SetLimit(uintptr(min(bytes, 1<<62)))
	}
}

// Reserve makes the heap larger by at least so many bytes at once, so that none of the collections comes that would on
// the way there. It is for programs that know how much they are going to build.
func (h *Heap) Reserve(bytes uint64) error {
	if !h.usable() {
		return ErrClosed
	}
	if bytes > mostBytes || !h.core.Expand(uintptr(bytes)) {
		return ErrNoMemory
	}
	return nil
}
