package managed

import (
	"runtime"
	"sync"
	"time"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// Mode says which collections there are.
type Mode int32

// The modes of a heap.
const (
	// Enabled has the heap collect when enough was allocated, or memory is short.
	Enabled Mode = iota
	// Manual has it collect only when Collect or CollectIncremental is called; otherwise it grows.
	Manual
	// Disabled has it never collect; it grows.
	Disabled
)

func (mode Mode) String() string {
	if !mode.isKnown() {
		return "unknown mode"
	}
	return [...]string{"enabled", "manual", "disabled"}[mode]
}

func (mode Mode) isKnown() bool { return mode >= Enabled && mode <= Disabled }

// SetMode sets the mode. A collection that is going on in slices stands still while the heap is Disabled. What is no
// mode changes nothing.
func (h *Heap) SetMode(mode Mode) {
	if mode.isKnown() {
		h.mode.Store(int32(mode))
	}
}

// Mode is what SetMode said.
func (h *Heap) Mode() Mode { return Mode(h.mode.Load()) }

// SetTimeSlice makes automatic collections incremental: marking is done in slices of about this length, spread over the
// allocations of all mutators, and they run in between. 0 makes a collection one pause, with all processors at work,
// which takes the least time in all.
func (h *Heap) SetTimeSlice(slice time.Duration) { h.slice.Store(int64(max(slice, 0))) }

// TimeSlice is what SetTimeSlice said.
func (h *Heap) TimeSlice() time.Duration { return time.Duration(h.slice.Load()) }

// Cause is why a collection began.
type Cause string

// The causes of collections.
const (
	CauseAllocation Cause = "allocation" // enough was allocated since the last one
	CauseMemory     Cause = "memory"     // there was no memory for an object
	CauseCall       Cause = "call"       // of Collect or CollectIncremental
)

// Collection is what a collection did.
type Collection struct {
	Number      uint64
	Cause       Cause
	Incremental bool          // the mutators ran in between
	Duration    time.Duration // from its beginning to its end
	Pause       time.Duration // in all: while the mutators stood
	Longest     time.Duration // of the pauses
	Pauses      int
	Waited      time.Duration // of Pause: until the mutators came to their safepoints
	BeforeBytes int64         // alive or allocated since the collection before
	LiveBytes   int64         // alive afterwards
	Finalizers  int           // that may run now
}

// cycle is the collection that is going on. Under Heap.collecting.
//
//	active   from the first pause until somebody finds all blocks sorted, perhaps by allocations, and calls endCycle
//	marked   from the last pause on: blocks are being sorted, and the mutators run
//	sliced   the mutators ran before the last pause
type cycle struct {
	active, marked, sliced bool
	helpers                int
	began                  time.Time
	at                     Collection
	lost                   sys.Addr // WithVerify: an object that should have been marked
}

// OnCollect has f called after each collection, by the goroutine that made it, while that is no mutator. f may allocate
// through Do, but not collect: it would be called again.
func (h *Heap) OnCollect(f func(Collection)) {
	if f == nil {
		return
	}
	h.pausesMu.Lock()
	h.observer = append(h.observer, f)
	h.pausesMu.Unlock()
}

// Collect makes a full collection, and returns when it is over; free memory stays with the heap (see Trim). It does
// nothing in the mode Disabled. A running mutator calls Mutator.Collect instead.
func (h *Heap) Collect() { h.collect(CauseCall, ^uint64(0)) }

// Collect is Heap.Collect. It is a safepoint.
func (m *Mutator) Collect() { m.Blocking(m.heap.Collect) }

// collect is Collect for an allocation. A collection that somebody else has begun meanwhile is enough. It reports
// whether what was dead when it was called is free now.
func (m *Mutator) collect(cause Cause) (all bool) {
	seen := m.heap.begun.Load()
	m.Blocking(func() { all = m.heap.collect(cause, seen) })
	return all
}

// collect makes a full collection, unless one has begun since the number seen: that one it finishes. To finish an older
// one is enough for CauseAllocation. It reports whether one that began since the number seen is over.
func (h *Heap) collect(cause Cause, seen uint64) (all bool) {
	h.collecting.Lock()
	if !h.usable() || Mode(h.mode.Load()) == Disabled {
		h.collecting.Unlock()
		return false
	}
	all = seen != ^uint64(0) && h.begun.Load() != seen
	var done []Collection
	if h.cycle.active {
		// What died since it began is not found by it: a call, and an object without memory, want that too.
		if !h.cycle.marked {
			h.pause(func() { h.endMarking() })
		}
		h.core.Sort(0)
		done = append(done, h.endCycle())
	}
	if !all && (len(done) == 0 || cause != CauseAllocation) {
		all = true
		h.pause(func() {
			h.beginMarking(cause, h.helpers())
			h.drain(0)
			h.endMarking()
		})
		h.core.Sort(0)
		done = append(done, h.endCycle())
	}
	h.collecting.Unlock()
	for _, c := range done {
		h.tell(c)
	}
	return all
}

// CollectIncremental works on a collection for about so long, and begins one if none is going on. It returns true if
// more is to be done: the collection ends with the call that returns false. It is for programs that know when they have
// time, as at the end of a frame; with the mode Manual nobody else collects. It does nothing in the mode Disabled. A
// running mutator calls Mutator.CollectIncremental instead.
func (h *Heap) CollectIncremental(most time.Duration) bool {
	h.collecting.Lock()
	if !h.usable() || Mode(h.mode.Load()) == Disabled {
		more := h.cycle.active
		h.collecting.Unlock()
		return more
	}
	return !h.sliceAndUnlock(most, CauseCall)
}

// sliceAndUnlock is sliceLocked; then it gives collecting up, and tells of the collection if this was its end.
func (h *Heap) sliceAndUnlock(most time.Duration, cause Cause) (over bool) {
	over = h.sliceLocked(most, cause)
	done := Collection{}
	if over {
		done = h.endCycle()
	}
	h.collecting.Unlock()
	if over {
		h.tell(done)
	}
	return over
}

// CollectIncremental is Heap.CollectIncremental. It is a safepoint.
func (m *Mutator) CollectIncremental(most time.Duration) (more bool) {
	m.Blocking(func() { more = m.heap.CollectIncremental(most) })
	return more
}

// sliceLocked marks or sorts for some time, and reports whether the collection is over. collecting is held.
func (h *Heap) sliceLocked(most time.Duration, cause Cause) (over bool) {
	deadline := sys.Now() + uint64(max(most, 0))
	if h.cycle.marked {
		return h.core.Sort(deadline)
	}
	h.pause(func() {
		if !h.cycle.active {
			// To wake helpers and to wait for them takes too much of a slice.
			h.beginMarking(cause, 0)
		}
		if h.drain(max(deadline, 1)) {
			h.endMarking()
		} else if !h.cycle.sliced {
			h.cycle.sliced = true
			barriers.Add(1)
		}
	})
	return h.cycle.marked && h.core.Sort(deadline)
}

// pause stops the mutators, calls f with the core held, and lets them run again.
func (h *Heap) pause(f func()) {
	began := time.Now()
	h.stopWorld()
	waited := time.Since(began)
	h.core.Hold()
	f()
	h.core.Unhold()
	h.startWorld()
	took := time.Since(began)
	at := &h.cycle.at
	at.Pause += took
	at.Waited += waited
	at.Longest = max(at.Longest, took)
	at.Pauses++
	h.pausesMu.Lock()
	h.pauses.add(took, waited)
	h.pausesMu.Unlock()
}

func (h *Heap) beginMarking(cause Cause, helpers int) {
	h.cycle = cycle{active: true, began: time.Now(), at: Collection{Cause: cause}, helpers: helpers}
	h.begun.Add(1)
	h.core.DropChains()
	h.core.BeginCycle(true)
	h.markRoots()
	h.core.StartHelpers(uint32(helpers))
}

// helpers is how many goroutines are worth their waking for a collection without slices.
func (h *Heap) helpers() int {
	return min(int(h.core.HelpersWanted()), h.options.helpers, runtime.GOMAXPROCS(0)-1)
}

// drain marks until nothing is left to be marked, or until deadline, and reports which.
func (h *Heap) drain(deadline uint64) bool {
	var helping sync.WaitGroup
	for number := range h.cycle.helpers {
		helping.Add(1)
		go func() {
			defer helping.Done()
			h.core.Help(uint32(number) + 1)
		}()
	}
	done := h.core.Drain(deadline)
	helping.Wait()
	return done
}

// endMarking finishes the marking that is left: what is not marked is free then.
func (h *Heap) endMarking() {
	h.drain(0)
	if h.options.verify != nil {
		h.verifyRoots()
	}
	h.core.FinishMarking()
	h.core.StartSweep()
	if h.cycle.sliced {
		barriers.Add(-1)
	}
	h.cycle.marked = true
}

// endCycle counts a collection when all blocks are sorted.
func (h *Heap) endCycle() Collection {
	h.cycle.active, h.cycle.marked = false, false
	h.collections.Add(1)
	var s core.Stats
	h.core.ReadStats(&s)
	at := h.cycle.at
	at.Number = s.Collections
	at.Incremental = h.cycle.sliced
	at.Duration = time.Since(h.cycle.began)
	at.BeforeBytes, at.LiveBytes = int64(s.BeforeBytes), int64(s.LiveBytes)
	at.Finalizers = int(h.core.ReadyCount())
	h.pacer.settle(h, &at, &s)
	h.pausesMu.Lock()
	h.pauses.count(&at)
	h.pausesMu.Unlock()
	h.takeDifferences()
	return at
}

// tell is what is done about a collection by a goroutine that holds no lock.
func (h *Heap) tell(c Collection) {
	h.startFinalizers()
	h.arm()
	h.pausesMu.Lock()
	observers, wrong := h.observer, h.wrong
	h.wrong = nil
	h.pausesMu.Unlock()
	for _, e := range wrong {
		h.options.verify(e)
	}
	for _, f := range observers {
		f(c)
	}
}
