package linear

import (
	"sync/atomic"
)

// This file: frames, and who lives too long.

// NextFrame begins another frame and returns its number. Allocations that became older than the maximum age are counted
// once: in Stats.Overdue.
func (a *Allocator) NextFrame() uint32 {
	now := atomic.AddUint32(&a.frame, 1)
	if a.maxAge == 0 {
		return now
	}
	for i := uint32(0); i < a.most; i++ {
		if b := a.block(i); atomic.LoadInt32(&b.open) != 0 {
			for j := uint32(0); j < segmentCount; j++ {
				a.countOverdue(i, j)
			}
		}
	}
	for i := uint32(0); i < shardCount; i++ {
		a.countOverdueOverflow(&a.shards[i&shardMask])
	}
	return now
}

// countOverdue counts what is too old in a segment and was not counted before.
func (a *Allocator) countOverdue(index, at uint32) {
	b := a.block(index)
	s := b.at(at)
	frame := atomic.LoadUint32(&s.frame)
	if !a.isOld(frame) || at >= atomic.LoadUint32(&b.segments) {
		return
	}
	before := atomic.LoadInt64(&s.overdue)
	alive := a.alive(b, s)
	// The segment may have been started again meanwhile: then what was read does not belong together.
	if alive <= before || atomic.LoadUint32(&s.frame) != frame {
		return
	}
	if atomic.CompareAndSwapInt64(&s.overdue, before, alive) {
		atomic.AddUint64(&a.overdue, uint64(alive-before))
	}
}

// alive is the number of allocations alive in a segment; while its worker works, that of some moment.
func (a *Allocator) alive(b *block, s *segment) int64 {
	left := atomic.LoadInt64(&s.left)
	if left < bias/2 {
		return left
	}
	owner := atomic.LoadUint32(&b.owner)
	if owner == 0 {
		return 0 // just being closed
	}
	w := a.WorkerAt(uintptr(owner-1) & (WorkersMost - 1))
	return atomic.LoadInt64(&w.live) - (bias - left)
}

// Reset frees all allocations at once. Nobody may use the allocator meanwhile. Blocks of the native heap are the
// caller's to free: TakeOverflow.
func (a *Allocator) Reset() {
	for i := uint32(0); i < a.most; i++ {
		b := a.block(i)
		if atomic.LoadUint64(&a.free)>>i&1 != 0 {
			continue
		}
		for j := uint32(0); j < b.segments; j++ {
			atomic.StoreInt64(&b.at(j).left, 0)
		}
		atomic.StoreInt32(&b.open, 0)
		if b.owner == 0 {
			a.pool(i)
			continue
		}
		w := a.WorkerAt(uintptr(b.owner - 1))
		a.backTo(w, b.start)
		atomic.StoreInt32(&b.open, 1)
		a.openSegment(w, 0)
	}
}
