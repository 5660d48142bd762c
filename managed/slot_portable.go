//go:build granary_nolinkname

package managed

import (
	"unsafe"

	core "granary/internal/core/gc"
)

// This file: a slot without linkname, for builds with the tag granary_nolinkname: goroutines look at one that depends
// on where their stack lies.

const portableSlots = 64

// someSlot is a slot that goroutines seldom share.
func (h *Heap) someSlot() *slot {
	const stackPieceShift = 13
	var here byte
	return h.slot(uintptr(unsafe.Pointer(&here)) >> stackPieceShift * 0x9e3779b97f4a7c15 >> 32 % portableSlots)
}

// swapSlot puts a cache, or 0, into a slot and returns what was there.
func (h *Heap) swapSlot(c core.Cache) core.Cache { return h.someSlot().swap(c) }
