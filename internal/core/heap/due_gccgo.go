//go:build gccgo

package heap

// ProcessNextLook is NextLook for the calling thread.
func ProcessNextLook(now, quiet uint64) uint64 {
	return process.NextLook(Cache(currentCache()), now, quiet)
}
