package managed

import core "granary/internal/core/gc"

// GoodSize says what an object of so many bytes takes: size is how many of them can be used for the same memory, and
// memory its share of blocks of 4 KiB. interior is for heaps that are made WithInterior, where a byte of each object is
// not for use. It is 0, 0 for sizes that no object has.
func GoodSize(bytes int, interior bool) (size, memory int) {
	if bytes < 0 || bytes > mostBytes {
		return 0, 0
	}
	rounded, share := core.ObjectSize(uintptr(bytes), interior)
	if interior {
		rounded--
	}
	return int(rounded), int(share)
}
