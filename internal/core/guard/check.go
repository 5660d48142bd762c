package guard

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// Check walks everything the guard knows and returns what is wrong with it, "" if nothing is. No
// other thread may use the guard meanwhile. It is for tests; CheckAll looks for faults of the
// program.
func (g *Guard) Check() string {
	q := &g.quarantine
	count, bytes, last, cursor := uint32(0), uintptr(0), uint32(0), q.cursor == 0
	for ref := q.head; ref != 0; ref = g.record(g.h().Locate(g.blockOf(ref))).next {
		place := g.h().Locate(g.blockOf(ref))
		r := g.record(place)
		if place.Start != g.blockOf(ref) || r.class() != place.Class || r.state() != stateFreed {
			return "guard: the quarantine holds a block that is not freed"
		}
		if count > quarantineMost {
			return "guard: the quarantine is too long, or a ring"
		}
		count++
		bytes += heap.ClassBytes(place.Class)
		last = ref
		cursor = cursor || ref == q.cursor
	}
	if count != q.count || bytes != q.bytes || last != q.tail {
		return "guard: the quarantine miscounts its blocks"
	}
	if !cursor {
		return "guard: the cursor is not in the quarantine"
	}
	if freed := g.countState(stateFreed); freed != uintptr(count) {
		return "guard: a freed block is not in the quarantine"
	}
	return g.checkLarge()
}

// countState counts the records of spans in a state.
func (g *Guard) countState(state uint32) uintptr {
	total := uintptr(0)
	for granule := uintptr(0); g.hasRecords(granule); granule++ {
		class := g.h().SpanAt(granule)
		place := heap.Place{Class: class, First: granule}
		for ; class != 0 && place.Index < heap.ClassBlocks(class); place.Index++ {
			if r := g.record(place); r.class() == class && r.state() == state {
				total++
			}
		}
	}
	return total
}

func (g *Guard) checkLarge() string {
	t := &g.large
	count, freed, bytes := uintptr(0), uintptr(0), uintptr(0)
	for i := uintptr(0); i < t.capacity; i++ {
		e := t.at(i)
		if e.addr == 0 {
			continue
		}
		count++
		if t.findLocked(e.addr) != e {
			return "guard: a large block cannot be found"
		}
		if e.state() == stateFreed {
			freed++
			bytes += uintptr(e.asked)
		}
	}
	if count != t.count || freed != t.queueCount || bytes != t.queueBytes {
		return "guard: the table of large blocks miscounts"
	}
	for i := uintptr(0); i < t.queueCount; i++ {
		addr := sys.Addr(t.queue[(t.queueFirst+i)&(largeQueueMost-1)])
		if e := t.findLocked(addr); e == nil || e.state() != stateFreed {
			return "guard: the queue of large blocks holds one that is not freed"
		}
	}
	return ""
}
