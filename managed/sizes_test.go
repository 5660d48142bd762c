package managed

import (
	"testing"
	"unsafe"
)

func TestGoodSizeIsWhatObjectsTake(t *testing.T) {
	for _, interior := range []bool{false, true} {
		h := newHeap(t, WithInterior(interior))
		mutate(t, h, func(m *Mutator) {
			for _, bytes := range []int{0, 1, 15, 16, 17, 31, 384, 385, 1000, 2047, 2048, 2049, 4095, 4096, 5000, 100_000} {
				p := must(m.Alloc(bytes, PointerFree))
				size, memory := GoodSize(bytes, interior)
				have := h.Size(unsafe.Pointer(p))
				if interior {
					have--
				}
				if size != have || size < bytes || memory < size {
					t.Errorf("%d bytes: %d of %d; the object has %d", bytes, size, memory, have)
				}
			}
		})
	}
	for _, bytes := range []int{-1, 1 << 60} {
		if size, memory := GoodSize(bytes, true); size != 0 || memory != 0 {
			t.Errorf("%d bytes: %d, %d", bytes, size, memory)
		}
	}
}
