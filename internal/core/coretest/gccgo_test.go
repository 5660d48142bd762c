//go:build gc

package coretest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"granary/tools/undergccgo"
)

const repository = "../../.."

// TestCoreUnderGccgo runs the tests as a program of gccgo's.
func TestCoreUnderGccgo(t *testing.T) {
	t.Parallel()
	undergccgo.Run(t, repository, undergccgo.Program{
		Core:  []string{"sys", "space", "heap"},
		Tests: "coretest",
		Main:  "internal/core/coretest/testdata/gccgo/main.go",
		Glue:  undergccgo.HeapGlue,
	}, All())
}

func TestGccgoFlagsAreTheLibrarys(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(repository, "clib/build.mk"))
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, word := range strings.Fields(string(rules)) {
		words[word] = true
	}
	for _, flag := range undergccgo.Flags {
		if !words[flag] {
			t.Errorf("%s is not among the flags of clib/build.mk: build the core for the tests as the library's", flag)
		}
	}
	if !words["-flto=auto"] || !words["GCCGO_FLAGS"] {
		t.Errorf("clib/build.mk no longer builds the core as this test expects")
	}
}
