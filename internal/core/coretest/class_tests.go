package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

var classTests = []Test{
	{Name: "every size has the smallest class that holds it", Run: testClassSizes},
	{Name: "rounding a size up wastes less than a fifth above 128 bytes", Run: testClassWaste},
	{Name: "the blocks of every class fill spans without overlap", Run: testClassBlocks},
	{Name: "a request of no bytes gets a block of its own", Run: testZeroBytes},
	{Name: "a request that no memory could hold fails and changes nothing", Run: testTooLarge},
	{Name: "calloc refuses a product that overflows", Run: testCallocOverflow},
}

func testClassSizes(t T) {
	before, classes := uintptr(0), 0
	for size := uintptr(0); size <= heap.SmallMaxBytes; size++ {
		class := heap.ClassSize(size)
		if class < size || class < before || class%16 != 0 {
			t.Fatalf("ClassSize(%d) = %d, ClassSize(%d) = %d", size, class, size-1, before)
		}
		if heap.ClassSize(class) != class {
			t.Fatalf("ClassSize(%d) = %d: the size of a class is in another class", class, heap.ClassSize(class))
		}
		if class != before {
			if size > 1 && before != size-1 {
				t.Fatalf("class %d begins at size %d, though class %d before it ends at %d", class, size, before, before)
			}
			classes++
		}
		before = class
	}
	if classes != heap.ClassCount || before != heap.SmallMaxBytes {
		t.Errorf("%d classes up to %d, want %d up to %d", classes, before, heap.ClassCount, heap.SmallMaxBytes)
	}
	for _, size := range []uintptr{heap.SmallMaxBytes + 1, 1 << 20, 1<<(29+11*sys.Is64Bit) + 1} {
		if got := heap.ClassSize(size); got < size || got >= size+space.GranuleBytes {
			t.Errorf("ClassSize(%d) = %d: large blocks are whole granules at most", size, got)
		}
	}
}

func testClassWaste(t T) {
	for size := uintptr(1); size <= heap.SmallMaxBytes; size++ {
		waste := heap.ClassSize(size) - size
		switch {
		case size <= 128 && waste > 15:
			t.Fatalf("size %d wastes %d bytes", size, waste)
		case size > 128 && waste*5 > heap.ClassSize(size):
			t.Fatalf("size %d wastes %d of %d bytes", size, waste, heap.ClassSize(size))
		}
	}
}

func testClassBlocks(t T) {
	r := newRigOf(t, 64<<20, 1, 0, 0)
	r.every = 997
	r.check()
	var sizes []uintptr
	for i := range r.stats.Classes {
		sizes = append(sizes, uintptr(r.stats.Classes[i].BlockBytes))
	}
	for i, size := range sizes {
		spanBytes := uintptr(r.stats.Classes[i].SpanBytes)
		if size <= heap.TinyMaxBytes && spanBytes != 64<<10 || size > heap.TinyMaxBytes && spanBytes != 256<<10 {
			t.Errorf("spans of class %d have %d bytes", size, spanBytes)
		}
		for n := spanBytes/size + 1; n > 0; n-- {
			r.malloc(0, size)
		}
		r.check()
		if got := r.stats.Classes[i].Spans; got != 2 {
			t.Errorf("one block more than fits a span of class %d took %d spans", size, got)
		}
		r.freeAll(0)
	}
	r.close()
}

func testZeroBytes(t T) {
	r := newRig(t, 1)
	a, b := r.malloc(0, 0), r.calloc(0, 0, 12)
	c := r.calloc(0, 7, 0)
	if a.usable != 16 || b.usable != 16 || c.usable != 16 {
		t.Errorf("blocks of no bytes have %d, %d and %d usable bytes", a.usable, b.usable, c.usable)
	}
	r.h.Free(r.cache(0), 0)
	r.h.Free(noCache(t), 0)
	if r.h.UsableSize(0) != 0 {
		t.Errorf("address 0 has usable bytes")
	}
	r.close()
}

func testTooLarge(t T) {
	r := newRig(t, 1)
	kept := r.malloc(0, 100)
	for _, size := range []uintptr{1 << (31 + 17*sys.Is64Bit), 1 << (wordBits - 1), ^uintptr(0) - 4096, ^uintptr(0)} {
		for _, cache := range []int{0, 1} {
			if got := r.h.Malloc(r.cache(cache), size); got != 0 {
				t.Errorf("Malloc(%#x) = %#x", size, uintptr(got))
			}
			if got := r.h.Calloc(r.cache(cache), 1, size); got != 0 {
				t.Errorf("Calloc(1, %#x) = %#x", size, uintptr(got))
			}
			if got := r.h.AlignedAlloc(r.cache(cache), 64, size); got != 0 {
				t.Errorf("AlignedAlloc(64, %#x) = %#x", size, uintptr(got))
			}
			if got := r.h.Realloc(r.cache(cache), kept.addr, size); got != 0 {
				t.Errorf("Realloc(%#x) = %#x", size, uintptr(got))
			}
			r.mustHold(kept)
			r.check()
		}
	}
	large := r.malloc(0, 100000)
	if got := r.h.Realloc(r.cache(0), large.addr, tooLarge); got != 0 {
		t.Errorf("Realloc of a large block to what no block can have = %#x", uintptr(got))
	}
	r.mustHold(large)
	r.close()
}

func testCallocOverflow(t T) {
	r := newRig(t, 1)
	for _, c := range [][2]uintptr{
		{1 << halfWord, 1 << halfWord}, {1 << (wordBits - 1), 2}, {2, 1 << (wordBits - 1)},
		{^uintptr(0), ^uintptr(0)}, {3, ^uintptr(0)/3 + 1}, {1 << (wordBits - 4), 16}, {16, 1<<(wordBits-4) + 1},
		{1<<halfWord + 1, 1 << halfWord},
	} {
		if got := r.h.Calloc(r.cache(0), c[0], c[1]); got != 0 {
			t.Errorf("Calloc(%#x, %#x) = %#x", c[0], c[1], uintptr(got))
		}
	}
	r.calloc(0, 1<<(halfWord+2), 0)
	r.calloc(0, 0, 1<<(halfWord+2))
	r.close()
}
