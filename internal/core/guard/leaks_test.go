package guard

import (
	"testing"

	"granary/internal/core/sys"
)

func (f *fixture) stack(frames ...uintptr) uint32 {
	for i, frame := range frames {
		f.scratchWord(i, frame)
	}
	return f.stacks.intern(f.scratch, uintptr(len(frames)))
}

func (f *fixture) scratchWord(index int, value uintptr) {
	(f.scratch + sys.Addr(index*sys.WordBytes)).SetWord(value)
}

func TestStacksAreKeptOnce(t *testing.T) {
	f := newFixture(t, true)
	seen := map[uint32]bool{}
	order := []uint32{}
	for i := uintptr(1); i <= 20000; i++ {
		id := f.stack(i, i*7, 3)
		if id == 0 || seen[id] {
			t.Fatalf("stack %d has number %d", i, id)
		}
		seen[id] = true
		order = append(order, id)
	}
	for i := uintptr(1); i <= 20000; i++ {
		if id := f.stack(i, i*7, 3); id != order[i-1] {
			t.Fatalf("stack %d has number %d, had %d", i, id, order[i-1])
		}
		if (f.stacks.frames(order[i-1]) + 8).Word() != i*7 {
			t.Fatalf("stack %d lost its frames", i)
		}
	}
	next := uint32(0)
	for _, id := range order {
		if next = f.stacks.after(next); next != id {
			t.Fatalf("stack %d follows, expected %d", next, id)
		}
	}
	if f.stacks.after(next) != 0 {
		t.Error("there is a stack too many")
	}
}

func TestStacksThatDoNotFitAreUnknown(t *testing.T) {
	f := newFixture(t, true)
	if id := f.stacks.intern(f.heap.Base, 0); id != 0 {
		t.Errorf("the empty stack has number %d", id)
	}
	known := f.stack(1, 2)
	f.stacks.used, f.stacks.committed = stackRegionBytes-8, stackRegionBytes
	if id := f.stack(1, 2, 3); id != 0 {
		t.Errorf("a stack beyond the region has number %d", id)
	}
	if f.stack(1, 2) != known {
		t.Error("the known stack is lost")
	}
}

// What a library keeps for itself is found through its data, over blocks of its own; a block of the
// program is a leak even if the library knows it.
func TestBlocksThatALibraryKeepsAreCountedApart(t *testing.T) {
	f := newFixture(t, true)
	library, program, loader := f.stack(1, 2), f.stack(3, 4), f.stack(5)
	f.stacks.at(library).kind = KindSystemIfFound
	f.stacks.at(loader).kind = KindSystem
	table := f.Malloc(64, 16, library)     // in the data
	entry := f.Malloc(40, 16, library)     // in the table
	buffer := f.Malloc(90000, 16, library) // in the entry, with a colour in its low bits
	behind := f.Malloc(24, 16, library)    // in the buffer
	f.Malloc(100, 16, library)             // returned to the program, and lost
	known := f.Malloc(200, 16, program)    // the program's, in the data
	f.Malloc(300, 16, loader)
	// The first two words are the range, of the four behind them.
	data := uintptr(f.scratch) + 2*sys.WordBytes
	f.scratchWord(0, data)
	f.scratchWord(1, data+4*sys.WordBytes)
	f.scratchWord(2, 0)
	f.scratchWord(3, uintptr(table))
	f.scratchWord(4, uintptr(known))
	f.scratchWord(5, 12345)
	(table + 8).SetWord(uintptr(entry))
	(entry + 16).SetWord(uintptr(buffer) + 1)
	(buffer + 800).SetWord(uintptr(behind))
	var totals LeakTotals
	f.FindLeaks(f.scratch, 1, &totals)
	want := LeakTotals{Blocks: 2, Bytes: 300, SystemBlocks: 5, SystemBytes: 64 + 40 + 90000 + 24 + 300}
	if totals != want {
		t.Errorf("found %+v, expected %+v", totals, want)
	}
	if blocks, bytes := f.StackLeaks(library); blocks != 1 || bytes != 100 {
		t.Errorf("on the library's stack: %d blocks, %d bytes", blocks, bytes)
	}
	f.none(t)
}

func TestAChildReportsOnlyWhatItAllocated(t *testing.T) {
	f := newFixture(t, true)
	inherited := f.malloc(t, 10)
	f.malloc(t, 100000)
	f.ForkPrepare()
	f.ForkChild()
	f.malloc(t, 33)
	f.Free(inherited, 0)
	var totals LeakTotals
	if !f.FindLeaks(0, 0, &totals) || totals.Blocks != 1 || totals.Bytes != 33 {
		t.Errorf("found %+v", totals)
	}
	f.none(t)
}

// The fault stands for what a program does between its last allocation and its end.
func TestTheEndFindsWritesThatNoCallFound(t *testing.T) {
	f := newFixture(t, true)
	for _, size := range []uintptr{60, 90000} {
		freed, kept := f.malloc(t, size), f.malloc(t, size)
		f.Free(freed, 0)
		for _, wrong := range []struct {
			at   sys.Addr
			what uint32
		}{{freed + 20, FoundWrittenFreed}, {kept + sys.Addr(size), FoundPastEnd}} {
			before := *byteAt(wrong.at)
			*byteAt(wrong.at) = 'x'
			var finding Finding
			if f.CheckAll(&finding) || finding.What != wrong.what {
				t.Errorf("%d bytes: found %+v", size, finding)
			}
			*byteAt(wrong.at) = before
		}
	}
	f.none(t)
}

func TestManyLargeBlocksAreFoundAgain(t *testing.T) {
	f := newFixture(t, true)
	var blocks []sys.Addr
	for i := 0; i < 6000; i++ { // the table grows on the way
		address := sys.Addr(0x10000 + i*0x8010)
		f.addLarge(address, uintptr(i+1), 0)
		blocks = append(blocks, address)
	}
	for i := 0; i < len(blocks); i += 2 {
		f.large.removeLocked(blocks[i])
	}
	f.none(t)
	for i, address := range blocks {
		e := f.large.findLocked(address)
		if (e != nil) != (i%2 == 1) || e != nil && e.asked != uint64(i+1) {
			t.Fatalf("block %d: %+v", i, e)
		}
	}
	for i := 1; i < len(blocks); i += 2 {
		f.large.removeLocked(blocks[i])
	}
	if f.large.count != 0 {
		t.Errorf("%d blocks are left", f.large.count)
	}
}
