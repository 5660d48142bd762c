//go:build gccgo

package sys

// Prefetch starts fetching the cache line of an address, which need not be one that can be read.
//
//extern granary_sys_prefetch
func Prefetch(addr Addr)

// PrefetchInline is Prefetch for lines that are most often in the cache already: where that takes a call, it does
// nothing.
func PrefetchInline(addr Addr) { Prefetch(addr) }

// PrefetchBytes is Prefetch for PrefetchedBytes from an address on.
//
//extern granary_sys_prefetch_bytes
func PrefetchBytes(addr Addr)

// PrefetchWrite is Prefetch for a line that will be written, and that other processors may have.
//
//extern granary_sys_prefetch_write
func PrefetchWrite(addr Addr)

// PrefetchEach fetches the cache lines at so many offsets, which lie in a list, from a base.
func PrefetchEach(list Addr, count uintptr, base Addr) {
	for ; count != 0; count-- {
		Prefetch(base + Addr(list.Word()))
		list += WordBytes
	}
}

// PrefetchRecords is PrefetchEach in a table of records of that many bytes, a power of two. The record of an offset is
// at the offset shifted to the right; of its lines the first is fetched, and that 64 bytes on, which will be written.
func PrefetchRecords(list Addr, count uintptr, table Addr, shift, bytes uintptr) {
	for ; count != 0; count-- {
		record := table + Addr(list.Word()>>shift&^(bytes-1))
		Prefetch(record)
		PrefetchWrite(record + 64)
		list += WordBytes
	}
}

// CPUs is the number of processors that the process may run on, at least 1.
//
//extern granary_sys_cpus
func CPUs() uint32

// Relax tells the processor that the caller spins.
//
//extern granary_sys_cpu_relax
func Relax()

// Yield lets other threads run.
//
//extern granary_sys_yield
func Yield()
