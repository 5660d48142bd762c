//go:build gc

package sys

import "runtime"

// CPUs is the number of processors that the process may run on, at least 1.
func CPUs() uint32 { return uint32(runtime.NumCPU()) }

// Relax tells the processor that the caller spins.
func Relax() {}

// Yield lets other threads run.
func Yield() { runtime.Gosched() }
