//go:build race

package object

import "granary/internal/core/sys"

// quickMask is mask for Find, so that the race detector sees an atomic load.
func (w *World) quickMask() sys.Addr { return sys.Addr(w.mask()) }
