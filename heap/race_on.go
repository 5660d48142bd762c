//go:build race

package heap

import (
	"runtime"
	"unsafe"

	"granary/internal/core/sys"
)

// The race detector does not look at memory outside of the Go heap, and knows nothing of pinning. So that what a
// goroutine did before a Free happens before what another does after the Alloc that gets the block, each block has a
// stand-in on the Go heap, which it may share with others.

const raceEnabled = true

var raceStandIns [1 << 12]uint64

func raceStandIn(block sys.Addr) unsafe.Pointer {
	return unsafe.Pointer(&raceStandIns[uintptr(block)*0x9e3779b97f4a7c15>>52])
}

func raceAcquire(block sys.Addr) { runtime.RaceAcquire(raceStandIn(block)) }

func raceRelease(block sys.Addr) { runtime.RaceReleaseMerge(raceStandIn(block)) }
