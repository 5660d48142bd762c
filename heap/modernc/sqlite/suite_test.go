//go:build programs

package sqlite

import (
	"strings"
	"testing"
)

// leftOut are tests that take minutes on any allocator, or do not end on a busy machine.
var leftOut = []string{
	"TestRegisteredFunctions", "TestConcurrentGoroutines", "TestConcurrentProcesses", "TestVFS", "TestIssue51",
	"TestIssue73", "TestOpenSQLiteFuzz",
}

// TestSqlitesOwnTestsPass runs the rest.
func TestSqlitesOwnTestsPass(t *testing.T) {
	results := runTests(t, "modernc.org/sqlite", "-skip", "^("+strings.Join(leftOut, "|")+")$")
	passed := 0
	for name, result := range results {
		if result == "pass" && name != "" && !strings.Contains(name, "/") {
			passed++
		}
	}
	if passed < 180 {
		t.Errorf("only %d tests passed", passed)
	}
	t.Logf("%d tests passed", passed)
}

func TestLibcsAllocatorTestsPass(t *testing.T) {
	results := runTests(t, "modernc.org/libc", "-short=false", "-run", "Alloc|Realloc|TLSClose")
	for _, name := range []string{"TestAllocator", "TestAllocatorFree", "TestReallocArray", "TestTLSCloseLiveFrames"} {
		if results[name] != "pass" {
			t.Errorf("%s: %q", name, results[name])
		}
	}
}
