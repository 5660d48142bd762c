//go:build gccgo

package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// threadsHaveIDs: a lock knows its holder. faults_gccgo.go tests what follows from that.
const threadsHaveIDs = true

// The functions of testdata/gccgo/doubles.c.

//extern granary_test_use_no_cache
func cUseNoCache(cache uintptr)

//extern granary_test_misuse_count
func cMisuseCount() int

//extern granary_test_misuse_block
func cMisuseBlock(index int) uintptr

//extern granary_test_misuse_bytes
func cMisuseBytes(index int) uintptr

//extern granary_test_misuse_what
func cMisuseWhat(index int) int

//extern granary_test_misuse_clear
func cMisuseClear()

// takeMisuse returns what was reported since the last call.
func takeMisuse() []misuseReport {
	var found []misuseReport
	for i := 0; i < cMisuseCount(); i++ {
		found = append(found, misuseReport{sys.Addr(cMisuseBlock(i)), cMisuseBytes(i), cMisuseWhat(i)})
	}
	cMisuseClear()
	return found
}

func useNoCache(c heap.Cache) { cUseNoCache(uintptr(c)) }
