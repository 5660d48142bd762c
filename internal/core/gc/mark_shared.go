package gc

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: several workers. Each has blocks in its own queue; who has plenty while others have none puts some into
// the shared queue. A large object stays in the queue of one worker, and others take pieces of it (offer). The work is
// over when the shared queue is empty and all workers are idle.

const (
	shareMost  = 16 // blocks that change hands at a time
	shareEvery = 8  // blocks between two looks at whether others are idle
)

// HelpersWanted is how many helpers are worth their waking for what lived after the last collection.
func (h *Heap) HelpersWanted() uint32 {
	wanted := h.counts.scanned / helperLiveBytes
	if wanted == 0 {
		return 0 // the number of processors is a system call
	}
	if most := uintptr(sys.CPUs() - 1); wanted > most {
		wanted = most
	}
	if wanted > markersMost-1 {
		wanted = markersMost - 1
	}
	return uint32(wanted)
}

// helperLiveBytes is how much a collection has to mark for each helper, as what lived after the one before says.
const helperLiveBytes = 4 << 20

// StartHelpers says that up to so many threads may call Help from now on. The driver calls it after BeginCycle, and
// then Drain, without which the helpers have nothing to do but wait. It holds until the collection's end; 0 makes Drain
// work alone, without the cost of sharing.
func (h *Heap) StartHelpers(helpers uint32) {
	w := &h.marking
	if helpers > markersMost-1 {
		helpers = markersMost - 1
	}
	sys.Lock(&w.lock)
	w.helpers = helpers
	if helpers == 0 {
		atomic.StoreUint32(&w.done, 1)
	} else if !w.isOpen() {
		w.open()
	}
	sys.Unlock(&w.lock)
}

// isOpen reports whether helpers may join the round.
func (w *marking) isOpen() bool { return w.joined != 0 && w.done == 0 && w.stop == 0 }

// open begins a round. The driver is its first worker.
func (w *marking) open() {
	w.round++
	w.joined = 1
	atomic.StoreUint32((*uint32)(&w.offered), 0)
	atomic.StoreUint32(&w.done, 0)
	atomic.StoreUint32(&w.idle, 0)
	atomic.StoreUint32(&w.stop, 0)
}

// Help works for the collection as the helper with that number, from 1 on, until nothing is left to do. It returns at
// once if there is nothing to help with. No two threads may use the same number at the same time.
func (h *Heap) Help(number uint32) {
	round, joined := h.joinRound(number)
	if !joined {
		return
	}
	m := h.marker(number)
	h.setUp(m, 1)
	m.forget()
	for h.drainOwn(m, 0) && h.takeShared(m, round, 0) {
	}
	h.leaveRound(m, round)
}

// drainShared is Drain with helpers.
func (h *Heap) drainShared(deadline uint64) bool {
	w := &h.marking
	m := h.marker(0)
	h.setUp(m, 1)
	m.forget()
	round := h.openRound(m)
	for h.drainOwn(m, deadline) && h.takeShared(m, round, deadline) {
	}
	m.assists = 0
	h.shadeCollected(m)
	if w.done == 0 { // time is up
		atomic.StoreUint32(&w.stop, 1)
		for h.othersWork() {
			sys.Yield()
		}
	}
	h.setUp(m, 0)
	return w.done != 0
}

// openRound makes sure that a round is open. The driver takes what an earlier one left in the shared queue.
func (h *Heap) openRound(m *marker) uint32 {
	w := &h.marking
	sys.Lock(&w.lock)
	if !w.isOpen() {
		w.open()
	}
	if w.queue.head != 0 {
		h.moveAll(&m.own, &w.queue)
	}
	round := w.round
	sys.Unlock(&w.lock)
	return round
}

func (h *Heap) joinRound(number uint32) (round uint32, joined bool) {
	w := &h.marking
	if number == 0 || number >= markersMost || !sys.Lock(&w.lock) {
		return 0, false
	}
	joined = w.isOpen() && w.joined <= w.helpers
	if joined {
		w.joined++
	}
	round = w.round
	sys.Unlock(&w.lock)
	return round, joined
}

// leaveRound puts what a helper has left into the shared queue. A round that is over wants nothing of it.
func (h *Heap) leaveRound(m *marker, round uint32) {
	w := &h.marking
	m.assists = 0
	h.emptyRing(m)
	sys.Lock(&w.lock)
	if w.round == round {
		if m.own.head != 0 {
			h.moveAll(&w.queue, &m.own)
		}
		w.joined--
	}
	sys.Unlock(&w.lock)
}

