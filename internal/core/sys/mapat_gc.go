//go:build gc && linux

package sys

import "golang.org/x/sys/unix"

// MapAt makes memory that reads as zero at these addresses. If it cannot, taken says whether that is for good because
// somebody else has some of them.
func MapAt(addr Addr, bytes uintptr) (ok, taken bool) {
	got, err := unix.MmapPtr(-1, 0, addr.Pointer(), bytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		return false, err == unix.EEXIST
	}
	if Addr(uintptr(got)) != addr { // Linux before 4.17 takes the address for a wish
		Release(Addr(uintptr(got)), bytes)
		return false, true
	}
	return true, false
}
