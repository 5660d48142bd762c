package gc

// counts are figures for reports. Under Heap.lock.
type counts struct {
	collections uint64
}
