package heap

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"granary/internal/core/sys"
)

// adviseHugePages tells the system whether addresses that are reserved may have huge pages. It returns false if the
// system has none, or leaves no choice.
func adviseHugePages(start sys.Addr, bytes uintptr, on bool) bool {
	advice := unix.MADV_NOHUGEPAGE
	if on {
		advice = unix.MADV_HUGEPAGE
	}
	if unix.Madvise(unsafe.Slice((*byte)(start.Pointer()), bytes), advice) != nil {
		return false
	}
	if on {
		// The core commits by pieces as it grows, and a huge page must be usable as a whole when it is first touched.
		// If the system refuses so much at once, the pages that are usable by then can be huge.
		sys.Commit(start, bytes)
	}
	return true
}
