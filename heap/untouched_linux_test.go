package heap

import (
	"syscall"
	"testing"
	"unsafe"
)

// resident is the share of a block's pages that have memory.
func resident(t *testing.T, p unsafe.Pointer, size uintptr) float64 {
	t.Helper()
	page := uintptr(syscall.Getpagesize())
	from := (uintptr(p) + page - 1) &^ (page - 1)
	pages := make([]byte, (size-(from-uintptr(p)))/page)
	_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, from, uintptr(len(pages))*page,
		uintptr(unsafe.Pointer(&pages[0])))
	if errno != 0 {
		t.Fatal(errno)
	}
	count := 0
	for _, state := range pages {
		count += int(state & 1)
	}
	return float64(count) / float64(len(pages))
}

// What the system has just given reads as zero: a large block of zeros takes no memory before it is written to.
func TestLargeBlocksOfZerosAreNotTouched(t *testing.T) {
	const size = 48 << 20
	for name, rate := range map[string]int{"without samples": 0, "every block a sample": 1} {
		h := mustNew(t, WithProfileRate(rate), WithHugePages(false))
		c, err := h.NewCache()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range []Allocator{h, c, h.Tag("tag")} {
			p, err := a.AllocZeroed(size)
			if err != nil {
				t.Fatal(err)
			}
			if share := resident(t, p, size); share > 0.25 {
				t.Errorf("%s, %T: %.0f %% of a block of zeros have memory", name, a, 100*share)
			}
			a.Free(p)
			h.Trim()
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
