//go:build gc

package coretest

import (
	"bytes"
	"os/exec"
	"runtime/debug"
	"testing"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

func TestCore(t *testing.T) {
	for _, test := range All() {
		t.Run(test.Name, func(t *testing.T) { test.Run(t) })
	}
}

// TestPointerAtTheEndOfTheRangeIsReported frees the last words that may be touched. It is not among All, as it takes
// the ordinary compiler's runtime to fail and not to crash.
func TestPointerAtTheEndOfTheRangeIsReported(t *testing.T) {
	r := newRig(t, 1)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	end := r.h.Base + sys.Addr(r.h.Committed()<<space.GranuleShift)
	for _, addr := range []sys.Addr{end - 16, end - 8, end - 1} {
		for _, cache := range []int{0, 1} {
			func() {
				defer func() {
					if fault := recover(); fault != nil {
						t.Errorf("Free of the address %d bytes before the end: %v", end-addr, fault)
					}
				}()
				r.h.Free(r.cache(cache), addr)
				r.expectMisuse(addr, 0, misuseForeign, "at the end of what is committed")
			}()
		}
	}
	r.close()
}

// TestCoreWithPointersChecked runs the tests that call most of the core once more, with every use of unsafe checked as
// -race does it too. (The race detector itself sees little of the core, whose state lies outside of the Go heap.)
func TestCoreWithPointersChecked(t *testing.T) {
	t.Parallel()
	command := exec.Command("go", "test", "-gcflags=granary/internal/core/...=-d=checkptr",
		"-run", "^TestCore$/(committed|random_scripts_with_a_look_at|threads_hand|realloc_moves|free_neighbours)", ".")
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
