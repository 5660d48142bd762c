//go:build gc && windows

package sys

import "golang.org/x/sys/windows"

// Windows promises memory when it is committed, not when it is touched: what all processes have committed together
// fits into memory and paging files. So Commit can fail for pages that nobody has touched, and the layers above commit
// in steps. Uncommit takes the promise back; Decommit does not, as its callers take the pages for usable afterwards.

func systemPageBytes() uintptr { return uintptr(windows.Getpagesize()) }

// Reserve takes address space; see the package comment. It returns 0 if the system refuses.
func Reserve(bytes uintptr) Addr {
	if bytes > mostBytes {
		return 0
	}
	addr, err := windows.VirtualAlloc(0, bytes, windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return 0
	}
	return Addr(addr)
}

// Commit makes reserved address space usable. It returns false if the system refuses.
func Commit(addr Addr, bytes uintptr) bool {
	_, err := windows.VirtualAlloc(uintptr(addr), bytes, windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err == nil
}

// Decommit gives the memory of committed pages back; they read as zero from then on.
//
// Pages that were decommitted and committed again would read as zero too, but the second step can fail, and between
// the two it is a fault to read them. Pages that MEM_RESET names read as before or as zero: after they were cleared
// that is the same. VirtualUnlock of pages that are not locked, which it reports as an error, takes them out of the
// working set.
func Decommit(addr Addr, bytes uintptr) bool {
	Clear(addr, bytes)
	if _, err := windows.VirtualAlloc(uintptr(addr), bytes, windows.MEM_RESET, windows.PAGE_READWRITE); err == nil {
		_ = windows.VirtualUnlock(uintptr(addr), bytes)
	}
	return true
}

// MustRecommit: what was uncommitted must not be touched before it is committed again.
const MustRecommit = true

// Uncommit gives the memory of committed pages back, and the right to touch them. It returns false if the system
// refuses, and then the contents are as before.
func Uncommit(addr Addr, bytes uintptr) bool {
	return windows.VirtualFree(uintptr(addr), bytes, windows.MEM_DECOMMIT) == nil
}

// Release gives address space back.
func Release(addr Addr, bytes uintptr) {
	if err := windows.VirtualFree(uintptr(addr), 0, windows.MEM_RELEASE); err != nil {
		panic("granary: BUG: VirtualFree of a reserved range failed: " + err.Error())
	}
}

// MapAt makes memory that reads as zero at these addresses. If it cannot, taken says whether that is for good because
// somebody else has some of them.
func MapAt(addr Addr, bytes uintptr) (ok, taken bool) {
	_, err := windows.VirtualAlloc(uintptr(addr), bytes, windows.MEM_RESERVE|windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err == nil, err == windows.ERROR_INVALID_ADDRESS
}

// AddressSpaceLimit is how many bytes of address space the process may have in all, ^0 if there is no limit.
func AddressSpaceLimit() uintptr { return ^uintptr(0) }

// Now is the monotonic time in nanoseconds, in steps of some milliseconds.
func Now() uint64 { return uint64(windows.DurationSinceBoot()) + 1 }
