//go:build gc && (linux || darwin)

package sys

import "golang.org/x/sys/unix"

// anonymous is what all mappings are.
const anonymous = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

func systemPageBytes() uintptr { return uintptr(unix.Getpagesize()) }

// Reserve takes address space; see the package comment. It returns 0 if the system refuses.
func Reserve(bytes uintptr) Addr {
	if bytes > mostBytes {
		return 0
	}
	addr, err := unix.MmapPtr(-1, 0, nil, bytes+leastPageBytes-1, unix.PROT_NONE, anonymous)
	if err != nil {
		return 0
	}
	return Addr(AlignUp(uintptr(addr), leastPageBytes))
}

// Commit makes reserved address space usable. It returns false if the system refuses.
func Commit(addr Addr, bytes uintptr) bool {
	return wholePages(addr, 0) && unix.Mprotect(slice(addr, bytes), unix.PROT_READ|unix.PROT_WRITE) == nil
}

// MustRecommit: what was uncommitted must not be touched before it is committed again.
const MustRecommit = strict

// Uncommit gives the memory of committed pages back, and the right to touch them. It returns false if the system
// refuses, and then the contents are as before.
func Uncommit(addr Addr, bytes uintptr) bool {
	return Decommit(addr, bytes) && (!strict || unix.Mprotect(slice(addr, bytes), unix.PROT_NONE) == nil)
}

// Release gives address space back.
func Release(addr Addr, bytes uintptr) {
	if err := unix.MunmapPtr(addr.Pointer(), bytes); err != nil {
		panic("granary: BUG: munmap of a reserved range failed: " + err.Error())
	}
}

// AddressSpaceLimit is how many bytes of address space the process may have in all, ^0 if there is no limit.
func AddressSpaceLimit() uintptr {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &limit) != nil || limit.Cur >= unix.RLIM_INFINITY ||
		uint64(limit.Cur) > uint64(^uintptr(0)) {
		return ^uintptr(0)
	}
	return uintptr(limit.Cur)
}

// Now is the monotonic time in nanoseconds.
func Now() uint64 {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 1
	}
	return uint64(now.Nano())
}
