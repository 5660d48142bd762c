package managed

import (
	"slices"
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// roots are what a collection begins with, beside handles and uncollectable objects. Under Heap.rootsMu.
type roots struct {
	ranges []rootRange
	stacks []*Stack
}

type rootRange struct {
	from, to sys.Addr
}

// AddRange makes every word of so many bytes of memory a root: it keeps the object alive whose address, or an address
// inside of which, it is. The memory lies outside of the Go heap, and is valid until RemoveRange; a collection reads it
// while the mutators stand, so only they may write there. The start is rounded up to a multiple of 8.
func (h *Heap) AddRange(start unsafe.Pointer, bytes uintptr) error {
	if !h.usable() {
		return ErrClosed
	}
	from := sys.Addr(sys.AlignUp(uintptr(start), wordBytes))
	to := addrOf(start) + sys.Addr(bytes)
	if start == nil || to < addrOf(start) {
		return ErrSize
	}
	h.rootsMu.Lock()
	h.roots.ranges = append(h.roots.ranges, rootRange{from, max(from, to)})
	h.rootsMu.Unlock()
	return nil
}

// RemoveRange takes back what AddRange was given, and reports whether it was.
func (h *Heap) RemoveRange(start unsafe.Pointer, bytes uintptr) bool {
	from := sys.Addr(sys.AlignUp(uintptr(start), wordBytes))
	r := rootRange{from, max(from, addrOf(start)+sys.Addr(bytes))}
	h.rootsMu.Lock()
	defer h.rootsMu.Unlock()
	i := slices.Index(h.roots.ranges, r)
	if i < 0 {
		return false
	}
	h.roots.ranges = slices.Delete(h.roots.ranges, i, i+1)
	return true
}

// markRoots gives all roots to the core. The world stands.
func (h *Heap) markRoots() {
	h.core.MarkUncollectable()
	h.handles.mark(h.core)
	h.eachRange(func(from, to sys.Addr) bool {
		h.core.MarkRange(from, to)
		return true
	})
	h.world.mu.Lock()
	defer h.world.mu.Unlock()
	for _, m := range h.world.mutators {
		for _, object := range m.finalizing {
			h.core.MarkAddress(uintptr(object))
		}
	}
}

// eachRange calls f for the memory of ranges and stacks until it returns false.
func (h *Heap) eachRange(f func(from, to sys.Addr) bool) {
	h.rootsMu.Lock()
	defer h.rootsMu.Unlock()
	for _, r := range h.roots.ranges {
		if !f(r.from, r.to) {
			return
		}
	}
	for _, s := range h.roots.stacks {
		if !f(s.base, s.top) {
			return
		}
	}
}

// lostRoot is an object that a root names and no collection has marked, 0 if there is none.
func (h *Heap) lostRoot() (lost sys.Addr) {
	if lost = h.handles.lost(h.core); lost != 0 {
		return lost
	}
	h.eachRange(func(from, to sys.Addr) bool {
		for at := from; at+wordBytes <= to; at += wordBytes {
			if word := at.Word(); !isFound(h.core, word) {
				lost = h.core.BaseOf(sys.Addr(word))
				return false
			}
		}
		return true
	})
	return lost
}

// isFound reports whether a word is no address of an object, or that of a marked one.
func isFound(c *core.Heap, word uintptr) bool {
	return c.BaseOf(sys.Addr(word)) == 0 || c.IsMarked(sys.Addr(word))
}

// releaseRoots forgets all of them when the heap is closed.
func (h *Heap) releaseRoots() {
	h.rootsMu.Lock()
	stacks := h.roots.stacks
	h.roots = roots{}
	h.rootsMu.Unlock()
	for _, s := range stacks {
		s.forget()
	}
}
