package gc

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: memory of free blocks goes back to the system.

const (
	// SweepNanoseconds is the least time between two looks.
	SweepNanoseconds = 250 * 1000 * 1000
	// ReleaseNanoseconds is how long a run of blocks should have been free to be given back.
	ReleaseNanoseconds = 1000 * 1000 * 1000

	releasePiece = 16 << 20 // bytes that go back while the lock is held
)

// Idle gives the memory of blocks back that have been free for age nanoseconds at the time now; a run's time begins
// when a look first sees it, and is that of its longest part when runs join. Unless age is 0, one look in a quarter of
// a second does something. wake is the time at which the next would, 0 if nothing is free. Any thread may call it.
func (h *Heap) Idle(now, age uint64) (done space.Released, wake uint64) {
	if h.mode&ModeKeepBlocks != 0 {
		return done, 0
	}
	if !sys.TryLock(&h.lock) {
		return done, now + SweepNanoseconds
	}
	if age != 0 && now < h.nextLook {
		wake = h.nextLook
		sys.Unlock(&h.lock)
		return done, wake
	}
	h.nextLook = now + SweepNanoseconds
	for h.releaseSome(now, age, &done) {
		// Others may be waiting to allocate.
		sys.Unlock(&h.lock)
		if !sys.Lock(&h.lock) {
			return done, now + SweepNanoseconds
		}
	}
	tables := h.ReleaseIdle(now, age)
	done.Runs += tables.Runs
	done.Bytes += tables.Bytes
	if tables.Longest > done.Longest {
		done.Longest = tables.Longest
	}
	if h.free.dirty != 0 || h.DirtyBytes() != 0 {
		wake = h.nextLook
	}
	sys.Unlock(&h.lock)
	return done, wake
}

// releaseSome gives back one piece. It returns false if nothing is left that is old enough.
func (h *Heap) releaseSome(now, age uint64, done *space.Released) bool {
	before := done.Bytes
	for list := uint(1); list < freeListCount; list++ {
		for run := h.free.first[list&63]; run != 0; {
			hd := h.header(run)
			next := hd.next
			if hd.marked != 0 {
				if hd.stamp == 0 {
					hd.stamp = now
				}
				if now >= hd.stamp && now-hd.stamp >= age {
					h.releaseRun(run, hd, now-hd.stamp, done)
				}
				if done.Bytes-before >= releasePiece {
					return true
				}
			}
			run = next
		}
	}
	return false
}

// releaseRun gives the dirty pages of a run back, those side by side with one system call each, up to a piece in all.
func (h *Heap) releaseRun(run blockRef, hd *header, old uint64, done *space.Released) {
	blocks := uintptr(hd.blocks)
	pageBlocks := blockRef(sys.PageBytes() >> blockShift)
	if pageBlocks == 0 {
		pageBlocks = 1
	}
	dropped := uintptr(0)
	for from := run; from < run+blockRef(blocks) && dropped < releasePiece; from++ {
		to := from
		for to < run+blockRef(blocks) && to-from < releasePiece>>blockShift && h.isDirty(to) {
			to++
		}
		first, last := (from+pageBlocks-1)&^(pageBlocks-1), to&^(pageBlocks-1)
		if first < last {
			if !sys.Decommit(h.blockAddr(first), uintptr(last-first)<<blockShift) {
				hd.stamp = 0 // the system refuses to take it: try again later
				return
			}
			h.setClean(first, uintptr(last-first))
			hd.marked -= uint32(last - first)
			h.free.dirty -= uintptr(last - first)
			dropped += uintptr(last-first) << blockShift
		}
		if to > from {
			from = to - 1
		}
	}
	if dropped == 0 {
		return
	}
	done.Runs++
	done.Bytes += uint64(dropped)
	if old > done.Longest {
		done.Longest = old
	}
	h.counts.released += uint64(dropped)
	h.unlinkRun(run)
	h.linkRun(run, blocks, uintptr(hd.marked), hd.stamp)
}
