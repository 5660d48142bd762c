// Package heaptest finds blocks that tests forget to free, in the manner of goleak.
//
//	func TestCache(t *testing.T) {
//		h := heaptest.New(t)            // in debug mode; fails the test if anything is left at its end
//		...
//	}
//
//	func TestOther(t *testing.T) {
//		defer heaptest.VerifyNone(t)    // the same for all heaps of the program
//		...
//	}
package heaptest

import (
	"fmt"
	"io"
	"os"
	"strings"

	"granary/heap"
)

// TestingT is what VerifyNone needs of a *testing.T.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
}

// TestingTB is what New needs of a *testing.T.
type TestingTB interface {
	TestingT
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Option is an exception.
type Option func(*settings)

type settings struct {
	heaps  []*heap.Heap
	before map[*heap.Heap]map[string]heap.Leak
}

// In looks at these heaps only, and not at all that are open.
func In(heaps ...*heap.Heap) Option { return func(s *settings) { s.heaps = heaps } }

// IgnoreCurrent leaves out as many blocks as are alive at the call, by the place that allocated them. Like goleak's
// option of this name it is no help for tests that run in parallel.
func IgnoreCurrent() Option {
	before := map[*heap.Heap]map[string]heap.Leak{}
	for _, h := range heap.Heaps() {
		before[h] = byPlace(h.Leaks())
	}
	return func(s *settings) { s.before = before }
}

func byPlace(leaks []heap.Leak) map[string]heap.Leak {
	places := map[string]heap.Leak{}
	for _, leak := range leaks {
		places[leak.AllocatedAt.String()] = leak
	}
	return places
}

// VerifyNone fails the test for every place whose blocks are still alive, and if one was written to where it must not
// be. Places are known for heaps in debug mode.
func VerifyNone(t TestingT, options ...Option) {
	t.Helper()
	for _, problem := range find(options) {
		t.Errorf("%s", problem)
	}
}

func find(options []Option) []string {
	var s settings
	for _, option := range options {
		option(&s)
	}
	if s.heaps == nil {
		s.heaps = heap.Heaps()
	}
	var problems []string
	for _, h := range s.heaps {
		if err := h.CheckMisuse(); err != nil {
			problems = append(problems, err.Error())
		}
		for _, leak := range h.Leaks() {
			known := s.before[h][leak.AllocatedAt.String()]
			leak.Blocks -= known.Blocks
			leak.Bytes -= known.Bytes
			if leak.Blocks > 0 {
				problems = append(problems, leak.String())
			}
		}
	}
	return problems
}

// New makes a heap in debug mode that ends with the test, and fails it for every block that is alive by then and for
// every misuse that was found.
func New(t TestingTB, options ...heap.Option) *heap.Heap {
	t.Helper()
	handler := heap.WithMisuseHandler(func(e *heap.MisuseError) { t.Errorf("%v", e) })
	h, err := heap.New(append([]heap.Option{heap.WithDebug(true), handler}, options...)...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		VerifyNone(t, In(h))
		if err := h.Close(); err != nil {
			t.Errorf("%v", err)
		}
	})
	return h
}

// TestingM is what VerifyTestMain needs of a *testing.M.
type TestingM interface{ Run() int }

// VerifyTestMain runs the tests of a package, and ends the program; it fails if all tests pass and blocks are left.
//
//	func TestMain(m *testing.M) { heaptest.VerifyTestMain(m) }
func VerifyTestMain(m TestingM, options ...Option) { os.Exit(verify(m, os.Stderr, options)) }

func verify(m TestingM, w io.Writer, options []Option) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	problems := find(options)
	if len(problems) == 0 {
		return 0
	}
	fmt.Fprintln(w, strings.Join(problems, "\n"))
	return 1
}
