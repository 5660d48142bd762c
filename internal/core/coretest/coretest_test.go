//go:build gc

package coretest

import (
	"bytes"
	"os/exec"
	"testing"
)

func TestCore(t *testing.T) {
	for _, test := range All() {
		t.Run(test.Name, func(t *testing.T) { test.Run(t) })
	}
}

// TestCoreWithPointersChecked runs the tests that call most of the core once more, with every use of unsafe checked as
// -race does it too. (The race detector itself sees little of the core, whose state lies outside of the Go heap.)
func TestCoreWithPointersChecked(t *testing.T) {
	command := exec.Command("go", "test", "-gcflags=granary/internal/core/...=-d=checkptr",
		"-run", "^TestCore$/(committed|cleared|random_scripts_with_a_look_at|threads_hand|realloc_moves|free_neighbours)", ".")
	output, err := command.CombinedOutput()
	if err != nil || bytes.Contains(output, []byte("no tests to run")) {
		t.Errorf("%v\n%s", err, output)
	}
}

// FuzzHeapOperations runs any bytes as calls of a heap by several threads; see RunHeapScript. Give go test
// -fuzzminimizetime=5x as well: what a script covers depends on addresses, so shrinking one never comes to an end.
func FuzzHeapOperations(f *testing.F) {
	for seed := uint64(1); seed <= 6; seed++ {
		f.Add(RandomScript(seed, 40+60*int(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		RunHeapScript(t, data, 500, 8)
	})
}

// FuzzSpaceOperations runs any bytes as calls of a space; see RunSpaceScript.
func FuzzSpaceOperations(f *testing.F) {
	for seed := uint64(1); seed <= 6; seed++ {
		f.Add(RandomScript(seed, 40+60*int(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) { RunSpaceScript(t, data, 100) })
}
