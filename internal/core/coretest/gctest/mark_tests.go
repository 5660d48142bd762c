package gctest

import (
	"fmt"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// markTests are about what a collection finds.
var markTests = []Test{
	{Name: "random graphs: exactly what can be reached is marked", Run: testGraphs},
	{Name: "helpers mark the same", Run: testGraphsWithHelpers},
	{Name: "a list of a million objects is marked in any order in memory", Run: testLists},
	{Name: "a wide array, with and without helpers", Run: testWideArray},
	{Name: "cycles die together", Run: testCycles},
	{Name: "which addresses keep a small object alive", Run: testSmallAddresses},
	{Name: "which addresses keep a large object alive", Run: testLargeAddresses},
	{Name: "addresses in the later blocks of large objects are found", Run: testLaterBlocks},
	{Name: "uncollectable objects are roots until they are freed", Run: testUncollectableRoots},
	{Name: "pointer-free objects keep nothing alive", Run: testPointerFree},
	{Name: "an object that is only marked keeps nothing alive", Run: testSetMark},
	{Name: "looking up addresses", Run: testLookUp},
	{Name: "a full heap is collected without memory", Run: testFullHeap},
}

// modes are the heaps that most tests run with.
var modes = []uint32{gc.ModeVerify, gc.ModeVerify | gc.ModeInterior, 0, gc.ModeInterior}

// graph makes cells of all sizes that refer to each other at random, some of them as roots.
func (r *markRig) graph(random *random, cells int) {
	for i := 0; i < cells; i++ {
		bytes := (1 + random.Below(12)) * sys.WordBytes
		switch random.Below(200) {
		case 0:
			bytes = 4096 * (1 + random.Below(40))
		case 1, 2, 3:
			bytes = 16 * (1 + random.Below(200))
		}
		r.cell(bytes, gc.KindNormal, 0)
	}
	r.rewire(random, cells*2)
	for i := 0; i < 16; i++ {
		r.root(i, r.cells[random.Below(uintptr(len(r.cells)))])
	}
}

// rewire writes references at random, near and far.
func (r *markRig) rewire(random *random, writes int) {
	count := uintptr(len(r.cells))
	for i := 0; i < writes; i++ {
		from := random.Below(count)
		to := random.Below(count)
		if random.Below(2) == 0 {
			to = (from + random.Below(30)) % count
		}
		c := r.cells[from]
		word := random.Below(c.bytes / sys.WordBytes)
		if random.Below(6) == 0 {
			r.set(c, word, nil, 0)
		} else {
			r.set(c, word, r.cells[to], 0)
		}
	}
}

func testGraphs(t kit.T) {
	for seed, mode := range modes {
		r := newMarkRig(t, mode)
		random := newRandom(uint64(seed + 1))
		for round := 0; round < 4; round++ {
			r.graph(random, 5000)
			r.check(fmt.Sprintf("mode %d, round %d", mode, round), 0)
			r.rewire(random, len(r.cells)/4)
			r.check(fmt.Sprintf("mode %d, round %d, changed", mode, round), 0)
		}
		r.close()
	}
}

func testGraphsWithHelpers(t kit.T) {
	for seed := 0; seed < 6; seed++ {
		r := newMarkRig(t, modes[seed%len(modes)])
		random := newRandom(uint64(seed + 100))
		for round := 0; round < 6; round++ {
			r.graph(random, 300+3000*(round%2))
			r.check(fmt.Sprintf("seed %d, round %d", seed, round), 1+(seed+round)%4)
			r.rewire(random, len(r.cells)/4)
		}
		r.close()
	}
}

// chain links cells through a word, in the order of next.
func (r *markRig) chain(count int, next func(i int) int) {
	addrs := make([]sys.Addr, count)
	for i := range addrs {
		addrs[i] = r.raw(24, gc.KindNormal, 0)
	}
	at := 0
	r.roots.SetWord(uintptr(addrs[0]))
	for i := 1; i < count; i++ {
		to := next(i)
		(addrs[at] + 8).SetWord(uintptr(addrs[to]))
		at = to
	}
	r.collect(0)
	for i, addr := range addrs {
		if !r.h.IsMarked(addr) {
			r.t.Fatalf("object %d of a list of %d is lost", i, count)
		}
	}
	r.roots.SetWord(0)
	r.collect(0)
	for i, addr := range addrs {
		if r.h.IsMarked(addr) {
			r.t.Fatalf("object %d of a list of %d was kept", i, count)
		}
	}
}

func testLists(t kit.T) {
	const count = 1 << 20
	r := newMarkRig(t, 0)
	r.chain(count, func(i int) int { return i })
	r.chain(count, func(i int) int { return count - i })
	r.chain(count, func(i int) int { return i * 414413 % count }) // an odd factor: each once
	r.close()
	r = newMarkRig(t, gc.ModeVerify|gc.ModeInterior)
	r.chain(1<<15, func(i int) int { return i * 4145 % (1 << 15) })
	r.close()
}

func testWideArray(t kit.T) {
	for _, helpers := range []int{0, 1, 3} {
		r := newMarkRig(t, gc.ModeVerify)
		const count = 60000
		array := r.cell(count*sys.WordBytes, gc.KindNormal, 0)
		r.root(0, array)
		for i := uintptr(0); i < count; i++ {
			c := r.cell(16, gc.KindNormal, 0)
			if i%3 != 0 {
				r.set(array, i, c, 0)
			}
			if i%5 == 0 {
				r.set(c, 0, array, 0)
			}
		}
		r.check(fmt.Sprintf("with %d helpers", helpers), helpers)
		r.root(0, nil)
		r.check(fmt.Sprintf("nothing left, with %d helpers", helpers), helpers)
		if len(r.cells) != 0 {
			t.Errorf("%d cells live without a root", len(r.cells))
		}
		r.close()
	}
}

func testCycles(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify)
	rings := []*cell{}
	for ring := 0; ring < 200; ring++ {
		first := r.cell(32, gc.KindNormal, 0)
		last := first
		for i := 0; i < 1+ring; i++ {
			next := r.cell(32, gc.KindNormal, 0)
			r.set(last, 1, next, 0)
			last = next
		}
		r.set(last, 2, first, 0)
		r.set(first, 0, first, 0)
		rings = append(rings, last)
	}
	for i := 0; i < 100; i++ {
		r.root(i, rings[i*2])
	}
	r.check("every other ring has a root", 0)
	for i := 0; i < 100; i++ {
		r.root(i, nil)
	}
	r.check("no ring has a root", 0)
	if len(r.cells) != 0 {
		t.Errorf("%d cells of rings without a root live", len(r.cells))
	}
	r.close()
}

