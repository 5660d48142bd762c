package gc

// freeLists are the runs of free blocks by length: 1 to 32 exactly, then in steps of 8, the last list for all longer
// ones. Under Heap.lock.
type freeLists struct {
	first  [61]blockRef
	blocks uintptr // in all lists
}
