//go:build gc

package coretest

import (
	"sync"

	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// threadsHaveIDs: a lock knows its holder. faults_gccgo.go tests what follows from that.
const threadsHaveIDs = false

var misuse struct {
	sync.Mutex
	found []misuseReport
}

func init() { heap.MisuseHandler = recordMisuse }

func recordMisuse(block sys.Addr, blockBytes uintptr, what int) {
	misuse.Lock()
	misuse.found = append(misuse.found, misuseReport{block, blockBytes, what})
	misuse.Unlock()
}

// takeMisuse returns what was reported since the last call.
func takeMisuse() []misuseReport {
	misuse.Lock()
	defer misuse.Unlock()
	found := misuse.found
	misuse.found = nil
	return found
}

func useNoCache(c heap.Cache) {}

var compilerTests []Test
