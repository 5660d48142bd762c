package managed

import "sync"

// This file: how the collector stops the mutators of a heap, and no other goroutine.
//
// A mutator says in its state whether it runs, and looks at world.stop at each safepoint and whenever it begins to run
// again. The collector sets stop first and reads the states then. So of a mutator that begins to run and a collector
// that begins to stop the world one at least sees the other.

// States of a mutator.
const (
	stateAway    = iota // it touches no object: it waits, is in Blocking, or belongs to nobody
	stateRunning        // a collection has to wait for it
)

// world is who runs.
//
//	stop      the collector, under mu; read by all
//	mutators  whoever holds mu
type world struct {
	mu       sync.Mutex
	gone     sync.Cond // a mutator has stopped running while stop was set
	resume   sync.Cond // stop was cleared
	mutators []*Mutator
	idle     []*Mutator // of them, those that wait for the next Do
}

func (w *world) init() { w.gone.L, w.resume.L = &w.mu, &w.mu }

// enter begins to run.
func (m *Mutator) enter() {
	m.state.Store(stateRunning)
	if m.heap.stop.Load() != 0 {
		m.wait()
	}
}

// leave ends running. The mutator's cache goes to whoever runs next on this P.
func (m *Mutator) leave() {
	if m.cache != 0 {
		m.heap.putCache(m.cache)
		m.cache = 0
	}
	m.state.Store(stateAway)
	if h := m.heap; h.stop.Load() != 0 {
		h.world.mu.Lock()
		h.world.gone.Broadcast()
		h.world.mu.Unlock()
	}
}

// wait stops running until the world may run.
//
//go:noinline
func (m *Mutator) wait() {
	h := m.heap
	h.world.mu.Lock()
	m.state.Store(stateAway)
	h.world.gone.Broadcast()
	for h.stop.Load() != 0 {
		h.world.resume.Wait()
	}
	m.state.Store(stateRunning)
	h.world.mu.Unlock()
}

// stopWorld returns when no mutator runs. The caller is the collector, and no mutator that runs.
func (h *Heap) stopWorld() {
	w := &h.world
	w.mu.Lock()
	h.stop.Store(1)
	// One that has gone does not come back: if it says for a moment that it runs, it only asks whether it may.
	for i := 0; i < len(w.mutators); i++ {
		for i < len(w.mutators) && w.mutators[i].state.Load() == stateRunning {
			w.gone.Wait()
		}
	}
	w.mu.Unlock()
}

// startWorld lets the mutators run.
func (h *Heap) startWorld() {
	w := &h.world
	w.mu.Lock()
	h.stop.Store(0)
	w.resume.Broadcast()
	w.mu.Unlock()
}
