//go:build gc && !amd64 && !arm64

package sys

// Prefetch does nothing on machines whose instruction for it is not known here.
func Prefetch(addr Addr) {}

// PrefetchBytes does nothing either.
func PrefetchBytes(addr Addr) {}

// PrefetchWrite does nothing either.
func PrefetchWrite(addr Addr) {}

// PrefetchEach does nothing either.
func PrefetchEach(list Addr, count uintptr, base Addr) {}

// PrefetchRecords does nothing either.
func PrefetchRecords(list Addr, count uintptr, table Addr, shift, bytes uintptr) {}

// PrefetchGranules does nothing either.
func PrefetchGranules(ring Addr, from, to uintptr, base Addr) {}