func (h *Heap) othersWork() bool {
	w := &h.marking
	sys.Lock(&w.lock)
	others := w.joined > 1
	sys.Unlock(&w.lock)
	return others
}

// takeShared is for a worker that has nothing left to do. It returns true as soon as it got something, false when all
// is done, or time is up.
func (h *Heap) takeShared(m *marker, round uint32, deadline uint64) bool {
	w := &h.marking
	idle := false
	for spins := 1; ; spins++ {
		if !idle || atomic.LoadUint32(&w.queue.count) != 0 || w.isOffered() || atomic.LoadUint32(&w.stop) != 0 ||
			atomic.LoadUint32(&w.done) != 0 {
			sys.Lock(&w.lock)
			got, over := h.takeSharedLocked(m, round, &idle)
			sys.Unlock(&w.lock)
			if got || over {
				return got
			}
		}
		if spins%spinsPerYield == 0 {
			sys.Yield()
			if deadline != 0 && sys.Now() >= deadline {
				return false
			}
		}
		sys.Relax()
	}
}

const spinsPerYield = 64

func (h *Heap) takeSharedLocked(m *marker, round uint32, idle *bool) (got, over bool) {
	w := &h.marking
	if w.round != round || w.done != 0 || w.stop != 0 {
		return false, true
	}
	if w.queue.head != 0 {
		h.moveSome(&m.own, &w.queue, shareMost)
		if *idle {
			atomic.StoreUint32(&w.idle, w.idle-1)
		}
		return true, false
	}
	if m.assists = h.takeOffered(); m.assists != 0 {
		if *idle {
			atomic.StoreUint32(&w.idle, w.idle-1)
		}
		return true, false
	}
	if !*idle {
		*idle = true
		atomic.StoreUint32(&w.idle, w.idle+1)
	}
	if w.idle == w.joined {
		atomic.StoreUint32(&w.done, 1)
		return false, true
	}
	return false, false
}

// offer lets idle workers take pieces of a large object. The one that has it in its queue goes on with it, too.
func (h *Heap) offer(block blockRef) {
	w := &h.marking
	if atomic.LoadUint32(&w.idle) == 0 || w.isOffered() {
		return
	}
	sys.Lock(&w.lock)
	atomic.StoreUint32((*uint32)(&w.offered), uint32(block))
	sys.Unlock(&w.lock)
}

func (w *marking) isOffered() bool { return atomic.LoadUint32((*uint32)(&w.offered)) != 0 }

// takeOffered is the object that is offered, if there are pieces left of it, else 0.
func (h *Heap) takeOffered() blockRef {
	w := &h.marking
	if w.offered == 0 {
		return 0
	}
	hd := h.header(w.offered)
	length, _ := scannedLength(hd)
	if atomic.LoadUint64(&hd.stamp) < uint64(length) {
		return w.offered
	}
	atomic.StoreUint32((*uint32)(&w.offered), 0)
	return 0
}

// share gives half of what a worker has to those who have nothing.
func (h *Heap) share(m *marker) {
	w := &h.marking
	if m.own.count < 2 || atomic.LoadUint32(&w.queue.count) >= atomic.LoadUint32(&w.idle) {
		return
	}
	blocks := m.own.count / 2
	if blocks > shareMost {
		blocks = shareMost
	}
	sys.Lock(&w.lock)
	h.moveSome(&w.queue, &m.own, blocks)
	sys.Unlock(&w.lock)
}

// moveAll appends all blocks of a queue that is not empty to another.
func (h *Heap) moveAll(to, from *blockQueue) {
	h.enqueue(to, from.head, from.tail, from.count)
	from.head, from.tail = 0, 0
	atomic.StoreUint32(&from.count, 0)
}

// moveSome moves the first blocks of a queue that is not empty.
func (h *Heap) moveSome(to, from *blockQueue, most uint32) {
	if from.count <= most {
		h.moveAll(to, from)
		return
	}
	first, last := from.head, from.head
	for i := uint32(1); i < most; i++ {
		last = h.header(last).queueNext
	}
	from.head = h.header(last).queueNext
	atomic.StoreUint32(&from.count, from.count-most)
	h.header(last).queueNext = endOfQueue
	h.enqueue(to, first, last, most)
}
