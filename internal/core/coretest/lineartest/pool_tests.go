package lineartest

import (
	"granary/internal/core/linear"
	"granary/internal/core/sys"
)

var poolTests = []Test{
	{Name: "allocations of a worker lie side by side", Run: testSideBySide},
	{Name: "a block whose last allocation is freed starts again", Run: testStartsAgain},
	{Name: "a full block is exchanged, and comes back when anybody frees its last allocation", Run: testExchange},
	{Name: "a worker finds its block free when others freed all of it", Run: testFreedByOthers},
	{Name: "a dropped worker's block goes back with its last allocation", Run: testDropWorker},
	{Name: "a dropped worker is used again", Run: testWorkersAgain},
	{Name: "the smaller rest of two blocks is given up", Run: testLargerRest},
	{Name: "a reset frees everything", Run: testReset},
	{Name: "fresh memory reads as zero and used memory is cleared", Run: testClear},
	{Name: "reserved memory never shrinks and is given back at the end", Run: testReserved},
}

const kib = 1 << 10

func small(blocks uint32) linear.Config {
	return linear.Config{BlockBytes: 64 * kib, Blocks: blocks, MaxAge: 4}
}

func testSideBySide(t T) {
	r := newRig(t, small(4), 1)
	first := r.alloc(0, 64, 16, 0).at
	for i := 1; i < 100; i++ {
		if at := r.alloc(0, 50, 8, 0).at; at != first+sys.Addr(i*64) {
			t.Fatalf("allocation %d lies %d bytes behind the first", i, at-first)
		}
	}
	r.check(true)
	r.close()
}

func testStartsAgain(t T) {
	r := newRig(t, small(4), 1)
	first := r.alloc(0, 64, 16, 0).at
	for i := 0; i < 5000; i++ {
		r.free(0, 0)
		if at := r.alloc(0, 64, 16, 0).at; at != first {
			t.Fatalf("the block did not start again")
		}
	}
	r.check(true)
	r.close()
}

// used is the number of blocks in use and their peak.
func (r *rig) used() (now, peak uint64) {
	var stats linear.Stats
	r.a.Read(&stats)
	return stats.BlocksUsed, stats.BlocksPeak
}

func (r *rig) expectUsed(now, peak uint64, when string) {
	if n, p := r.used(); n != now || p != peak {
		r.Fatalf("%s %d blocks are in use, %d at most; want %d and %d", when, n, p, now, peak)
	}
	r.check(true)
}

func testExchange(t T) {
	for freer := -1; freer < 2; freer++ {
		r := newRig(t, small(4), 2)
		for i := 0; i < 3*64; i++ { // 64 of 1 KiB fill a block
			r.alloc(0, kib, 16, 0)
		}
		r.expectUsed(3, 3, "after three blocks' worth")
		for i := 0; i < 64; i++ {
			r.freeFirstOf(freer, 0)
		}
		r.expectUsed(2, 3, "when the first block is free")
		for i := 0; i < 64; i++ {
			r.alloc(1, kib, 16, 0)
		}
		r.expectUsed(3, 3, "when another worker took it")
		r.close()
	}
}

// freeFirstOf frees the oldest allocation of a worker.
func (r *rig) freeFirstOf(freer, worker int) {
	oldest := -1
	for i := range r.live {
		if r.live[i].worker == worker && (oldest < 0 || r.live[i].fill < r.live[oldest].fill) {
			oldest = i
		}
	}
	r.free(freer, oldest)
}

func testFreedByOthers(t T) {
	r := newRig(t, small(4), 2)
	for round := 0; round < 10; round++ {
		for i := 0; i < 64; i++ {
			r.alloc(0, kib, 16, 0)
		}
		for len(r.live) > 0 {
			r.free(1, 0)
		}
		r.expectUsed(1, 1, "as others free all")
	}
	r.close()
}

func testDropWorker(t T) {
	r := newRig(t, small(4), 2)
	r.alloc(0, 100, 16, 0)
	r.alloc(0, 100, 16, 0)
	r.a.DropWorker(r.workers[0])
	r.expectUsed(1, 1, "with two allocations of a worker that is gone")
	r.free(1, 0)
	r.expectUsed(1, 1, "with one allocation of a worker that is gone")
	r.free(-1, 0)
	r.expectUsed(0, 1, "with none")
	r.close()
}

