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
