//go:build gc

package objecttest

import (
	"slices"
	"testing"

	"granary/tools/undergccgo"
)

func TestObjects(t *testing.T) {
	for _, test := range All() {
		t.Run(test.Name, func(t *testing.T) { test.Run(t) })
	}
}

// TestObjectsUnderGccgo runs the tests as a program of gccgo's.
func TestObjectsUnderGccgo(t *testing.T) {
	t.Parallel()
	undergccgo.Run(t, "../../../..", undergccgo.Program{
		Core:  []string{"sys", "space", "heap", "object"},
		Tests: "coretest/objecttest",
		Main:  "internal/core/coretest/objecttest/testdata/gccgo/main.go",
		Glue: append(slices.Clone(undergccgo.HeapGlue), undergccgo.Source{
			File: "internal/core/coretest/objecttest/testdata/gccgo/objects.c",
		}),
	}, All())
}

// FuzzObjects runs any bytes as calls of a world; see RunScript.
func FuzzObjects(f *testing.F) {
	for seed := uint64(1); seed <= 6; seed++ {
		f.Add(RandomScript(seed, 60*int(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { RunScript(t, data, 400) })
}
