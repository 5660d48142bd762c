package linear

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// Worker is one user's end of an allocator: the block that it bumps. It belongs to one user at a time: a goroutine
// while it is pinned to its P, a thread, or whoever holds the worker.
//
//	holds      the worker
//	0          has no block: next, end and start are 0, so no request fits. A worker of zeros is one such
//	index + 1  owns that block; what it hands out goes to the block's open segment
//
// Equations (Check), with s the open segment and b the block:
//
//	start = b.start + s.start <= next <= end = b.start + b.bytes
//	allocations of the segment alive = live - (bias - s.left) >= 0
//
// Nobody else writes here. next and live are read by others (NextFrame, Stats) at any time: setWord and setLive. The
// count goes up before next does, so a fork in between keeps an allocation alive too long, never too short.
type Worker struct {
	next    uintptr
	end     uintptr
	start   uintptr
	live    int64
	left    sys.Addr // of the open segment
	key     uint32   // the frame for which the fast paths may go on; never that when diagnosing
	holds   uint32   // index of the block + 1
	touched uintptr  // memory of the block from here on reads as zero
	used    uint32   // 1 while somebody has it; under workersLock
	free    uint32   // index + 1 of the next one in the list of free ones; under workersLock
	// Busy is the user's own: in builds without pinning, the lock of the slot.
	Busy uint32
	_    [60]byte
}

const noBlock = ^uint32(0) // what takeReady and Take return if there is none

// A worker fills its cache lines; a difference does not compile.
const (
	_ = workerBytes - unsafe.Sizeof(Worker{})
	_ = unsafe.Sizeof(Worker{}) - workerBytes
)

// WorkerAt is the worker of an index below WorkersMost. Users who know an index of their own, as Ps do, use workers by
// index and need neither AddWorker nor DropWorker; they call Prepare once before.
func (a *Allocator) WorkerAt(index uintptr) *Worker {
	return (*Worker)(unsafe.Add(unsafe.Pointer(a), workersOffset+index*workerBytes))
}

// Prepare sets the first count workers aside for use by index.
func (a *Allocator) Prepare(count uint32) { a.workersMade, a.prepared = count, count }

func (a *Allocator) indexOf(w *Worker) uint32 {
	return uint32((uintptr(unsafe.Pointer(w)) - uintptr(a.addr()) - workersOffset) / workerBytes)
}

// clear leaves the worker without a block.
func (w *Worker) clear() {
	setWord(&w.next, 0)
	setLive(&w.live, 0)
	w.end, w.start, w.touched, w.left = 0, 0, 0, 0
	w.holds = 0
}

// AddWorker takes a worker for a thread, nil if there are WorkersMost already.
func (a *Allocator) AddWorker() *Worker {
	if !sys.Lock(&a.workersLock) {
		return nil
	}
	var w *Worker
	if a.freeWorkers != 0 {
		w = a.WorkerAt(uintptr(a.freeWorkers - 1))
		a.freeWorkers = w.free
	} else if a.workersMade < WorkersMost {
		w = a.WorkerAt(uintptr(a.workersMade))
		atomic.AddUint32(&a.workersMade, 1)
	}
	if w != nil {
		w.clear()
		w.key = 0
		w.free, w.used = 0, 1
	}
	sys.Unlock(&a.workersLock)
	return w
}

// DropWorker retires the worker's block and takes the worker back. What it handed out stays valid.
func (a *Allocator) DropWorker(w *Worker) {
	a.retire(w)
	if !sys.Lock(&a.workersLock) {
		return // from a signal handler that interrupted AddWorker: the worker is lost, its block is not
	}
	w.used = 0
	w.free = a.freeWorkers
	a.freeWorkers = a.indexOf(w) + 1
	sys.Unlock(&a.workersLock)
}

// The fast paths, in steps that are small enough to be inlined.

// Need is Allocator.Need without the test of the size: Fits refuses what it makes of a size that is 0 or too large.
func Need(size uintptr) uintptr { return (size + unitMask) &^ unitMask }

// Fits reports whether Bump may hand out so many bytes in a frame.
func (w *Worker) Fits(frame uint32, need uintptr) bool {
	return w.key == frame && need-1 < w.end-w.next
}

// Bump hands out bytes at a multiple of 16.
func (w *Worker) Bump(need uintptr) sys.Addr {
	at := w.next
	addLive(&w.live, 1)
	setWord(&w.next, at+need)
	return sys.Addr(at)
}

// Mine reports whether Drop may take an allocation back in a frame: it is one of the open segment.
func (w *Worker) Mine(frame uint32, p sys.Addr) bool {
	return uintptr(p)-w.start < w.next-w.start && w.key == frame
}

// Drop takes one back. It returns true if the segment may have become empty: Rewind follows.
func (w *Worker) Drop() bool {
	addLive(&w.live, -1)
	return w.live == 0
}

// Rewind starts the open segment again if nothing of it is alive. live is 0.
func (w *Worker) Rewind() {
	if atomic.LoadInt64((*int64)(w.left.Pointer())) == bias {
		if w.next > w.touched {
			w.touched = w.next
		}
		setWord(&w.next, w.start)
	}
}

// Dirty is how many bytes, from the start of an allocation that this worker just made, may not read as zero.
func (w *Worker) Dirty(at sys.Addr, need uintptr) uintptr {
	end := uintptr(at) + need
	if w.holds == 0 || uintptr(at) < w.start || end > w.next {
		return need // in a block of its own
	}
	if end > w.touched {
		end = w.touched
	}
	if end <= uintptr(at) {
		return 0
	}
	return end - uintptr(at)
}
