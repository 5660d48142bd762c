package linear

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"granary/heap"
	core "granary/internal/core/linear"
)

// follow knows the places that make allocations, by a number for each. All is under mu.
type follow struct {
	mu    sync.Mutex
	known map[stack]uint32
	sites []site // the first one is unused
}

type site struct {
	stack stack
	depth int
	told  bool
}

const stackDepth = 24

type stack [stackDepth]uintptr

func newFollow() *follow { return &follow{known: map[stack]uint32{}, sites: make([]site, 1)} }

// site is the number of the place that called into this package.
func (f *follow) site() uint32 {
	const own = 8 // frames of this package at the inner end, at most
	var all [stackDepth + own]uintptr
	pcs := all[:runtime.Callers(3, all[:])]
	for len(pcs) > 0 && isOwn(pcs[0]) {
		pcs = pcs[1:]
	}
	var key stack
	depth := copy(key[:], pcs)
	f.mu.Lock()
	defer f.mu.Unlock()
	number, ok := f.known[key]
	if !ok {
		number = uint32(len(f.sites))
		f.known[key] = number
		f.sites = append(f.sites, site{stack: key, depth: depth})
	}
	return number
}

const thisPackage = "granary/linear."

func isOwn(pc uintptr) bool {
	f := runtime.FuncForPC(pc - 1)
	if f == nil {
		return false
	}
	name, own := strings.CutPrefix(f.Name(), thisPackage)
	return own && !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Example") &&
		!strings.HasPrefix(name, "Benchmark")
}

func (f *follow) stack(number uint32) heap.Stack {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := &f.sites[number]
	return heap.Stack(s.stack[:s.depth:s.depth])
}

// firstTime reports whether nothing was told of a place yet.
func (f *follow) firstTime(number uint32) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.sites[number].told
	f.sites[number].told = true
	return first
}

// tell reports that allocations became too old.
func (a *Allocator) tell(frame uint32, count int) {
	o := Overdue{Allocator: a.config.Name, Count: count, MaxAge: a.config.MaxAge, Frame: frame}
	if a.follow == nil {
		if a.told.CompareAndSwap(false, true) {
			a.config.OnOverdue(o)
		}
		return
	}
	for _, place := range a.places(true) {
		if a.follow.firstTime(place.number) {
			o.Count, o.Stack = place.count, a.follow.stack(place.number)
			a.config.OnOverdue(o)
		}
	}
}

// place is a number of a site, and how many allocations that it made are alive.
type place struct {
	number uint32
	count  int
}

// places are the sites of what is alive, or too old, in the order of their numbers. Only with diagnostics.
func (a *Allocator) places(old bool) []place {
	if a.enter() != nil {
		return nil
	}
	defer a.leave()
	counts := map[uint32]int{}
	own := a.core.Load()
	for c := (core.Cursor{}); own.Next(&c, old); {
		counts[c.Site]++
	}
	var all []place
	for _, number := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, place{number, counts[number]})
	}
	return all
}

// Leak is what one place made and nobody has freed.
type Leak struct {
	Count int
	Stack heap.Stack
}

// Leaks are the allocations that are alive now, by the place that made them, with old set to those older than the
// maximum age. Only an allocator with diagnostics knows of them.
func (a *Allocator) Leaks(old bool) []Leak {
	if a.follow == nil {
		return nil
	}
	var leaks []Leak
	for _, p := range a.places(old) {
		leaks = append(leaks, Leak{p.count, a.follow.stack(p.number)})
	}
	return leaks
}
