package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

var sweepTests = []Test{
	{Name: "memory that has been free for a second goes back, and not before", Run: testSweepAfterASecond},
	{Name: "a thread sweeps at most every quarter second", Run: testSweepQuarter},
	{Name: "memory given back reads as zero, and its addresses are used first", Run: testSweepZeroAgain},
	{Name: "a sweep for age 0 gives back at once what one thread and the pool hold", Run: testSweepAtOnce},
	{Name: "the span that a class keeps is given back when the class rests", Run: testSweepKeptSpan},
	{Name: "a class in use keeps its empty span", Run: testSweepClassInUse},
	{Name: "blocks in another thread's list delay a span only until they are handed over", Run: testSweepOtherThread},
	{Name: "a heap that keeps spans gives nothing back", Run: testSweepOff},
	{Name: "an idle thread without a cache sweeps too", Run: testSweepWithoutCache},
	{Name: "a program that frees and allocates in turns does not release", Run: testSweepTurns},
	{Name: "free pages of a span in use count as given back", Run: testSweepPages},
	{Name: "blocks that wait do not make the heap grow", Run: testSweepWaiting},
	{Name: "a thread whose reading of the clock is old makes nothing older", Run: testSweepOldClock},
}

// burst fills and frees some spans of a size.
func (r *rig) burst(cache int, size uintptr, count int) {
	for i := 0; i < count; i++ {
		r.malloc(cache, size)
	}
	r.freeAll(cache)
}

func (r *rig) dirtyBytes() uintptr { return r.h.Stats().Dirty }

func testSweepAfterASecond(t T) {
	r := newRig(t, 1)
	r.every = 101
	r.burst(0, 2048, 1000)
	runs, wake := r.idle(0, 0, heap.ReleaseNanoseconds) // the sweep sees what is free
	if runs != 0 || wake != r.now+heap.SweepNanoseconds {
		t.Fatalf("the first sweep released %d runs and wants to wake in %d ns", runs, wake-r.now)
	}
	dirty := r.dirtyBytes()
	if dirty < 1000*2048-4*(256<<10) {
		t.Fatalf("of 2 MB freed only %d bytes wait to be released", dirty)
	}
	for i := 0; i < 3; i++ {
		if runs, wake = r.idle(0, second/4, heap.ReleaseNanoseconds); runs != 0 || wake != r.now+second/4 {
			t.Fatalf("after %d quarters of a second %d runs were released; wake in %d ns", i+1, runs, wake-r.now)
		}
	}
	runs, wake = r.idle(0, second/4, heap.ReleaseNanoseconds)
	if runs == 0 || r.dirtyBytes() != 0 {
		t.Errorf("after a second %d runs were released, %d bytes are left", runs, r.dirtyBytes())
	}
	if wake != 0 {
		t.Errorf("everything was released, but the sweep wants to wake in %d ns", wake-r.now)
	}
	r.check()
	if r.stats.ReleasedBytes < uint64(dirty) || r.stats.SpansReleased < runs || r.stats.Sweeps != 5 {
		t.Errorf("the figures say %d bytes in %d spans by %d sweeps; %d were dirty", r.stats.ReleasedBytes,
			r.stats.SpansReleased, r.stats.Sweeps, dirty)
	}
	r.close()
}

func testSweepQuarter(t T) {
	r := newRig(t, 2)
	r.every = 101
	r.burst(0, 1024, 500)
	r.idle(0, 0, heap.ReleaseNanoseconds)
	first := r.now
	r.burst(0, 512, 40)
	_, _, cached := r.pool(512)
	for i := 0; i < 10; i++ {
		if _, wake := r.idle(0, 1000, heap.ReleaseNanoseconds); wake != first+heap.SweepNanoseconds {
			t.Fatalf("a call too early wants to wake at %d, the sweep is due at %d", wake, first+heap.SweepNanoseconds)
		}
	}
	if _, _, now := r.pool(512); now != cached || r.stats.Sweeps != 1 {
		t.Errorf("calls too early did something: %d sweeps, %d blocks cached of %d", r.stats.Sweeps, now, cached)
	}
	// Another thread hands over its own list, but the sweep is not due.
	r.burst(1, 96, 10)
	r.idle(1, 1000, heap.ReleaseNanoseconds)
	if _, _, now := r.pool(96); now != 0 || r.stats.Sweeps != 1 {
		t.Errorf("another thread's call: %d sweeps, %d blocks cached", r.stats.Sweeps, now)
	}
	r.idle(0, second/4, heap.ReleaseNanoseconds)
	if _, _, now := r.pool(512); now != 0 || r.stats.Sweeps != 2 {
		t.Errorf("a call after a quarter of a second: %d sweeps, %d blocks cached", r.stats.Sweeps, now)
	}
	r.close()
}

