//go:build !race

package heap

import "granary/internal/core/sys"

const raceEnabled = false

func raceAcquire(block sys.Addr) {}

func raceRelease(block sys.Addr) {}