func testSmallAddresses(t kit.T) {
	inner := []uintptr{0, 1, 7, 8, 15, 16, 24, 39, 40, 47, 48}
	for mode, want := range map[uint32]string{
		gc.ModeVerify:                   "x...x......",
		gc.ModeVerify | gc.ModeInterior: "xxxxxxxxxx.",
	} {
		r := newMarkRig(t, mode)
		r.h.RegisterDisplacement(15)
		holder := r.cell(uintptr(len(inner))*sys.WordBytes, gc.KindNormal, 0)
		r.root(0, holder)
		var cells []*cell
		for i, offset := range inner {
			c := r.cell(40, gc.KindNormal, 0) // 48 bytes in any mode
			r.set(holder, uintptr(i), c, offset)
			cells = append(cells, c)
			r.cell(40, gc.KindNormal, 0) // what lies behind it
		}
		r.expectAlive(fmt.Sprintf("from the heap, mode %d", mode), cells, want)
		r.close()

		r = newMarkRig(t, mode)
		cells = nil
		for i, offset := range inner {
			c := r.cell(40, gc.KindNormal, 0)
			(r.roots + sys.Addr(i*sys.WordBytes)).SetWord(uintptr(c.addr) + offset)
			cells = append(cells, c)
			r.cell(40, gc.KindNormal, 0)
		}
		r.expectAlive(fmt.Sprintf("from roots, mode %d", mode), cells, "xxxxxxxxxx.")
		r.close()
	}
}

