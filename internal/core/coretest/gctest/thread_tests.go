package gctest

import (
	"sync"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// threadTests: several threads at once. They stop where they ask for a collection, as those of a Go program do.
var threadTests = []Test{
	{Name: "threads allocate, free and collect at the same time", Run: testThreads},
	{Name: "threads come and go while others allocate", Run: testThreadsComeAndGo},
	{Name: "threads run out of memory together and go on", Run: testThreadsLimited},
}

const (
	threadCount = 4
	threadRoots = 256 // of each
)

// threads is a heap with roots for several threads. Each holds world for reading while it works.
type threads struct {
	t       kit.T
	h       *gc.Heap
	roots   sys.Addr
	rig     *rig
	world   sync.RWMutex
	collect sync.Mutex
	failed  [threadCount]string
}

func newThreads(t kit.T, limit uintptr) *threads {
	r := newRigOf(t, rigRange, gc.ModeInterior, limit)
	return &threads{t: t, h: r.h, rig: r, roots: memoryFor(t, threadCount*threadRoots*sys.WordBytes)}
}

func (ts *threads) close() {
	for number, failed := range ts.failed {
		if failed != "" {
			ts.t.Errorf("thread %d: %s", number, failed)
		}
	}
	ts.stop()
	ts.rig.check()
	ts.rig.close()
	sys.Release(ts.roots, sys.AlignUp(threadCount*threadRoots*sys.WordBytes, sys.PageBytes()))
}

// run runs a function in every thread. It works with the world's lock taken for reading.
func (ts *threads) run(work func(ts *threads, number int) string) {
	var wait sync.WaitGroup
	for number := 0; number < threadCount; number++ {
		wait.Add(1)
		go func(number int) {
			defer wait.Done()
			ts.world.RLock()
			ts.failed[number] = work(ts, number)
			ts.world.RUnlock()
		}(number)
	}
	wait.Wait()
}

// stop collects while all others wait.
func (ts *threads) stop() {
	ts.world.Lock()
	if !ts.h.Hold() {
		ts.t.Errorf("somebody holds the heap")
	}
	ts.h.BeginCycle(true)
	ts.h.MarkUncollectable()
	ts.h.MarkRange(ts.roots, ts.roots+threadCount*threadRoots*sys.WordBytes)
	for !ts.h.Drain(0) {
	}
	ts.h.FinishMarking()
	ts.h.StartSweep()
	ts.h.Unhold()
	ts.world.Unlock()
	ts.h.Sort(0)
}

// alloc makes an object. The caller's roots are all that keeps others alive meanwhile.
func (ts *threads) alloc(c gc.Cache, bytes uintptr, kind uint32) sys.Addr {
	if c != 0 {
		if object := ts.h.Alloc(c, bytes, kind); object != 0 {
			return object
		}
	}
	object, need := ts.h.AllocSlow(c, bytes, kind, 0)
	if object == 0 && need == gc.NeedCollect {
		ts.world.RUnlock()
		ts.stop()
		ts.world.RLock()
		object, _ = ts.h.AllocSlow(c, bytes, kind, gc.FlagExpand)
	}
	return object
}

// held is what a thread keeps in its roots.
type held struct {
	addr  sys.Addr
	words uintptr
	mark  uintptr
}

// fill writes a pattern that cannot be taken for addresses.
func (o held) fill() {
	for i := uintptr(0); i < o.words; i++ {
		(o.addr + sys.Addr(i*sys.WordBytes)).SetWord(o.mark ^ i | 1<<63)
	}
}

func (o held) isIntact() bool {
	for i := uintptr(0); i < o.words; i++ {
		if (o.addr + sys.Addr(i*sys.WordBytes)).Word() != (o.mark ^ i | 1<<63) {
			return false
		}
	}
	return true
}

// work keeps objects in the thread's roots, and makes, frees and forgets them in turn.
func (ts *threads) work(c gc.Cache, number, steps int, mayFail bool) string {
	random := newRandom(uint64(number) + 100)
	roots := ts.roots + sys.Addr(number*threadRoots*sys.WordBytes)
	var all [threadRoots]held
	for step := 0; step < steps; step++ {
		i := random.Below(threadRoots)
		root := roots + sys.Addr(i*sys.WordBytes)
		if all[i].addr != 0 {
			if !all[i].isIntact() {
				return "an object has lost what it held"
			}
			root.SetWord(0)
			if random.Below(4) == 0 && !ts.h.Free(c, all[i].addr) {
				return "Free refuses an object in use"
			}
			all[i] = held{}
		}
		bytes := random.size(4000)
		kind := uint32(random.Below(2))
		addr := ts.alloc(c, bytes, kind)
		if addr == 0 {
			if !mayFail {
				return "there is no memory"
			}
			continue
		}
		if kind == gc.KindNormal && firstNotZero(addr, 0, bytes) >= 0 {
			return "a new object is not zero"
		}
		all[i] = held{addr, bytes / sys.WordBytes, uintptr(random.Next())}
		all[i].fill()
		root.SetWord(uintptr(addr))
	}
	for i := range all {
		if !all[i].isIntact() {
			return "an object has lost what it held"
		}
		(roots + sys.Addr(i*sys.WordBytes)).SetWord(0)
	}
	return ""
}

func testThreads(t kit.T) {
	ts := newThreads(t, 0)
	ts.run(func(ts *threads, number int) string {
		c := ts.h.NewCache()
		if number == threadCount-1 {
			c = 0
		}
		return ts.work(c, number, 6000, false)
	})
	ts.close()
}

func testThreadsComeAndGo(t kit.T) {
	ts := newThreads(t, 0)
	ts.run(func(ts *threads, number int) string {
		for life := 0; life < 20; life++ {
			c := ts.h.NewCache()
			if failed := ts.work(c, number, 300, false); failed != "" {
				return failed
			}
			ts.h.DropCache(c)
			ts.h.Idle(uint64(life)*second, second)
			ts.h.SweepAll(5)
		}
		return ""
	})
	ts.close()
}

func testThreadsLimited(t kit.T) {
	ts := newThreads(t, 1<<20)
	ts.run(func(ts *threads, number int) string {
		c := ts.h.NewCache()
		for life := 0; life < 3; life++ {
			if failed := ts.work(c, number, 2000, true); failed != "" {
				return failed
			}
		}
		ts.h.DropCache(c)
		return ""
	})
	ts.close()
}
