//go:build gc && !amd64 && !arm64

package sys

// Prefetch does nothing on machines whose instruction for it is not known here.
func Prefetch(addr Addr) {}

// PrefetchBytes does nothing either.
func PrefetchBytes(addr Addr) {}

// PrefetchWrite does nothing either.
func PrefetchWrite(addr Addr) {}
