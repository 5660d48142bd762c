//go:build gc

package sys

import "runtime"

// CPUs is the number of processors that the process may run on, at least 1.
func CPUs() uint32 { return uint32(runtime.NumCPU()) }

// Relax tells the processor that the caller spins.
func Relax() {}

// Yield lets other threads run.
func Yield() { runtime.Gosched() }

// PrefetchInline is Prefetch where that is an instruction. Here, where it is a call, it does nothing: it is for lines
// that are most often in the cache already.
func PrefetchInline(addr Addr) {}
