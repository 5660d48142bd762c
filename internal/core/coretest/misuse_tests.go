package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

var misuseTests = []Test{
	{Name: "a block freed twice in a row is reported and stays free once", Run: testTwiceNewest},
	{Name: "a block freed twice is found deep in the thread's list", Run: testTwiceDeep},
	{Name: "a block freed twice is found in another thread's list", Run: testTwiceOtherThread},
	{Name: "a block freed twice is found in the shared pool", Run: testTwicePool},
	{Name: "a block freed twice is found in its span", Run: testTwiceSpan},
	{Name: "a block freed twice by threads without a cache is found", Run: testTwiceUncached},
	{Name: "a pointer into a block is reported and the block stays", Run: testInside},
	{Name: "a pointer behind the last block of a span is reported", Run: testSpanTail},
	{Name: "a pointer into the range where no block is is reported", Run: testNoBlockThere},
	{Name: "resizing what is not a block is reported and gives nothing", Run: testReallocMisuse},
	{Name: "a program may write the mark of freed blocks into its own", Run: testMarkCopied},
}

// expectMisuse demands that exactly one misuse was reported.
func (r *rig) expectMisuse(addr sys.Addr, blockBytes uintptr, what int, where string) {
	found := takeMisuse()
	if len(found) != 1 || found[0].block != addr || found[0].what != what || found[0].blockBytes != blockBytes {
		r.t.Fatalf("%s: reported %v, want one of block %#x of %d bytes, kind %d", where, found, uintptr(addr), blockBytes,
			what)
	}
	r.check()
}

func (r *rig) expectTwice(cache int, b *block, where string) {
	r.h.Free(r.cache(cache), b.addr)
	r.expectMisuse(b.addr, b.usable, misuseTwice, where)
}

func testTwiceNewest(t T) {
	r := newRig(t, 1)
	for _, size := range []uintptr{16, 100, 2048, 32768} {
		b := r.malloc(0, size)
		r.free(0, b)
		r.expectTwice(0, b, "twice in a row")
		r.expectTwice(0, b, "and once more")
		c, d := r.malloc(0, size), r.malloc(0, size)
		if c.addr == d.addr {
			t.Errorf("a block freed twice was handed out twice")
		}
	}
	r.close()
}

func testTwiceDeep(t T) {
	r := newRig(t, 1)
	var blocks []*block
	for i := 0; i < 20; i++ {
		blocks = append(blocks, r.malloc(0, 64))
	}
	for _, b := range blocks {
		r.free(0, b)
	}
	for _, b := range blocks {
		r.expectTwice(0, b, "deep in the list")
	}
	r.close()
}

func testTwiceOtherThread(t T) {
	r := newRig(t, 2)
	a, b := r.malloc(0, 200), r.malloc(0, 200)
	r.free(1, a)
	r.free(1, b)
	r.expectTwice(0, a, "in another thread's list")
	r.expectTwice(0, b, "on top of another thread's list")
	r.expectTwice(2, a, "by a thread without a cache")
	r.close()
}

func testTwicePool(t T) {
	r := newRig(t, 1)
	r.every = 11
	var blocks []*block
	for i := 0; i < 200; i++ {
		blocks = append(blocks, r.malloc(0, 64))
	}
	for _, b := range blocks {
		r.free(0, b)
	}
	if in, _, _ := r.pool(64); in == 0 {
		t.Fatalf("200 blocks were freed, and no batch is in the pool")
	}
	for _, b := range blocks {
		r.expectTwice(0, b, "in a batch of the pool")
	}
	r.close()
}

func testTwiceSpan(t T) {
	r := newRig(t, 1)
	keep := r.malloc(0, 64)
	var blocks []*block
	for i := 0; i < 20; i++ {
		blocks = append(blocks, r.malloc(0, 64))
	}
	for _, b := range blocks {
		r.free(0, b)
	}
	r.dropCache(0)
	r.newCache()
	for _, b := range blocks {
		r.expectTwice(0, b, "in a span")
	}
	r.free(0, keep)
	r.close()
}

func testTwiceUncached(t T) {
	r := newRig(t, 0)
	keep, b := r.malloc(0, 500), r.malloc(0, 500)
	r.free(0, b)
	r.expectTwice(0, b, "without a cache")
	r.free(0, keep)
	r.close()
}

