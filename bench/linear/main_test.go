package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun has the benchmark measure a little, to see that all of it works.
func TestRun(t *testing.T) {
	build := os.Getenv("GRANARY_BUILD")
	if build == "" {
		build = filepath.Join("..", "..", "build")
	}
	var out strings.Builder
	if err := run(&out, 1, 3, build, "c/frames.c"); err != nil {
		t.Fatalf("%v (the library is built by make lib)", err)
	}
	for _, want := range []string{"| linear.Allocator |", "| linear.Stack |", "| make |", "| linear, frame reset |",
		"| linear |", "| glibc |", "| granary |"} {
		if !strings.Contains(out.String(), strings.Replace(want, "frame ", "", 1)) {
			t.Errorf("the result does not say %q:\n%s", want, out.String())
		}
	}
}
