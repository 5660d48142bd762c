//go:build !granary_nolinkname

package managed

import (
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// This file: allocation from the cache of the goroutine's P, under pin. fast_portable.go has it for builds without
// linkname. While a goroutine is pinned nobody else runs on its P, so the P's cache is the goroutine's. It must not
// wait, call user code or fault meanwhile.

// The runtime keeps the two for packages like this one: https://go.dev/issue/67401.

//go:linkname procPin runtime.procPin
func procPin() int

//go:linkname procUnpin runtime.procUnpin
func procUnpin()

var _ unsafe.Pointer // linkname needs the import

// tryAlloc takes an object from the cache of the goroutine's P, 0 if there is none.
func (h *Heap) tryAlloc(size uintptr, kind uint32) sys.Addr {
	object := sys.Addr(0)
	if id := procPin(); uint(id) < slotCount {
		if c := h.slot(uintptr(id)).cache; c != 0 {
			object = h.core.Alloc(c, size, kind)
		}
	}
	procUnpin()
	return object
}

// swapSlot puts a cache, or 0, into the slot of the goroutine's P and returns what was there.
func (h *Heap) swapSlot(c core.Cache) core.Cache {
	was := c
	if id := procPin(); uint(id) < slotCount {
		was = h.slot(uintptr(id)).swap(c)
	}
	procUnpin()
	return was
}
