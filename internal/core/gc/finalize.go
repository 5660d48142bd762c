package gc

// finalization holds what is to happen when objects become unreachable. Under Heap.lock.
type finalization struct {
	ready uint32 // finalizers that may run; atomic
}
