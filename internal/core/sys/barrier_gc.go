//go:build gc

package sys

// CompilerBarrier keeps the compiler from moving stores across it, for threads that a signal may stop between any two
// instructions. A Go program stops none of its threads so.
func CompilerBarrier() {}
