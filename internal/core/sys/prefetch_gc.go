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
