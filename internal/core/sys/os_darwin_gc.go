//go:build gc && darwin

package sys

import "golang.org/x/sys/unix"

// Decommit gives the memory of committed pages back; they read as zero from then on. It returns false if the system
// refuses, and then the contents are as before.
//
// macOS has no advice after which pages surely read as zero: MADV_DONTNEED changes nothing, and what was marked with
// MADV_FREE or MADV_FREE_REUSABLE reads as before until the system is short of memory. A new mapping in their place
// does it, and leaves no moment in which the addresses are free.
func Decommit(addr Addr, bytes uintptr) bool {
	if !wholePages(addr, bytes) {
		return false
	}
	_, err := unix.MmapPtr(-1, 0, addr.Pointer(), bytes, unix.PROT_READ|unix.PROT_WRITE, anonymous|unix.MAP_FIXED)
	return err == nil
}

// MapAt makes memory that reads as zero at these addresses. If it cannot, taken says whether that is for good because
// somebody else has some of them. Without MAP_FIXED the address is a wish, which the system grants if it can.
func MapAt(addr Addr, bytes uintptr) (ok, taken bool) {
	got, err := unix.MmapPtr(-1, 0, addr.Pointer(), bytes, unix.PROT_READ|unix.PROT_WRITE, anonymous)
	if err != nil {
		return false, false
	}
	if Addr(uintptr(got)) != addr {
		Release(Addr(uintptr(got)), bytes)
		return false, true
	}
	return true, false
}
