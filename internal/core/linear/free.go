package linear

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// What FreeSlow did.
const (
	Freed    = iota // took the allocation back
	Overflow        // the block is the native heap's, and is the caller's to free there
	Twice           // nothing: it is free already
	Foreign         // nothing: it is no allocation of this allocator
)

// FreeSlow takes back an allocation, whoever made it. w is the caller's worker, nil if he has none. It does not wait;
// but for a block of the native heap it takes a lock, so a pinned caller says with pinned that he cannot: then it
// answers Foreign for those.
func (a *Allocator) FreeSlow(w *Worker, p sys.Addr, pinned bool) int {
	if a.space == 0 {
		return Foreign // see NewClosed
	}
	index, found := a.find(p)
	if !found || uintptr(p)&unitMask != 0 {
		if pinned {
			return Foreign
		}
		return a.freeOverflow(p)
	}
	b := a.block(index)
	s := b.findSegment(p)
	if s == nil {
		return a.misuse(Twice)
	}
	if b.tags != 0 {
		if result := b.dropTag(uintptr(p) - b.start); result != Freed {
			return a.misuse(result)
		}
	}
	if w != nil && w.holds == index+1 && uintptr(p)-w.start < w.next-w.start {
		if w.live <= 0 {
			return a.misuse(Twice)
		}
		a.noteAge(s.frame)
		if w.Drop() && a.diagnose == 0 {
			w.Rewind()
		}
		return Freed
	}
	frame := atomic.LoadUint32(&s.frame)
	for {
		left := atomic.LoadInt64(&s.left)
		if left <= 0 {
			return a.misuse(Twice)
		}
		if !atomic.CompareAndSwapInt64(&s.left, left, left-1) {
			continue
		}
		a.noteAge(frame)
		if left == 1 && atomic.AddInt32(&b.open, -1) == 0 {
			a.pool(index)
		}
		return Freed
	}
}

func (a *Allocator) misuse(what int) int {
	atomic.AddUint64(&a.misuses, 1)
	return what
}

// isOld reports whether an allocation of a segment or a time with that youngest frame has lived too long.
func (a *Allocator) isOld(frame uint32) bool {
	return a.maxAge != 0 && int32(a.Frame()-frame) > int32(a.maxAge)
}

// noteAge counts an allocation that is freed too late.
func (a *Allocator) noteAge(frame uint32) {
	if a.isOld(frame) {
		atomic.AddUint64(&a.late, 1)
	}
}
