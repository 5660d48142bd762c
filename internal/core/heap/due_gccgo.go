//go:build gccgo

package heap

// ProcessNextLook is NextLook for the calling thread.
func ProcessNextLook(now, quiet uint64) uint64 {
	return process.NextLook(Cache(currentCache()), now, quiet)
}

// ProcessGiveTail gives the address space back that the heap has only reserved.
func ProcessGiveTail() { process.GiveTail() }
