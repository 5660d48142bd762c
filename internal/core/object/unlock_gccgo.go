//go:build gccgo

package object

import "granary/internal/core/sys"

// unlock gives a lock up.
func unlock(word *uint32) { sys.Unlock(word) }
