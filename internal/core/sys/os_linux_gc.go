//go:build gc && linux

package sys

import "golang.org/x/sys/unix"

// Decommit gives the memory of committed pages back; they read as zero from then on. It returns false if the system
// refuses, and then the contents are as before.
func Decommit(addr Addr, bytes uintptr) bool {
	return wholePages(addr, bytes) && unix.Madvise(slice(addr, bytes), unix.MADV_DONTNEED) == nil
}

// MapAt makes memory that reads as zero at these addresses. If it cannot, taken says whether that is for good because
// somebody else has some of them.
func MapAt(addr Addr, bytes uintptr) (ok, taken bool) {
	got, err := unix.MmapPtr(-1, 0, addr.Pointer(), bytes, unix.PROT_READ|unix.PROT_WRITE,
		anonymous|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		return false, err == unix.EEXIST
	}
	if Addr(uintptr(got)) != addr { // Linux before 4.17 takes the address for a wish
		Release(Addr(uintptr(got)), bytes)
		return false, true
	}
	return true, false
}
