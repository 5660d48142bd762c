//go:build gc

package gctest

import (
	"slices"
	"testing"

	"granary/tools/undergccgo"
)

func TestGC(t *testing.T) {
	for _, test := range All() {
		t.Run(test.Name, func(t *testing.T) { test.Run(t) })
	}
}

// TestGCUnderGccgo runs the tests as a program of gccgo's.
func TestGCUnderGccgo(t *testing.T) {
	t.Parallel()
	undergccgo.Run(t, "../../../..", undergccgo.Program{
		Core:  []string{"sys", "space", "gc"},
		Tests: "coretest/gctest",
		Main:  "internal/core/coretest/gctest/testdata/gccgo/main.go",
		Glue: append(slices.Clone(undergccgo.SysGlue), undergccgo.Source{
			File: "internal/core/coretest/gctest/testdata/gccgo/doubles.c",
		}),
	}, All())
}

// FuzzOperations runs any bytes as calls of a heap by several threads; see RunScript. Give go test -fuzzminimizetime=5x
// as well: what a script covers depends on addresses, so shrinking one never comes to an end.
func FuzzOperations(f *testing.F) {
	for seed := uint64(1); seed <= 6; seed++ {
		f.Add(RandomScript(seed, 40+60*int(seed)), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, limit uint8) {
		RunScript(t, data, 500, 8, uintptr(limit)<<16)
	})
}
