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
	return unix.Madvise(unsafe.Slice((*byte)(start.Pointer()), bytes), advice) == nil
}
