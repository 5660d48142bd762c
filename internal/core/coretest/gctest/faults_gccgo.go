//go:build gccgo

package gctest

import (
	"unsafe"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// This file: what happens when the system refuses something, and when a signal handler interrupts the heap and calls
// it. The gccgo build's doubles can make a call fail, and its locks know their holders.

// takeDisclaimed is the sum of the procedures' numbers over the calls since the last time.
//
//extern granary_test_take_disclaimed
func takeDisclaimed() int

// The calls that granary_test_fail can make fail.
const (
	callReserve = iota
	callCommit
	callDecommit
)

// failCalls makes a call fail times times, after it has worked after more times.
//
//extern granary_test_fail
func failCalls(call, after, times int)

// failedCalls is how often a call was made to fail since failCalls.
//
//extern granary_test_failed
func failedCalls(call int) int

const always = 1 << 30

var faultTests = []Test{
	{Name: "a heap for which there are no addresses does not start", Run: testReserveRefused},
	{Name: "the system refuses memory at any point", Run: testCommitRefused},
	{Name: "the system refuses memory for a while", Run: testCommitRefusedForAWhile},
	{Name: "the system does not take memory back", Run: testDecommitRefused},
	{Name: "a signal handler amid the heap gets no memory and does no harm", Run: testInsideTheHeap},
}

func testReserveRefused(t kit.T) {
	for after := 0; ; after++ {
		memory := memoryFor(t, unsafe.Sizeof(gc.Heap{}))
		h := (*gc.Heap)(memory.Pointer())
		failCalls(callReserve, after, always)
		started := h.Init(leastRange, 0, 0)
		failCalls(callReserve, 0, 0)
		if started {
			if after < 2 {
				t.Errorf("a heap started with %d pieces of address space", after)
			}
			h.Destroy()
		}
		sys.Release(memory, sys.AlignUp(unsafe.Sizeof(gc.Heap{}), sys.PageBytes()))
		if started {
			return
		}
	}
}

// startFailing starts a rig whose heap finds that the system refuses to commit after some calls. It returns nil if the
// heap does not even start.
func startFailing(t kit.T, after int) *rig {
	failCalls(callCommit, after+2, always) // the first two are for the rig's own memory
	return startRig(t, leastRange, gc.ModeInterior, 0)
}

func testCommitRefused(t kit.T) {
	for after, refused := 0, true; refused; after++ {
		r := startFailing(t, after)
		if r != nil {
			r.full, r.every = true, 61
			if r.caches[0] == 0 {
				r.caches = nil
			}
			r.runScript(&script{data: RandomScript(uint64(after%5), 2500)}, 800)
			for i := 0; i < 40; i++ {
				r.keep(0, 100000, gc.KindNormal, 0)
			}
			r.check()
			refused = failedCalls(callCommit) != 0
			if refused && r.failed == 0 && after < 8 {
				t.Errorf("the system refused after %d calls, and every allocation worked", after)
			}
		} else if after > 12 {
			t.Fatalf("a heap did not start because the commit after %d others failed", after)
		}
		failCalls(callCommit, 0, 0)
		if r != nil {
			r.close()
		}
		if !refused && after < 8 {
			t.Errorf("only %d commits were made: the test is too small", after)
		}
	}
}

func testCommitRefusedForAWhile(t kit.T) {
	r := newRigOf(t, leastRange, 0, 0)
	r.full, r.every = true, 61
	failCalls(callCommit, 0, always)
	for r.failed == 0 {
		r.keep(0, 30000, gc.KindNormal, 0)
	}
	count := len(r.all)
	failCalls(callCommit, 0, 0)
	r.full = false
	for i := 0; i < 200; i++ {
		r.keep(0, 30000, gc.KindNormal, 0)
	}
	if len(r.all) < count+200 {
		t.Errorf("objects are gone")
	}
	r.close()
}

func testDecommitRefused(t kit.T) {
	r := newRig(t, 0)
	r.every = 0
	for i := 0; i < 60; i++ {
		r.alloc(0, 50000, gc.KindNormal, gc.FlagExpand)
	}
	r.collect()
	r.idle(0, second)
	failCalls(callDecommit, 0, always)
	if bytes, wake := r.idle(second, second); bytes != 0 || wake == 0 || failedCalls(callDecommit) == 0 {
		t.Errorf("%d bytes went back although the system refused %d times, wake %d", bytes, failedCalls(callDecommit), wake)
	}
	failCalls(callDecommit, 0, 0)
	r.check()
	for i := 0; i < 30; i++ {
		r.keep(0, 50000, gc.KindNormal, gc.FlagExpand) // reads as zero, says the rig
	}
	r.idle(second, second)
	if bytes, _ := r.idle(second, second); bytes < 1<<20 {
		t.Errorf("the system takes memory again, and got %d bytes", bytes)
	}
	r.close()
}

func testInsideTheHeap(t kit.T) {
	r := newRig(t, gc.ModeInterior)
	r.every = 0
	random := newRandom(11)
	for i := 0; i < 500; i++ {
		r.keep(0, random.size(3000), uint32(random.Below(kindsOfRigs)), 0)
	}
	r.check()
	r.hold() // as a thread has it that a signal interrupts at the worst moment
	for i := 0; i < 300; i++ {
		kind := uint32(random.Below(kindsOfRigs))
		if addr, need := r.h.AllocSlow(0, random.size(6000), kind, 0); addr != 0 || need != gc.NeedMemory {
			t.Fatalf("an allocation amid the heap gave %#x, need %d", uintptr(addr), need)
		}
		o := r.all[random.Below(uintptr(len(r.all)))]
		if r.h.Free(r.cache(0), o.addr) || r.h.Free(0, o.addr) || o.size > gc.SmallMaxBytes && r.h.Resize(o.addr, 9000) {
			t.Fatalf("an object was freed or resized amid the heap")
		}
	}
	if c := r.h.NewCache(); c != 0 {
		t.Errorf("a thread got a cache amid the heap")
	}
	if r.h.ForkPrepare() {
		t.Errorf("ForkPrepare took locks that are held")
	}
	if done, _ := r.h.Idle(r.now, 0); done.Bytes != 0 {
		t.Errorf("%d bytes were released amid the heap", done.Bytes)
	}
	if r.h.Expand(1 << 20) {
		t.Errorf("the heap grew amid a change of it")
	}
	r.h.Unhold()
	r.check()
	r.mustHoldAll()
	r.collect()
	r.close()
}