func testWorkersAgain(t T) {
	r := newRig(t, small(4), 0)
	var all []*linear.Worker
	for {
		w := r.a.AddWorker()
		if w == nil {
			break
		}
		all = append(all, w)
	}
	if len(all) != linear.WorkersMost {
		t.Fatalf("%d workers could be had", len(all))
	}
	r.workers = all
	r.alloc(7, 100, 16, 0)
	r.a.DropWorker(all[7])
	if w := r.a.AddWorker(); w != all[7] {
		t.Fatalf("a dropped worker was not used again")
	}
	r.check(true)
	r.close()
}

func testLargerRest(t T) {
	r := newRig(t, small(8), 1)
	first := r.alloc(0, 20*kib, 16, 0).at
	r.alloc(0, 60*kib, 16, 0) // alone: 4 KiB would be left of its block, 44 KiB are of the first
	if at := r.alloc(0, 16, 16, 0).at; at != first+20*kib {
		t.Fatalf("the block with the larger rest was given up")
	}
	r.alloc(0, 40*kib, 16, 0)
	r.alloc(0, 30*kib, 16, 0)
	r.expectUsed(3, 3, "with three large allocations and a small one")
	r.close()
}

func testReset(t T) {
	r := newRig(t, small(8), 2)
	for i := 0; i < 500; i++ {
		r.alloc(i%2, uintptr(i*10), 16, 0)
	}
	overflows := uint64(0)
	for _, m := range r.live {
		if m.overflow {
			overflows++
		}
	}
	r.a.Reset()
	r.live = nil
	var c linear.Cursor
	for r.a.TakeOverflow(&c) != 0 {
		overflows--
	}
	if overflows != 0 {
		t.Fatalf("%d overflows are missing", overflows)
	}
	r.check(true)
	if now, _ := r.used(); now > 2 {
		t.Fatalf("%d blocks are in use after a reset", now)
	}
	for i := 0; i < 500; i++ {
		r.alloc(i%2, uintptr(i*3), 16, 0)
	}
	r.check(true)
	r.close()
}

func testClear(t T) {
	r := newRig(t, small(8), 1)
	dirty := uintptr(0)
	for round := 0; round < 3; round++ {
		for i := 0; i < 300; i++ {
			size := uintptr(1 + i*7%900)
			if i%50 == 49 {
				size = 70*kib + uintptr(i)
			}
			w := r.workers[0]
			m := r.request(0, size, 16, 0)
			at, need := m.at, linear.Need(size)
			for offset := w.Dirty(at, need); offset < need; offset++ {
				if *(*byte)((at + sys.Addr(offset)).Pointer()) != 0 {
					t.Fatalf("byte %d of a fresh allocation of %d is not zero", offset, size)
				}
			}
			dirty += w.Dirty(at, need)
			r.add(m)
			if i%3 == 0 {
				r.free(0, len(r.live)-1)
			}
		}
		for len(r.live) > 0 {
			r.free(0, 0)
		}
		if round > 0 && dirty == 0 {
			t.Fatalf("used memory is said to read as zero")
		}
		r.nextFrame()
	}
	r.check(true)
	r.close()
}

func testReserved(t T) {
	r := newRig(t, small(64), 1)
	var stats linear.Stats
	peak := uint64(0)
	for i := 0; i < 64; i++ {
		r.alloc(0, 8*64*kib-uintptr(i)*kib, 16, 0)
		r.a.Read(&stats)
		if stats.Reserved < peak {
			t.Fatalf("reserved memory shrank")
		}
		peak = stats.Reserved
	}
	if stats.Reserved != 64*8*64*kib || stats.ReservedMost != stats.Reserved {
		t.Fatalf("%d bytes are reserved, at most %d: not 64 blocks of 8 times 64 KiB", stats.Reserved, stats.ReservedMost)
	}
	r.check(true)
	for len(r.live) > 0 {
		r.free(0, 0)
	}
	r.a.Read(&stats)
	if stats.Reserved != peak || stats.BlocksPeak != 64 {
		t.Fatalf("reserved memory shrank as allocations went")
	}
	r.close()
}
