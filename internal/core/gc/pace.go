package gc

// pace decides between collecting and growing. Under Heap.lock.
type pace struct {
	divisor   uintptr
	allocated uintptr // bytes handed to caches and large objects since the last collection
	freed     uintptr // bytes freed explicitly since
	target    uintptr // allocated, less freed, at which a collection is due
}
