//go:build gccgo

package sys

import "unsafe"

// The C glue (clib/glue/sys.c) implements these. None of them changes errno.

// PageBytes is the size of a page of the system.
//
//extern granary_sys_page_bytes
func PageBytes() uintptr

//extern granary_sys_reserve
func reserve(bytes uintptr) uintptr

//extern granary_sys_commit
func commit(addr, bytes uintptr) bool

//extern granary_sys_decommit
func decommit(addr, bytes uintptr) bool

//extern granary_sys_release
func release(addr, bytes uintptr)

// AddressSpaceLimit is how many bytes of address space the process may have in all, ^0 if there is no limit.
//
//extern granary_sys_address_space_limit
func AddressSpaceLimit() uintptr

// Now is the monotonic time in nanoseconds.
//
//extern granary_sys_now
func Now() uint64

// ThreadID is a number above 0, unique among the threads alive, below 1<<31.
//
//extern granary_sys_thread_id
func ThreadID() uint32

//extern granary_sys_lock_wait
func lockWaitAddr(word unsafe.Pointer, value uint32)

//extern granary_sys_lock_wake
func lockWakeAddr(word unsafe.Pointer)

//extern granary_sys_clear
func clearMemory(addr, bytes uintptr)

//extern granary_sys_copy
func copyMemory(to, from, bytes uintptr)

//extern granary_sys_move
func moveMemory(to, from, bytes uintptr)

//extern granary_sys_cpu_relax
func cpuRelax()

const lockSpins = 100

// threadsHaveIDs: see lock.go.
const threadsHaveIDs = true

func lockWait(word *uint32, value uint32) { lockWaitAddr(unsafe.Pointer(word), value) }

func lockWake(word *uint32) { lockWakeAddr(unsafe.Pointer(word)) }

// Reserve takes address space; see the package comment. It returns 0 if the system refuses.
func Reserve(bytes uintptr) Addr { return Addr(reserve(bytes)) }

// Commit makes reserved address space usable. It returns false if the system refuses.
func Commit(addr Addr, bytes uintptr) bool { return commit(uintptr(addr), bytes) }

// Decommit gives the memory of committed pages back; they read as zero from then on. It returns false if the
// system refuses, and then the contents are as before.
func Decommit(addr Addr, bytes uintptr) bool { return decommit(uintptr(addr), bytes) }

// MustRecommit: what was uncommitted must not be touched before it is committed again.
const MustRecommit = false

// Uncommit gives the memory of committed pages back, and the right to touch them. It returns false if the system
// refuses, and then the contents are as before.
func Uncommit(addr Addr, bytes uintptr) bool { return decommit(uintptr(addr), bytes) }

// Release gives address space back.
func Release(addr Addr, bytes uintptr) { release(uintptr(addr), bytes) }

// Clear sets memory to zero.
func Clear(addr Addr, bytes uintptr) { clearMemory(uintptr(addr), bytes) }

// Copy copies memory; the two pieces do not overlap.
func Copy(to, from Addr, bytes uintptr) { copyMemory(uintptr(to), uintptr(from), bytes) }

// Move copies memory; the two pieces may overlap.
func Move(to, from Addr, bytes uintptr) { moveMemory(uintptr(to), uintptr(from), bytes) }
