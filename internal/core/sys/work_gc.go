//go:build gc

package sys

import "runtime"

// Prefetch starts fetching the cache line of an address, which need not be one that can be read. The ordinary
// compiler has no such instruction to offer without a call that costs as much as it saves.
func Prefetch(addr Addr) {}

// PrefetchWrite is Prefetch for a line that will be written, and that other processors may have.
func PrefetchWrite(addr Addr) {}

// CPUs is the number of processors that the process may run on, at least 1.
func CPUs() uint32 { return uint32(runtime.NumCPU()) }

// Relax tells the processor that the caller spins.
func Relax() {}

// Yield lets other threads run.
func Yield() { runtime.Gosched() }
