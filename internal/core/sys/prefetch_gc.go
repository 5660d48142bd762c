//go:build gc && (amd64 || arm64)

package sys

// Prefetch starts fetching the cache line of an address, which need not be one that can be read. It is a call, since
// the compiler has the instruction for its own runtime only; marking takes twice as long without.
//
//go:noescape
func Prefetch(addr Addr)

// PrefetchBytes is Prefetch for PrefetchedBytes from an address on.
//
//go:noescape
func PrefetchBytes(addr Addr)

// PrefetchWrite is Prefetch for a line that will be written, and that other processors may have.
//
//go:noescape
func PrefetchWrite(addr Addr)

// PrefetchEach fetches the cache lines at so many offsets, which lie in a list, from a base.
//
//go:noescape
func PrefetchEach(list Addr, count uintptr, base Addr)

// PrefetchRecords is PrefetchEach in a table of records of that many bytes, a power of two. The record of an offset is
// at the offset shifted to the right; of its lines the first is fetched, and that 64 bytes on, which will be written.
//
//go:noescape
func PrefetchRecords(list Addr, count uintptr, table Addr, shift, bytes uintptr)

// PrefetchGranules fetches the cache lines of granules of 16 bytes, counted from a base. Their numbers are in a ring of
// 256 bytes, from one place up to another, which is not the same.
//
//go:noescape
func PrefetchGranules(ring Addr, from, to uintptr, base Addr)
