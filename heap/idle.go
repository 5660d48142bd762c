package heap

import (
	"time"

	"granary/internal/core/sys"

	core "granary/internal/core/heap"
)

// This file: giving memory back.

const tickInterval = core.SweepNanoseconds * time.Nanosecond

// Released is what a sweep gave back to the system.
type Released struct {
	Runs    int           // spans and large blocks
	Bytes   int64         // memory, without free pages of spans that are in use
	Longest time.Duration // the longest that any of it had been free
}

// Idle is for the moments in which a program waits: memory that has been free for a second goes back to the system. It
// stops all goroutines for some ten microseconds.
func (h *Heap) Idle() Released { return h.release(core.ReleaseNanoseconds) }

// Trim gives all free memory back at once.
func (h *Heap) Trim() Released { return h.release(0) }

// Idle calls the Idle of every heap.
func Idle() {
	for _, h := range all() {
		h.Idle()
	}
}

func (h *Heap) release(age uint64) Released {
	if h.enter() != nil {
		return Released{}
	}
	defer h.leave()
	done, _ := h.sweep(age, false)
	return done
}

// sweep gives back what has been free for age nanoseconds, in the caches too: all of them, or if quiet is set those
// that nobody uses. more reports whether there will be something to do later.
func (h *Heap) sweep(age uint64, quiet bool) (done Released, more bool) {
	h.sweeping.Lock()
	defer h.sweeping.Unlock()
	h.drain(quiet)
	released, wake := h.core.Idle(h.place.noCache, sys.Now(), age)
	done = Released{int(released.Runs), int64(released.Bytes), time.Duration(released.Longest)}
	return done, wake != 0 || h.cachesHold()
}

// arm sees to it that a tick comes, if the heap has them. There is no goroutine that waits for it: a timer starts one.
func (h *Heap) arm() {
	if h.options.ticker && !h.armed.Load() && h.armed.CompareAndSwap(false, true) {
		time.AfterFunc(tickInterval, h.tick)
	}
}

// tick gives back what can be, and comes again as long as there may be more.
func (h *Heap) tick() {
	if h.enter() != nil {
		return
	}
	defer h.leave()
	if _, more := h.sweep(core.ReleaseNanoseconds, true); more {
		time.AfterFunc(tickInterval, h.tick)
		return
	}
	h.armed.Store(false)
}