func testLargeAddresses(t kit.T) {
	inner := []uintptr{0, 8, 100, 4095, 4096, 9000, 19999, 20000, 20479}
	for _, test := range []struct {
		mode, flags uint32
		heap, root  string
	}{
		{gc.ModeVerify, 0, "x.x......", "xxxxxxxx."},
		{gc.ModeVerify | gc.ModeInterior, 0, "xxxxxxxx.", "xxxxxxxx."},
		{gc.ModeVerify, gc.FlagIgnoreOffPage, "x.x......", "xxxx....."},
		{gc.ModeVerify | gc.ModeInterior, gc.FlagIgnoreOffPage, "xxxx.....", "xxxx....."},
	} {
		for _, fromRoots := range []bool{false, true} {
			r := newMarkRig(t, test.mode)
			r.h.RegisterDisplacement(100)
			holder := r.cell(uintptr(len(inner))*sys.WordBytes, gc.KindNormal, 0)
			r.root(200, holder)
			var cells []*cell
			for i, offset := range inner {
				c := r.cell(20000, gc.KindNormal, test.flags) // 20000 bytes and, with ModeInterior, 16 more
				if fromRoots {
					(r.roots + sys.Addr(i*sys.WordBytes)).SetWord(uintptr(c.addr) + offset)
				} else {
					r.set(holder, uintptr(i), c, offset)
				}
				cells = append(cells, c)
			}
			want := test.heap
			if fromRoots {
				want = test.root
			}
			if test.mode&gc.ModeInterior == 0 {
				want = want[:7] + "." + want[8:] // its size is 20000
			}
			r.expectAlive(fmt.Sprintf("mode %d, flags %d, roots %v", test.mode, test.flags, fromRoots), cells, want)
			r.close()
		}
	}
}

func testLaterBlocks(t kit.T) {
	for _, mode := range modes {
		r := newMarkRig(t, mode)
		for size := uintptr(2049); size < 300000; size = size*3/2 + 8 {
			large := r.cell(size&^7, gc.KindNormal, 0)
			words := large.bytes / sys.WordBytes
			for _, word := range []uintptr{0, 1, words / 2, words - 2, words - 1} {
				r.set(large, word, r.cell(16, gc.KindNormal, 0), 0)
			}
			holder := r.cell(64, gc.KindNormal, 0)
			r.root(int(size%markRoots), holder)
			r.set(holder, 3, large, 0)
		}
		r.check(fmt.Sprintf("mode %d", mode), 0)
		r.close()
	}
}

func testUncollectableRoots(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify)
	var owners []sys.Addr
	var kept, plain []*cell
	for i := 0; i < 300; i++ {
		bytes := uintptr(16 + i*24)
		owner := r.raw(bytes, gc.KindUncollectable, 0)
		other := r.raw(bytes, gc.KindPointerFreeUncollectable, 0)
		a, b := r.cell(16, gc.KindNormal, 0), r.cell(16, gc.KindNormal, 0)
		owner.SetWord(uintptr(a.addr))
		other.SetWord(uintptr(b.addr))
		owners, kept, plain = append(owners, owner), append(kept, a), append(plain, b)
	}
	for cycle := 0; cycle < 2; cycle++ {
		r.collect(cycle)
		for i := range owners {
			if !r.h.IsMarked(owners[i]) || !r.h.IsMarked(kept[i].addr) || r.h.IsMarked(plain[i].addr) && cycle == 0 {
				t.Fatalf("cycle %d, owner %d: marks are wrong", cycle, i)
			}
		}
	}
	for i := range owners {
		if !r.h.Free(r.c, owners[i]) || r.h.Free(r.c, owners[i]) {
			t.Fatalf("an uncollectable object cannot be freed, or twice")
		}
	}
	r.collect(0)
	for i := range kept {
		if r.h.IsMarked(kept[i].addr) {
			t.Fatalf("a freed uncollectable object keeps another alive")
		}
	}
	r.close()
}

