//go:build granary_nolinkname

package managed

import (
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// This file: allocation without linkname, for builds with the tag granary_nolinkname. A goroutine takes a cache out of
// a slot for the time of its call, and puts it back: two atomic exchanges in place of a pin. The slots belong to
// nobody; goroutines look at one that depends on where their stack lies.

const portableSlots = 64

// someSlot is a slot that goroutines seldom share.
func (h *Heap) someSlot() *slot {
	const stackPieceShift = 13
	var here byte
	return h.slot(uintptr(unsafe.Pointer(&here)) >> stackPieceShift * 0x9e3779b97f4a7c15 >> 32 % portableSlots)
}

// tryAlloc takes an object from a cache, 0 if there is none.
func (h *Heap) tryAlloc(size uintptr, kind uint32) sys.Addr {
	s := h.someSlot()
	c := s.swap(0)
	if c == 0 {
		return 0
	}
	object := h.core.Alloc(c, size, kind)
	if was := s.swap(c); was != 0 {
		h.spareCache(was)
	}
	return object
}

// swapSlot puts a cache, or 0, into a slot and returns what was there.
func (h *Heap) swapSlot(c core.Cache) core.Cache { return h.someSlot().swap(c) }
