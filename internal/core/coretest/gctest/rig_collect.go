package gctest

import (
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// This file: collections of a rig's heap.

// collect runs a whole collection, or ends the one that is going on.
func (r *rig) collect() {
	if r.marking {
		r.finishMarking()
		return
	}
	r.hold()
	r.beginCycle()
	if !r.h.Drain(0) {
		r.t.Fatalf("Drain without a deadline did not end")
	}
	r.h.FinishMarking()
	r.h.StartSweep()
	r.h.Unhold()
	r.collected(true)
}

func (r *rig) hold() {
	if !r.h.Hold() {
		r.t.Fatalf("somebody holds the heap")
	}
}

func (r *rig) beginCycle() {
	r.h.BeginCycle(true)
	r.h.MarkUncollectable()
	r.h.MarkRange(r.roots, r.roots+rigRoots*sys.WordBytes)
	r.h.MarkRange(r.moreRoots, r.moreRootsEnd)
}

// slice begins a collection if none is going on, and marks some of what there is to mark.
func (r *rig) slice() {
	r.hold()
	if !r.marking {
		r.marking = true
		r.beginCycle()
	}
	if !r.h.Drain(1) {
		r.h.Unhold()
		return
	}
	r.h.FinishMarking()
	r.h.StartSweep()
	r.h.Unhold()
	r.marking = false
	r.collected(false)
}

func (r *rig) finishMarking() {
	for r.marking {
		r.slice()
	}
}

// collected compares what is marked with what can be reached. Unless the collection was exact, what could be reached as
// it began, and what was made since, may be marked too.
func (r *rig) collected(exact bool) {
	r.cycles++
	r.reach(func(o *object) bool { return o.root >= 0 || isUncollectable(o.kind) })
	bytes := uint64(0)
	for _, o := range r.all {
		marked := r.h.IsMarked(o.addr)
		if o.reached && !marked {
			r.t.Fatalf("after %d steps, collection %d: an object of %d bytes, kind %d, can be reached and is lost",
				r.steps, r.cycles, o.asked, o.kind)
		}
		if !o.reached && marked && exact && r.h.BaseOf(o.addr) == o.addr {
			r.t.Fatalf("after %d steps, collection %d: an object of %d bytes, kind %d, cannot be reached and was kept",
				r.steps, r.cycles, o.asked, o.kind)
		}
		if o.reached {
			r.mustHold(o)
			bytes += uint64(o.size)
		}
	}
	if r.lazy && r.cycles&1 != 0 {
		r.h.Sort(1)
	} else if !r.h.Sort(0) || r.h.IsSorting() {
		r.t.Fatalf("Sort without a deadline did not end")
	}
	r.h.ReadStats(&r.stats)
	if r.stats.LiveBytes < bytes && !r.h.IsSorting() {
		r.t.Fatalf("collection %d left %d bytes alive, the figures say %d", r.cycles, bytes, r.stats.LiveBytes)
	}
	r.dropUnreached()
	if r.every > 0 {
		r.check()
	}
}

// many takes a refill's worth of objects at once.
func (r *rig) many(cache int, granules uintptr, kind uint32) []*object {
	first, need := r.h.AllocMany(r.cache(cache), granules, kind, gc.FlagExpand)
	if first == 0 {
		if need != gc.NeedMemory || !r.full {
			r.t.Fatalf("AllocMany gives nothing, need %d", need)
		}
		return nil
	}
	var all []*object
	for addr := first; addr != 0; {
		next := sys.Addr(addr.Word())
		addr.SetWord(0)
		all = append(all, r.adopt(addr, r.h.SizeOf(addr)-r.extra, kind))
		addr = next
	}
	r.step()
	return all
}

// idle lets time pass and has the heap give memory back.
func (r *rig) idle(nanoseconds, age uint64) (bytes, wake uint64) {
	r.now += nanoseconds
	done, wake := r.h.Idle(r.now, age)
	if wake != 0 && wake < r.now {
		r.t.Fatalf("Idle at %d wants to be called again at %d", r.now, wake)
	}
	r.step()
	return done.Bytes, wake
}

// dropRoots has no root name anything.
func (r *rig) dropRoots() {
	for i := range r.rooted {
		r.setRoot(i, nil)
	}
}
