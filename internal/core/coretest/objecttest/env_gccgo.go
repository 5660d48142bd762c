//go:build gccgo

package objecttest

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// The functions of coretest/testdata/gccgo/doubles.c.

//extern granary_test_use_no_cache
func useNoCache(cache uintptr)

//extern granary_test_fail
func failCalls(call, after, times int)

const callSystem = 3

var prepared bool

// prepare starts the process's heap so that the system allocator serves all of it.
func prepare() {
	if prepared {
		return
	}
	prepared = true
	noCache := sys.Reserve(sys.AlignUp(heap.NoCacheBytes, sys.PageBytes()))
	if noCache == 0 || !sys.Commit(noCache, sys.AlignUp(heap.NoCacheBytes, sys.PageBytes())) {
		panic("no memory")
	}
	useNoCache(uintptr(noCache))
	heap.ProcessStart(0, uintptr(noCache), heap.ModeSystem, 0)
}

func blocksInUse() int { return 0 }

const countsBlocks = false

// failAllocations has all allocations but the next ones fail; below 0 none.
func failAllocations(after int) {
	if after < 0 {
		failCalls(callSystem, 0, 0)
	} else {
		failCalls(callSystem, after, 1<<30)
	}
}

func testBlock() sys.Addr { return heap.ProcessMalloc(40) }
