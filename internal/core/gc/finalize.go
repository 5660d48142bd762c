package gc

import "granary/internal/core/sys"

const finalizerShift = 5

// finalization holds what is to happen when objects become unreachable. Under Heap.lock.
type finalization struct {
	ready uint32 // finalizers that may run; atomic
	plain bool

	short, long table // of weak links
	finalizers  table
	toggles     table
	queue       queue

	clearedLinks uint64
	readied      uint64
	postponed    uint64
	cycles       uint64
	cycle        sys.Addr
}
