//go:build gc

package gctest

import (
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
		Glue: []undergccgo.Source{
			{File: "clib/glue/sys.c"},
			{File: "internal/core/coretest/gctest/testdata/gccgo/doubles.c"},
		},
	}, All())
}
