package gc

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// queue holds the finalizers that may run, first in, first out, in a ring of entries like those of the table of
// finalizers. Its memory is a run of the space. There is one as long as there are finalizers: when memory is out, some
// can still run, and perhaps make room.
type queue struct {
	ring  sys.Addr // 0: there is no memory yet
	head  uintptr  // number of the first entry; grows without end
	tail  uintptr  // number after the last
	slots uintptr  // a power of two
	run   space.Ref
}

const leastQueue = space.GranuleBytes >> finalizerShift

func (q *queue) length() uintptr { return q.tail - q.head }

// entry is where the entry of a number lies.
func (q *queue) entry(number uintptr) sys.Addr {
	return q.ring + sys.Addr(number&(q.slots-1)<<finalizerShift)
}

// push makes room for one more entry and returns where it lies, 0 if there is no memory.
func (h *Heap) push(q *queue) sys.Addr {
	if q.length() == q.slots && !h.growQueue(q) {
		return 0
	}
	q.tail++
	return q.entry(q.tail - 1)
}

// growQueue makes the ring larger. Entries keep their numbers: who goes through the queue may have it grow.
func (h *Heap) growQueue(q *queue) bool {
	larger := queue{head: q.head, tail: q.head, slots: q.slots * 2}
	if q.slots == 0 {
		larger.slots = leastQueue
	}
	larger.run = h.takeRun(larger.slots << finalizerShift)
	if larger.run == 0 {
		return false
	}
	larger.ring = h.Addr(larger.run)
	for number := q.head; number != q.tail; number++ {
		sys.Copy(larger.entry(larger.tail), q.entry(number), 1<<finalizerShift)
		larger.tail++
	}
	if q.run != 0 {
		h.Give(q.run)
	}
	*q = larger
	return true
}

// pop takes the first entry out and returns where it lies until the next call of push.
func (q *queue) pop() sys.Addr {
	q.head++
	return q.entry(q.head - 1)
}

// trimQueue gives the memory of the queue back if no finalizer is registered, or most of it if it is empty. Heap.lock
// is held, or the world stands.
func (h *Heap) trimQueue() {
	q := &h.final.queue
	if q.run != 0 && q.length() == 0 && (h.final.finalizers.count == 0 || q.slots > leastQueue) {
		h.Give(q.run)
		*q = queue{}
		if h.final.finalizers.count != 0 {
			h.growQueue(q)
		}
	}
}
