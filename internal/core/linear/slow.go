package linear

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// This file: what the fast paths of worker.go leave to be done by a worker. All but Take and grow (block.go) is free of
// waiting and of system calls, so that a goroutine may do it while it is pinned.

// AllocReady serves a request from the worker's block, or from one of the pool that has room for it, 0 if there is none
// such. need is from Need and at most RequestMost, align a power of two of at most AlignMost, site what Cursor tells
// of the allocation when diagnosing.
func (a *Allocator) AllocReady(w *Worker, need, align uintptr, site uint32) sys.Addr {
	a.turn(w)
	if at := a.place(w, need, align, site); at != 0 {
		return at
	}
	if a.restart(w) {
		if at := a.place(w, need, align, site); at != 0 {
			return at
		}
	}
	index := a.takeReady(need)
	if index == noBlock {
		return 0
	}
	return a.Install(w, index, need, align, site)
}

// Install serves a request, which fits, from a block that the caller took, and makes the block the worker's if more is
// left of it than of the one that the worker has.
func (a *Allocator) Install(w *Worker, index uint32, need, align uintptr, site uint32) sys.Addr {
	b := a.block(index)
	if w.holds != 0 && w.end-w.next > b.bytes-need {
		return a.alone(b, need, site)
	}
	a.retire(w)
	atomic.StoreUint32(&b.owner, a.indexOf(w)+1)
	atomic.StoreUintptr(&b.usedUpTo, b.bytes)
	w.holds = index + 1
	w.start, w.end = b.start, b.start+b.bytes
	w.touched = b.start + b.touched
	setWord(&w.next, b.start)
	atomic.StoreInt32(&b.open, 1)
	a.openSegment(w, 0)
	return a.place(w, need, align, site)
}

// alone gives a block to one allocation.
func (a *Allocator) alone(b *block, need uintptr, site uint32) sys.Addr {
	s := b.at(0)
	atomic.StoreUintptr(&s.start, 0)
	atomic.StoreInt64(&s.overdue, 0)
	atomic.StoreUint32(&s.frame, a.Frame()+a.step-1)
	atomic.StoreInt32(&b.open, 1)
	atomic.StoreInt64(&s.left, 1)
	atomic.StoreUint32(&b.segments, 1)
	atomic.StoreUintptr(&b.usedUpTo, need)
	if b.touched < need {
		b.touched = need
	}
	b.setTag(0, site)
	return sys.Addr(b.start)
}

// place serves a request from the worker's block, 0 if it has no room.
func (a *Allocator) place(w *Worker, need, align uintptr, site uint32) sys.Addr {
	at := sys.AlignUp(w.next, align)
	if w.holds == 0 || at > w.end || need > w.end-at {
		return 0
	}
	setLive(&w.live, w.live+1)
	setWord(&w.next, at+need)
	if a.diagnose != 0 {
		b := a.block(w.holds - 1)
		b.setTag(at-b.start, site)
	}
	return sys.Addr(at)
}

// openSegment starts the segment of an index at the worker's next byte. The order of the stores is for those who look
// (NextFrame): as long as left is 0 the rest means nothing.
func (a *Allocator) openSegment(w *Worker, index uint32) {
	b := a.block(w.holds - 1)
	s := b.at(index)
	now := a.Frame()
	atomic.StoreInt64(&s.left, 0)
	atomic.StoreUint32(&s.frame, now+a.step-1)
	atomic.StoreInt64(&s.overdue, 0)
	atomic.StoreUintptr(&s.start, w.next-b.start)
	atomic.AddInt32(&b.open, 1)
	atomic.StoreUint32(&b.segments, index+1)
	w.start = w.next
	w.left = sys.Addr(uintptr(unsafe.Pointer(&s.left)))
	setLive(&w.live, 0)
	atomic.StoreInt64(&s.left, bias)
	w.setKey(a, now)
}

func (w *Worker) setKey(a *Allocator, now uint32) {
	w.key = now
	if a.diagnose != 0 {
		w.key = ^now
	}
}

// closeSegment settles the open segment: from now on its count is what is alive. It returns false if that is nothing;
// then the segment is dead, and has been taken from the block's open ones.
func (a *Allocator) closeSegment(w *Worker) bool {
	b := a.block(w.holds - 1)
	s := b.last()
	alive := atomic.AddInt64(&s.left, w.live-bias) > 0
	setLive(&w.live, 0)
	if !alive {
		atomic.StoreInt64(&s.left, 0) // below, if something was freed twice
		atomic.AddInt32(&b.open, -1)
	}
	return alive
}

// turn brings the worker into the current frame: what it hands out from now on is counted in another segment.
func (a *Allocator) turn(w *Worker) {
	now := a.Frame()
	if w.key == now {
		return
	}
	if w.holds == 0 {
		w.setKey(a, now)
		return
	}
	b := a.block(w.holds - 1)
	if int32(now-b.last().frame) <= 0 {
		w.setKey(a, now)
		return
	}
	index := b.segments
	if !a.closeSegment(w) {
		index--
		a.backTo(w, w.start)
		if atomic.LoadInt32(&b.open) == 1 {
			index = 0
			a.backTo(w, b.start)
		}
	}
	if index == segmentCount {
		a.release(w)
		w.setKey(a, now)
		return
	}
	a.openSegment(w, index)
}

// backTo takes back memory of the worker's block from an address on: nothing there is alive.
func (a *Allocator) backTo(w *Worker, to uintptr) {
	if w.next > w.touched {
		w.touched = w.next
	}
	if b := a.block(w.holds - 1); b.tags != 0 {
		a.clearTags(b, to-b.start, w.next-b.start)
	}
	setWord(&w.next, to)
}

// restart takes back what is free at the end of the worker's block: the open segment, or all. It returns false if
// something of the segment is alive.
func (a *Allocator) restart(w *Worker) bool {
	if w.holds == 0 || atomic.LoadInt64((*int64)(w.left.Pointer())) != bias-w.live {
		return false
	}
	b := a.block(w.holds - 1)
	index := b.segments - 1
	atomic.StoreInt64(&b.at(index).left, 0)
	to := w.start
	if atomic.AddInt32(&b.open, -1) == 1 {
		index, to = 0, b.start
	}
	a.backTo(w, to)
	a.openSegment(w, index)
	return true
}

// retire parts the worker from its block. Whoever frees the last allocation in it returns it to the pool.
func (a *Allocator) retire(w *Worker) {
	if w.holds == 0 {
		return
	}
	a.closeSegment(w)
	a.release(w)
}

// release is retire once the open segment is closed.
func (a *Allocator) release(w *Worker) {
	index := w.holds - 1
	b := a.block(index)
	atomic.StoreUintptr(&b.usedUpTo, w.next-b.start)
	b.touched = w.touched - b.start
	if w.next > w.touched {
		b.touched = w.next - b.start
	}
	atomic.StoreUint32(&b.owner, 0)
	w.clear()
	if atomic.AddInt32(&b.open, -1) == 0 {
		a.pool(index)
	}
}

// Retire parts the worker from its block, as if the worker were dropped.
func (a *Allocator) Retire(w *Worker) { a.retire(w) }
