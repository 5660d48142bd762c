package gc

// counts are figures for reports. Under Heap.lock.
type counts struct {
	collections uint64
	blocks      uintptr // taken of the space
	large       uintptr // of them, in large objects
	released    uint64  // bytes of free blocks that went back to the system
	unswept     uintptr // that wait to be swept
	scanned     uintptr // bytes of objects with addresses that the last collection left alive
	plain       uintptr // of those without
}
