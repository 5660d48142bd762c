package heap

import (
	"fmt"
	"runtime"
	"strings"
)

// Stack is where a goroutine was: return addresses, the innermost first.
type Stack []uintptr

// String has a line a frame.
func (s Stack) String() string {
	var b strings.Builder
	frames := runtime.CallersFrames(s)
	for i := 0; len(s) > 0; i++ {
		frame, more := frames.Next()
		fmt.Fprintf(&b, "    #%d %s\n        %s:%d\n", i, frame.Function, frame.File, frame.Line)
		if !more {
			break
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

const thisPackage = "granary/heap."

// withoutOwnFrames leaves out the frames of this package at the inner end: the reader wants to see the call.
func withoutOwnFrames(pcs []uintptr) []uintptr {
	for i, pc := range pcs {
		f := runtime.FuncForPC(pc - 1)
		if f == nil || !strings.HasPrefix(f.Name(), thisPackage) || isTestFunction(f.Name()) {
			return pcs[i:]
		}
	}
	return pcs
}

// isTestFunction: the tests of this package are callers, too.
func isTestFunction(name string) bool {
	name = name[len(thisPackage):]
	return strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Benchmark") ||
		strings.HasPrefix(name, "Example")
}
