package guard

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// Who allocates on a stack, as the glue finds out from its frames before leaks are counted.
const (
	KindProgram       = 0 // the program: a block never freed is a leak
	KindSystem        = 1 // the system's libraries for themselves
	KindSystemIfFound = 2 // one of them, for itself only if its data lead to the block
)

// Values of record.next while leaks are counted.
const (
	worklistEnd = 0xffffffff
	leakReached = 1 // large blocks
	leakScanned = 2
)

// LeakTotals are blocks never freed; struct leak_totals in clib/glue/guard.c has its layout.
type LeakTotals struct {
	Blocks, Bytes             uint64
	SystemBlocks, SystemBytes uint64
}

// FindLeaks counts the blocks that are live and were allocated by this process: on their stacks
// (StackLeaks), and in totals. ranges are pairs of words: where the data of the system's libraries
// begin and end. It returns false if a signal handler interrupted the guard.
func (g *Guard) FindLeaks(ranges sys.Addr, count uintptr, totals *LeakTotals) bool {
	g.drain()
	if !sys.Lock(&g.lock) {
		return false
	}
	worklist := uint32(worklistEnd)
	for i := uintptr(0); i < count; i++ {
		pair := ranges + sys.Addr(i*2*sys.WordBytes)
		worklist = g.reachLocked(sys.Addr(pair.Word()), sys.Addr((pair + 8).Word()), worklist)
	}
	g.reachAllLocked(worklist)
	g.countSpansLocked(totals)
	for i := uintptr(0); i < g.large.capacity; i++ {
		e := g.large.at(i)
		if e.addr != 0 && e.state() == stateLive {
			g.countLeakLocked(&e.record, totals)
		}
		e.next = 0
	}
	sys.Unlock(&g.lock)
	return true
}

// reachLocked looks for addresses of blocks in memory and puts those blocks on the worklist.
func (g *Guard) reachLocked(from, to sys.Addr, worklist uint32) uint32 {
	from = sys.Addr(sys.AlignUp(uintptr(from), sys.WordBytes))
	for ; from+sys.WordBytes <= to; from += sys.WordBytes {
		// The low bits of a pointer may be in use: the libc's search trees keep a colour there.
		block := sys.Addr(from.Word() &^ wordMask)
		if block == 0 {
			continue
		}
		place := g.h().Locate(block)
		if place.Class == 0 || !g.hasRecords(place.First) {
			e := g.large.findLocked(block)
			if e != nil && e.state() == stateLive && e.next == 0 && g.mayBeKept(&e.record) {
				e.next = leakReached
			}
			continue
		}
		r := g.record(place)
		if block == place.Start && r.class() == place.Class && r.state() == stateLive &&
			r.next == 0 && g.mayBeKept(r) {
			r.next = worklist
			worklist = g.refOf(block)
		}
	}
	return worklist
}

// mayBeKept reports whether a reference from a library's data counts for the block. Where stacks
// are not known it counts for every block.
func (g *Guard) mayBeKept(r *record) bool {
	return !g.patterns || g.stacks.at(r.allocStack).kind == KindSystemIfFound
}

// reachAllLocked follows the references in the blocks that were reached, until there are no more.
func (g *Guard) reachAllLocked(worklist uint32) {
	for {
		for worklist != worklistEnd {
			block := g.blockOf(worklist)
			r := g.record(g.h().Locate(block))
			worklist = g.reachLocked(block, block+sys.Addr(r.asked), r.next)
		}
		e := g.reachedLargeLocked()
		if e == nil {
			return
		}
		e.next = leakScanned
		worklist = g.reachLocked(e.addr, e.addr+sys.Addr(e.asked), worklist)
	}
}

func (g *Guard) reachedLargeLocked() *largeEntry {
	for i := uintptr(0); i < g.large.capacity; i++ {
		if e := g.large.at(i); e.addr != 0 && e.next == leakReached {
			return e
		}
	}
	return nil
}

func (g *Guard) countSpansLocked(totals *LeakTotals) {
	for granule := uintptr(0); g.hasRecords(granule); granule++ {
		class := g.h().SpanAt(granule)
		if class == 0 {
			continue
		}
		place := heap.Place{Class: class, First: granule}
		for ; place.Index < heap.ClassBlocks(class); place.Index++ {
			r := g.record(place)
			if r.state() == stateLive && r.class() == class {
				g.countLeakLocked(r, totals)
				r.next = 0
			}
		}
	}
}

func (g *Guard) countLeakLocked(r *record, totals *LeakTotals) {
	if r.generation() != g.generation&generationMask {
		return // the parent's
	}
	s := g.stacks.at(r.allocStack)
	if s.kind == KindSystem || r.next != 0 {
		totals.SystemBlocks++
		totals.SystemBytes += r.asked
		return
	}
	totals.Blocks++
	totals.Bytes += r.asked
	s.blocks++
	s.bytes += r.asked
}

// StackLeaks is what FindLeaks counted on a stack; stack 0 stands for all that are unknown.
func (g *Guard) StackLeaks(id uint32) (blocks, bytes uint64) {
	s := g.stacks.at(id)
	return s.blocks, s.bytes
}

// CheckAll looks at every block that is watched: those that wait in the queues and the ends of
// those that are live. It returns false, and fills f, if one was written to.
func (g *Guard) CheckAll(f *Finding) bool {
	if !sys.Lock(&g.lock) {
		return true
	}
	fine := g.checkQueuesLocked(f) && g.checkSpansLocked(f) && g.checkLargesLocked(f)
	sys.Unlock(&g.lock)
	return fine
}

func (g *Guard) checkQueuesLocked(f *Finding) bool {
	for ref := g.quarantine.head; ref != 0; {
		place := g.h().Locate(g.blockOf(ref))
		r := g.record(place)
		if !checkFreed(r, place, f) {
			return false
		}
		ref = r.next
	}
	for i := uintptr(0); i < g.large.queueCount; i++ {
		addr := g.large.queue[(g.large.queueFirst+i)&(largeQueueMost-1)]
		if e := g.large.findLocked(sys.Addr(addr)); e != nil && !checkLargeFreed(e, f) {
			return false
		}
	}
	return true
}

func (g *Guard) checkSpansLocked(f *Finding) bool {
	for granule := uintptr(0); g.hasRecords(granule); granule++ {
		class := g.h().SpanAt(granule)
		if class == 0 {
			continue
		}
		first := g.h().Base + sys.Addr(granule*recordsBytes)
		for i := uintptr(0); i < heap.ClassBlocks(class); i++ {
			start := first + sys.Addr(i*heap.ClassBytes(class))
			place := heap.Place{Class: class, Index: i, First: granule, Start: start}
			r := g.record(place)
			if r.state() == stateLive && r.class() == class && !g.checkCanary(r, place, f) {
				return false
			}
		}
	}
	return true
}

func (g *Guard) checkLargesLocked(f *Finding) bool {
	for i := uintptr(0); i < g.large.capacity; i++ {
		e := g.large.at(i)
		if e.addr != 0 && e.state() == stateLive && g.checkLargeLocked(e.addr, f) == nil {
			return false
		}
	}
	return true
}
