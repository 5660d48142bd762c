package object

import "granary/internal/core/sys"

// ForkPrepare takes all locks, so that none is held in the middle of a change when the process is copied. The list of
// types only grows at its beginning, which lock holds still.
func (w *World) ForkPrepare() {
	if !w.IsReady() {
		return
	}
	for {
		w.lockWorld()
		newest := w.types
		sys.Unlock(&w.lock)
		for t := w.typeAt(newest); t != nil; t = t.Older() {
			t.enter()
		}
		w.lockWorld()
		if w.types == newest {
			break
		}
		sys.Unlock(&w.lock)
		w.leaveTypes(newest)
	}
	w.lockHandles()
}

// ForkDone gives the locks up again, in the parent and in the child.
func (w *World) ForkDone() {
	if !w.IsReady() {
		return
	}
	sys.Unlock(&w.handleLock)
	newest := w.types
	sys.Unlock(&w.lock)
	w.leaveTypes(newest)
}

func (w *World) leaveTypes(newest sys.Addr) {
	for t := w.typeAt(newest); t != nil; t = t.Older() {
		t.leave()
	}
}
