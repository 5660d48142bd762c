package kit

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// T is the part of a test's state that the tests need; *testing.T has it.
type T interface {
	Errorf(format string, args ...interface{})
	Fatalf(format string, args ...interface{}) // does not return
	Logf(format string, args ...interface{})
}

// Test is one test with its name, which says what must hold.
type Test struct {
	Name string
	Run  func(T)
}

// stop ends a test early.
type stop struct{}

type test struct {
	name   string
	failed bool
}

func (t *test) Errorf(format string, args ...interface{}) {
	t.failed = true
	fmt.Printf("    %s: %s\n", t.name, fmt.Sprintf(format, args...))
}

func (t *test) Fatalf(format string, args ...interface{}) {
	t.Errorf(format, args...)
	panic(stop{})
}

func (t *test) Logf(format string, args ...interface{}) {}

func run(name string, f func(T)) (fine bool) {
	t := &test{name: name}
	defer func() {
		reason := recover()
		if _, stopped := reason.(stop); reason != nil && !stopped {
			fmt.Printf("    %s: panic: %v\n", name, reason)
			t.failed = true
		}
		fine = !t.failed
	}()
	f(t)
	return !t.failed
}

// Main runs the tests whose names contain the program's first argument, all without one. It prints a line "ok" or
// "FAIL" and the name for each, and what went wrong; the exit status is 1 if anything did.
func Main(all []Test) {
	runtime.LockOSThread() // a lock of the core knows the thread that holds it
	only := ""
	if len(os.Args) > 1 {
		only = os.Args[1]
	}
	failures := 0
	for _, test := range all {
		if !strings.Contains(test.Name, only) {
			continue
		}
		result := "ok"
		if !run(test.Name, test.Run) {
			result = "FAIL"
			failures++
		}
		fmt.Printf("%s %s\n", result, test.Name)
	}
	if failures > 0 {
		fmt.Printf("%d tests failed\n", failures)
		os.Exit(1)
	}
}
