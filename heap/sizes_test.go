package heap

import (
	"fmt"
	"testing"
	"unsafe"
)

func TestUsableSizeIsThatOfTheClassAndOnlyForBlocks(t *testing.T) {
	h, other := mustNew(t), mustNew(t)
	for _, size := range []int{1, 16, 17, 100, 1000, 5000, 32 << 10} {
		p, err := h.Alloc(size)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.UsableSize(p); got != GoodSize(size) || got < size {
			t.Errorf("a block of %d bytes has %d, GoodSize says %d", size, got, GoodSize(size))
		}
		if again := GoodSize(GoodSize(size)); again != GoodSize(size) {
			t.Errorf("GoodSize(%d) is %d, and of that %d", size, GoodSize(size), again)
		}
		if got := h.UsableSize(unsafe.Add(p, 8)); got != 0 {
			t.Errorf("a pointer inside a block of %d bytes has %d", size, got)
		}
		if got := other.UsableSize(p); got != 0 {
			t.Errorf("another heap knows a block of %d bytes", got)
		}
		if err := h.Free(p); err != nil {
			t.Fatal(err)
		}
		if got := h.UsableSize(p); got != 0 {
			t.Errorf("a free block of %d bytes has %d", size, got)
		}
	}
	for size, want := range map[int]int{-1: 0, 0: 16, 40000: 40960, mostBytes + 1: 0} {
		if got := GoodSize(size); got != want {
			t.Errorf("GoodSize(%d) = %d, want %d", size, got, want)
		}
	}
}

func TestUsableSizeOfAClosedHeapIsNone(t *testing.T) {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	p, err := h.Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	next := mustNew(t) // gets the addresses
	if _, err := next.Alloc(100); err != nil {
		t.Fatal(err)
	}
	if got := h.UsableSize(p); got != 0 {
		t.Errorf("a closed heap has a block of %d bytes", got)
	}
}

// TestAlignedBlocksAreAlignedWhateverServesThem: the cache, a span, a run of a sample, the guard, or the system when
// the range is full.
func TestAlignedBlocksAreAlignedWhateverServesThem(t *testing.T) {
	for name, options := range map[string][]Option{
		"plain":   nil,
		"sampled": {WithProfileRate(1)},
		"debug":   {WithDebug(true)},
		"full":    {WithRange(leastRangeBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			h := mustNew(t, options...)
			if name == "full" {
				fillRange(t, h)
			}
			var blocks []block
			for alignment := 16; alignment <= 8192; alignment *= 2 {
				for _, size := range []int{0, 1, 63, 64, 65, 1000, 4097, 33000} {
					p, err := h.AllocAligned(size, alignment)
					if err != nil {
						t.Fatal(err)
					}
					if uintptr(p)%uintptr(alignment) != 0 {
						t.Errorf("a block of %d bytes is at %p, not at a multiple of %d", size, p, alignment)
					}
					b := block{p: p, size: size}
					b.set(byte(len(blocks)))
					blocks = append(blocks, b)
				}
			}
			for i := range blocks {
				blocks[i].mustHold(t, blocks[i].size)
				if err := h.Free(blocks[i].p); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// fillRange takes spans until there are no more.
func fillRange(t *testing.T, h *Heap) {
	t.Helper()
	for h.Stats().Overflows == 0 {
		for range 64 {
			if _, err := h.Alloc(16 << 10); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestACacheReallocatesInPlaceOrMovesTheContents(t *testing.T) {
	h := mustNew(t)
	c, err := h.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	sizes := []int{1, 16, 17, 40, 900, 70, 30000, 33000, 20, 0, 500}
	b := block{}
	for i, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			to, err := c.Realloc(b.p, size)
			if err != nil {
				t.Fatal(err)
			}
			if b.p != nil && GoodSize(size) == GoodSize(b.size) && size <= 32<<10 && to != b.p {
				t.Errorf("a block of %d bytes moved to become one of %d", b.size, size)
			}
			kept := min(b.size, size)
			b.p, b.size = to, size
			b.mustHold(t, kept)
			b.set(byte(i))
		})
	}
	if err := c.Free(b.p); err != nil {
		t.Fatal(err)
	}
	if live := h.Stats().LiveBlocks; live != 0 {
		t.Errorf("%d blocks are left", live)
	}
	if _, err := c.Realloc(b.p, 4000); err == nil {
		t.Error("a free block was reallocated")
	}
}
