//go:build gccgo

package sys

// CompilerBarrier keeps the compiler from moving stores across it, for threads that a signal may stop between any two
// instructions.
//
//extern granary_sys_compiler_barrier
func CompilerBarrier()