func testSweepZeroAgain(t T) {
	r := newRig(t, 1)
	r.every = 101
	for i := 0; i < 800; i++ {
		r.malloc(0, 1536)
	}
	var addresses []sys.Addr
	for _, b := range r.live {
		addresses = append(addresses, b.addr)
	}
	frontier := r.h.Frontier()
	r.freeAll(0)
	r.idle(0, 0, second)
	r.idle(0, second, second)
	if r.dirtyBytes() != 0 {
		t.Fatalf("%d bytes were not released after a second", r.dirtyBytes())
	}
	for _, addr := range addresses {
		granule := addr &^ (space.GranuleBytes - 1)
		mustRecommit(t, granule, space.GranuleBytes)
		if at := firstNotZero(addr, 1536); at >= 0 {
			t.Fatalf("block %#x was released and does not read as zero at %d", uintptr(addr), at)
		}
	}
	for i := 0; i < 800; i++ {
		r.calloc(0, 1, 1536)
	}
	if r.h.Frontier() != frontier {
		t.Errorf("the frontier moved from %d to %d", frontier, r.h.Frontier())
	}
	r.close()
}

// What waits after a burst of one size, a block here and there of every span, does not make another size grow the heap.
func testSweepWaiting(t T) {
	const bytes = 8 << 20
	r := newRig(t, 1)
	r.every = 0
	r.burst(0, 2048, 2*bytes/2048) // so that there is fresh memory without growth
	r.idle(0, 0, second)
	r.idle(0, second, second)
	for i := 0; i < bytes/1024; i++ {
		r.malloc(0, 1024)
	}
	for i := 0; len(r.live) > 0; i++ { // in no order
		r.free(0, r.live[i*7919%len(r.live)])
	}
	_, _, cached := r.pool(1024)
	if cached < 100 {
		t.Errorf("only %d blocks wait: this tests nothing", cached)
	}
	for i := 0; i < bytes/1280; i++ {
		r.malloc(0, 1280)
	}
	r.check()
	if held := uint64(r.h.HeldBytes()); held > bytes+bytes/4 {
		t.Errorf("the heap holds %d bytes for %d", held, bytes)
	}
	r.close()
}

func testSweepAtOnce(t T) {
	r := newRig(t, 1)
	r.every = 101
	for _, size := range []uintptr{16, 256, 2048, 10240} {
		r.burst(0, size, 700)
	}
	runs, wake := r.idle(0, 0, 0)
	r.check()
	if runs == 0 || wake != 0 || r.dirtyBytes() != 0 || r.stats.ResidentBytes != 0 {
		t.Errorf("a sweep for age 0 gave %d runs back; %d bytes dirty, %d resident, wake %d", runs, r.dirtyBytes(),
			r.stats.ResidentBytes, wake)
	}
	// It is not bound to the quarter of a second.
	r.burst(0, 2048, 700)
	if runs, _ := r.idle(0, 0, 0); runs == 0 {
		t.Errorf("a second sweep for age 0 at the same time gave nothing back")
	}
	r.close()
}

func testSweepKeptSpan(t T) {
	r := newRig(t, 1)
	r.burst(0, 64, 30)
	r.idle(0, 0, second)
	if now, _ := r.spans(64); now != 1 || r.stats.ResidentBytes == 0 {
		t.Fatalf("%d spans of the class, %d bytes resident", now, r.stats.ResidentBytes)
	}
	if _, wake := r.idle(0, second-1, second); wake == 0 || r.stats.ResidentBytes == 0 {
		t.Errorf("the kept span was given back too early; wake %d", wake)
	}
	r.idle(0, second/4, second)
	now, taken := r.spans(64)
	if now != 1 || r.stats.ResidentBytes != 0 {
		t.Errorf("after a second of rest: %d spans of the class, %d bytes resident", now, r.stats.ResidentBytes)
	}
	for i := 0; i < 30; i++ {
		r.calloc(0, 1, 64)
	}
	if _, again := r.spans(64); again != taken {
		t.Errorf("the class took a span although it kept one")
	}
	r.close()
}

