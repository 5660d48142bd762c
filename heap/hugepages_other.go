//go:build !linux

package heap

import "granary/internal/core/sys"

// adviseHugePages has nothing to say where the system decides by itself, or wants to be asked for huge pages
// one by one.
func adviseHugePages(sys.Addr, uintptr, bool) bool { return false }
