//go:build gc

package gctest

import (
	"sync/atomic"

	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// Each dead object that a kind's procedure is asked about counts; it wants to keep those whose first word is not 0.
var disclaimed int64

func init() { gc.Disclaim = disclaim }

func disclaim(procedure uint32, object sys.Addr) bool {
	atomic.AddInt64(&disclaimed, int64(procedure))
	return object.Word() != 0
}

// takeDisclaimed is the sum of the procedures' numbers over the calls since the last time.
func takeDisclaimed() int { return int(atomic.SwapInt64(&disclaimed, 0)) }

// Only the gccgo build can make the system refuse: see faults_gccgo.go.
var faultTests []Test