func testPointerFree(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify|gc.ModeInterior)
	var cells []*cell
	for i, bytes := range []uintptr{16, 100, 2000, 5000, 100000} {
		c := r.cell(bytes, gc.KindPointerFree, 0)
		r.root(i, c)
		for word := uintptr(0); word < bytes/sys.WordBytes; word++ {
			(c.addr + sys.Addr(word*sys.WordBytes)).SetWord(0)
		}
		to := r.cell(16, gc.KindNormal, 0)
		r.decoy(c, bytes/sys.WordBytes-1, to)
		r.decoy(c, 0, to)
		cells = append(cells, c, to)
	}
	r.expectAlive("owners and what they seem to name", cells, "x.x.x.x.x.")
	r.close()
}

func testSetMark(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify)
	a, b := r.cell(32, gc.KindNormal, 0), r.cell(32, gc.KindNormal, 0)
	r.set(a, 0, b, 0)
	r.begin(true)
	r.h.SetMark(a.addr)
	r.h.Drain(0)
	r.end()
	if !r.h.IsMarked(a.addr) || r.h.IsMarked(b.addr) {
		t.Errorf("SetMark marks something else, or more")
	}
	r.h.ClearMark(a.addr)
	if r.h.IsMarked(a.addr) {
		t.Errorf("ClearMark has no effect")
	}
	r.h.SetMark(a.addr)
	r.close()
}

func testLookUp(t kit.T) {
	r := newMarkRig(t, gc.ModeInterior)
	for _, bytes := range []uintptr{1, 16, 48, 600, 2047, 2048, 5000, 70000} {
		addr := r.raw(bytes, gc.KindNormal, 0)
		size := r.h.SizeOf(addr)
		if size <= bytes || size%16 != 0 {
			t.Errorf("an object of %d bytes has %d", bytes, size)
		}
		for _, offset := range []uintptr{0, 1, bytes / 2, bytes, size - 1} {
			at := addr + sys.Addr(offset)
			if r.h.BaseOf(at) != addr || r.h.SizeOf(at) != size || r.h.KindOf(at) != gc.KindNormal {
				t.Errorf("offset %d of an object of %d bytes is not found", offset, bytes)
			}
		}
		if r.h.BaseOf(addr+sys.Addr(size)) == addr {
			t.Errorf("an object of %d bytes has more", bytes)
		}
	}
	for _, addr := range []sys.Addr{0, 1, ^sys.Addr(0), r.h.Base, r.h.Base - 1, r.h.Base + markRange - 1, r.roots} {
		if r.h.BaseOf(addr) != 0 || r.h.SizeOf(addr) != 0 || r.h.IsMarked(addr) {
			t.Errorf("something is found at %#x", uintptr(addr))
		}
		r.h.MarkAddress(uintptr(addr))
		r.h.Shade(uintptr(addr))
		r.h.RescanBlock(addr)
	}
	r.close()
}

// testFullHeap fills a heap up to its limit, so that a collection finds no memory for anything.
func testFullHeap(t kit.T) {
	r := newMarkRig(t, gc.ModeInterior)
	r.h.SetLimit(8 << 20)
	for round := 0; round < 3; round++ {
		made := 0
		var last sys.Addr
		for {
			addr := r.h.Alloc(r.c, 24, gc.KindNormal)
			if addr == 0 {
				var need uint32
				if addr, need = r.h.AllocSlow(r.c, 24, gc.KindNormal, gc.FlagExpand); addr == 0 {
					if need == gc.NeedMemory {
						break
					}
					t.Fatalf("a full heap needs %d", need)
				}
			}
			addr.SetWord(uintptr(last))
			last = addr
			made++
			r.roots.SetWord(uintptr(last))
		}
		if made < 8<<20/32*9/10 {
			t.Fatalf("round %d: only %d objects fit", round, made)
		}
		r.collect(0)
		found := 0
		for addr := last; addr != 0; addr = sys.Addr(addr.Word()) {
			if !r.h.IsMarked(addr) {
				t.Fatalf("round %d: object %d is lost", round, found)
			}
			found++
		}
		if found != made {
			t.Fatalf("round %d: %d objects of %d are in the list", round, found, made)
		}
		r.roots.SetWord(0)
		r.collect(0)
	}
	r.close()
}
