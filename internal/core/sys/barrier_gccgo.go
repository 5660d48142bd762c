//go:build gccgo

package sys

// CompilerBarrier keeps the compiler from moving stores across it, for threads that a signal may stop between any two
// instructions.
//
//extern granary_sys_compiler_barrier
func CompilerBarrier()

// Opaque returns the address, as the very value that the caller keeps from then on: a compiler does not compute it anew
// from others. A signal that stops the thread finds it in a register or on the stack.
//
//extern granary_sys_opaque
func Opaque(addr Addr) Addr
