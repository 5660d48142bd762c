//go:build !granary_nolinkname

package managed

import (
	_ "unsafe" // for linkname

	core "granary/internal/core/gc"
)

// This file: the slot of the goroutine's P, under pin. slot_portable.go has another one for builds without linkname.

// The runtime keeps the two for packages like this one: https://go.dev/issue/67401.

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

// swapSlot puts a cache, or 0, into the slot of the goroutine's P and returns what was there.
func (h *Heap) swapSlot(c core.Cache) core.Cache {
	was := c
	if id := procPin(); uint(id) < slotCount {
		was = h.slot(uintptr(id)).swap(c)
	}
	procUnpin()
	return was
}