func testInside(t T) {
	r := newRig(t, 1)
	for _, size := range []uintptr{16, 48, 64, 112, 640, 2048, 3072, 32768} {
		b := r.malloc(0, size)
		for _, offset := range []uintptr{1, 8, 15, 16, 32, size / 2, size - 16, size - 1} {
			if offset == 0 || offset >= size {
				continue
			}
			for _, cache := range []int{0, 1} {
				r.h.Free(r.cache(cache), b.addr+sys.Addr(offset))
				r.expectMisuse(b.addr+sys.Addr(offset), b.usable, misuseNotStart, "inside a block")
				r.mustHold(b)
			}
		}
	}
	r.close()
}

func testSpanTail(t T) {
	r := newRig(t, 1)
	b := r.malloc(0, 1536) // 42 blocks in a span, 1024 bytes left
	span := b.addr &^ (space.GranuleBytes - 1)
	for _, offset := range []uintptr{42*1536 + 16, 65536 - 16} {
		r.h.Free(r.cache(0), span+sys.Addr(offset))
		r.expectMisuse(span+sys.Addr(offset), 1536, misuseNotStart, "behind the last block")
	}
	// Where a further block would begin, and a block that the span never handed out: found at the latest where it
	// goes back to its span.
	end, never := span+42*1536, span+41*1536
	r.h.Free(r.cache(1), end)
	r.expectMisuse(end, 1536, misuseNotStart, "where a further block would begin")
	r.h.Free(r.cache(1), never)
	r.expectMisuse(never, 1536, misuseTwice, "never handed out")
	for _, addr := range []sys.Addr{end, never} {
		r.h.Free(r.cache(0), addr)
		r.h.DropCache(r.cache(0))
		r.caches = nil
		if found := takeMisuse(); len(found) != 1 || found[0].block != addr {
			t.Errorf("%#x, which never was a block, went back to its span: %v", uintptr(addr), found)
		}
		r.newCache()
	}
	r.close()
}

func testNoBlockThere(t T) {
	r := newRig(t, 1)
	b := r.malloc(0, 64)
	last := r.h.Base + sys.Addr(r.h.Committed()<<space.GranuleShift)
	for _, addr := range []sys.Addr{
		r.h.Base, r.h.Base + 16, r.h.Base + 4096, last - 32, r.h.Base + leastRange - 16, r.h.Base + leastRange - 1,
	} {
		if r.h.OwnerOf(addr) != 0 {
			t.Fatalf("%#x has an owner", uintptr(addr))
		}
		for _, cache := range []int{0, 1} {
			r.h.Free(r.cache(cache), addr)
			r.expectMisuse(addr, 0, misuseForeign, "where no block is")
		}
	}
	r.free(0, b)
	r.close()
}

func testReallocMisuse(t T) {
	r := newRig(t, 1)
	b, gone := r.malloc(0, 64), r.malloc(0, 64)
	r.free(0, gone)
	for _, c := range []struct {
		addr  sys.Addr
		bytes uintptr
		what  int
	}{{b.addr + 8, 64, misuseNotStart}, {gone.addr, 64, misuseTwice}, {r.h.Base, 0, misuseForeign}} {
		if got := r.h.Realloc(r.cache(0), c.addr, 100); got != 0 {
			t.Errorf("Realloc of what is no block gave %#x", uintptr(got))
		}
		r.expectMisuse(c.addr, c.bytes, c.what, "realloc")
	}
	r.close()
}

// testMarkCopied writes the mark of a freed block, wherever it lies, into blocks in use.
func testMarkCopied(t T) {
	r := newRig(t, 2)
	for _, size := range []uintptr{16, 64, 1000, 32768} {
		b, mark := r.malloc(0, size), r.malloc(0, size)
		r.free(0, mark)
		for offset := sys.Addr(0); offset < sys.Addr(heap.ClassSize(size)) && offset < 64; offset += 8 {
			(b.addr + offset).SetWord((mark.addr + offset).Word())
		}
		r.remove(b)
		r.h.Free(r.cache(1), b.addr)
		r.check()
		r.expectTwice(0, b, "after it was freed with the mark in it")
	}
	r.close()
}
