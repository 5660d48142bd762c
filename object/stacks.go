package object

import (
	"runtime"
	"strings"
	"sync"
)

const framesMost = 24

// stackTable numbers stacks from 1: objects made at the same place share one.
type stackTable struct {
	mu      sync.Mutex
	numbers map[[framesMost]uintptr]uint32
	stacks  []Stack
}

var stacks = stackTable{numbers: map[[framesMost]uintptr]uint32{}}

// here is the number of the stack of this package's caller.
func (s *stackTable) here() uint32 {
	var frames [framesMost + 8]uintptr
	count := runtime.Callers(2, frames[:])
	outer := withoutOwnFrames(frames[:count])
	var key [framesMost]uintptr
	count = copy(key[:], outer)
	s.mu.Lock()
	defer s.mu.Unlock()
	number := s.numbers[key]
	if number == 0 {
		s.stacks = append(s.stacks, append(Stack(nil), key[:count]...))
		number = uint32(len(s.stacks))
		s.numbers[key] = number
	}
	return number
}

// get is the stack with a number, nil for 0.
func (s *stackTable) get(number uint32) Stack {
	s.mu.Lock()
	defer s.mu.Unlock()
	if number == 0 || int(number) > len(s.stacks) {
		return nil
	}
	return s.stacks[number-1]
}

const (
	thisPackage = "granary/object."
	corePackage = "granary/internal/core/object."
)

// withoutOwnFrames leaves out the frames of this package at the inner end: the reader wants to see the call. The tests
// of this package are callers, too.
func withoutOwnFrames(pcs []uintptr) []uintptr {
	for i, pc := range pcs {
		f := runtime.FuncForPC(pc - 1)
		if f == nil {
			return pcs[i:]
		}
		own := strings.HasPrefix(f.Name(), thisPackage) || strings.HasPrefix(f.Name(), corePackage)
		if file, _ := f.FileLine(pc - 1); !own || strings.HasSuffix(file, "_test.go") {
			return pcs[i:]
		}
	}
	return pcs
}
