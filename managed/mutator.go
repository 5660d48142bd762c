package managed

import (
	"sync/atomic"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// Mutator is what a goroutine needs to touch objects of a heap. A collection waits until every mutator is at a
// safepoint: in a call that allocates, in Safepoint, or inside of Blocking. So a mutator must reach one now and then,
// and a pointer that it holds in Go variables is good until the next one; what it needs for longer must be reachable
// from a root: a Handle, a Stack, a registered range.
//
// A Mutator is used by one goroutine at a time.
type Mutator struct {
	heap  *Heap
	state atomic.Uint32

	cache      core.Cache // while it runs, from its first allocation on; else 0
	finalizing []sys.Addr // the objects whose finalizers it runs, the innermost last: roots
	index      int        // in world.mutators; under world.mu
	ofDo       bool       // const: Do made it, and uses it again

	quick [quickTypes]quickType
}

// Attach makes the calling goroutine a mutator, until Detach, which must come before the goroutine ends: collections
// would wait for it for ever. It waits if a collection is going on.
func (h *Heap) Attach() (*Mutator, error) {
	m := &Mutator{heap: h}
	w := &h.world
	w.mu.Lock()
	if !h.usable() {
		w.mu.Unlock()
		return nil, ErrClosed
	}
	m.index = len(w.mutators)
	w.mutators = append(w.mutators, m)
	w.mu.Unlock()
	m.enter()
	return m, nil
}

// Detach ends what Attach made: the Mutator must not be used any more. It does nothing to one that Do made, which ends
// with Do's function.
func (m *Mutator) Detach() {
	if m.heap == nil || m.ofDo {
		return
	}
	m.leave()
	w := &m.heap.world
	w.mu.Lock()
	for m.heap.stop.Load() != 0 { // the collector is going through the list
		w.resume.Wait()
	}
	last := w.mutators[len(w.mutators)-1]
	w.mutators[m.index], last.index = last, m.index
	w.mutators[len(w.mutators)-1] = nil
	w.mutators = w.mutators[:len(w.mutators)-1]
	w.mu.Unlock()
	m.heap = nil
}

// Do calls f with a mutator for the time of the call. It is cheaper than Attach and Detach. A goroutine that is a
// running mutator of the heap already must not call it: a collection would wait for the outer one. The only error is
// ErrClosed.
func (h *Heap) Do(f func(m *Mutator)) error {
	m, err := h.takeIdle()
	if err != nil {
		return err
	}
	m.enter()
	defer func() {
		m.leave()
		h.world.mu.Lock()
		h.world.idle = append(h.world.idle, m)
		h.world.mu.Unlock()
	}()
	f(m)
	return nil
}

func (h *Heap) takeIdle() (*Mutator, error) {
	w := &h.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if !h.usable() {
		return nil, ErrClosed
	}
	if last := len(w.idle) - 1; last >= 0 {
		m := w.idle[last]
		w.idle = w.idle[:last]
		return m, nil
	}
	m := &Mutator{heap: h, index: len(w.mutators), ofDo: true}
	w.mutators = append(w.mutators, m)
	return m, nil
}

// Heap is the heap that the mutator belongs to.
func (m *Mutator) Heap() *Heap { return m.heap }

// Safepoint lets a collection run that waits for this mutator. It costs a nanosecond if none does.
func (m *Mutator) Safepoint() {
	if m.heap.stop.Load() != 0 {
		m.wait()
	}
}

// Blocking calls f, which may wait for as long as it likes, and must not touch objects of the heap: collections do not
// wait for this mutator meanwhile. f may call Blocking again, and what collects.
func (m *Mutator) Blocking(f func()) {
	if m.state.Load() == stateAway { // f is called inside of another Blocking
		f()
		return
	}
	m.leave()
	defer m.enter()
	f()
}