func testSweepClassInUse(t T) {
	r := newRig(t, 1)
	for i := 0; i < 8; i++ {
		r.burst(0, 64, 30)
		r.idle(0, second/2, second)
	}
	r.check()
	if r.stats.ResidentBytes == 0 {
		t.Errorf("the span of a class in use was given back")
	}
	if r.stats.SpansReleased != 0 {
		t.Errorf("%d spans were released under a class in use", r.stats.SpansReleased)
	}
	r.close()
}

func testSweepOtherThread(t T) {
	r := newRig(t, 2)
	r.burst(1, 2048, 6) // few enough to stay in its list
	r.idle(0, 0, 0)
	if r.stats.ResidentBytes == 0 {
		t.Fatalf("a span was released while a thread holds blocks of it")
	}
	r.dropCache(1)
	r.idle(0, 0, 0)
	r.check()
	if r.stats.ResidentBytes != 0 {
		t.Errorf("the thread ended, but %d bytes stay resident", r.stats.ResidentBytes)
	}
	r.close()
}

func testSweepOff(t T) {
	r := newRigOf(t, leastRange, 1, heap.ModeKeepSpans, 0)
	r.every = 101
	r.burst(0, 2048, 700)
	for _, age := range []uint64{second, second, 0} {
		if runs, wake := r.idle(0, 2*second, age); runs != 0 || wake != 0 {
			t.Errorf("%d runs were released, wake %d", runs, wake)
		}
	}
	r.check()
	if r.stats.Sweeps != 0 || r.stats.ReleasedBytes != 0 {
		t.Errorf("%d sweeps released %d bytes", r.stats.Sweeps, r.stats.ReleasedBytes)
	}
	r.close()
}

func testSweepWithoutCache(t T) {
	r := newRig(t, 0)
	r.every = 101
	r.burst(0, 4096, 300)
	r.idle(0, 0, second)
	if runs, _ := r.idle(0, second, second); runs == 0 || r.dirtyBytes() != 0 {
		t.Errorf("%d runs were released, %d bytes are left", runs, r.dirtyBytes())
	}
	r.close()
}

func testSweepTurns(t T) {
	r := newRig(t, 1)
	r.every = 211
	for i := 0; i < 12; i++ {
		r.burst(0, 512, 600)
		r.idle(0, second/3, second)
	}
	r.check()
	if r.stats.SpansReleased != 0 {
		t.Errorf("%d spans were given back and taken again", r.stats.SpansReleased)
	}
	r.close()
}

func testSweepPages(t T) {
	r := newRig(t, 1)
	r.every = 101
	kept := r.malloc(0, 4096)
	for i := 0; i < 60; i++ {
		r.malloc(0, 4096)
	}
	for len(r.live) > 1 {
		last := r.live[len(r.live)-1]
		if last == kept {
			last = r.live[0]
		}
		r.free(0, last)
	}
	done, _ := r.h.Idle(r.cache(0), r.now, 0)
	stays := sys.AlignUp(4096, sys.PageBytes())
	if done.Runs != 0 || done.Bytes != uint64(64*4096-stays) {
		t.Errorf("one block of 64 in a span is in use, and each is a page or a part of one; the sweep says %d runs, "+
			"%d bytes", done.Runs, done.Bytes)
	}
	r.close()
}

func testSweepOldClock(t T) {
	r := newRig(t, 1)
	r.every = 101
	r.burst(0, 2048, 300)
	r.idle(0, 0, second)
	// Another thread read the clock before that sweep, and comes to its own only now.
	done, _ := r.h.Idle(r.cache(0), r.now-second/100, 0)
	if done.Runs == 0 || done.Longest != 0 {
		t.Errorf("%d runs were released, the longest free for %d ns; it was seen free this moment", done.Runs, done.Longest)
	}
	r.close()
}
