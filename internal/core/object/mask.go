//go:build !race

package object

import "granary/internal/core/sys"

// quickMask is mask for Find, which has to stay small: the word only rises, and a plain load reads it whole.
func (w *World) quickMask() sys.Addr { return w.indexMask }
