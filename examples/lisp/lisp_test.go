package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"granary/managed"
)

// ways to collect much more often than is useful.
var ways = map[string]struct {
	options options
	heap    []managed.Option
}{
	"in one pause":     {options{every: 1000}, nil},
	"in slices":        {options{every: 200, sliced: true}, []managed.Option{managed.WithHelpers(0)}},
	"in little memory": {options{}, []managed.Option{managed.WithLimit(1 << 20)}},
}

func testHeap(t *testing.T, opts ...managed.Option) *managed.Heap {
	t.Helper()
	verify := managed.WithVerify(func(e *managed.VerifyError) { t.Error(e) })
	h, err := newHeap(append(opts, verify, managed.WithTicker(false), managed.WithRange(64<<20))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func TestProgramsRunUnderHeavyCollection(t *testing.T) {
	want := map[string]string{
		"queens.scm": "(1 0 0 2 10 4)\n",
		"scheme.scm": "(1 1 2 5 21 233)\n",
	}
	for name, way := range ways {
		for program, output := range want {
			t.Run(name+"/"+program, func(t *testing.T) {
				text, err := os.ReadFile(filepath.Join("programs", program))
				if err != nil {
					t.Fatal(err)
				}
				h := testHeap(t, way.heap...)
				var b strings.Builder
				if err := runText(h, string(text), &b, way.options); err != nil || b.String() != output {
					t.Errorf("%q, %v; want %q", b.String(), err, output)
				}
				s := h.Stats()
				if s.Collections < 2 {
					t.Errorf("only %d collections", s.Collections)
				}
				t.Log(s)
				h.Collect()
				h.Collect()
				if live := h.Stats().LiveBytes; live != 0 {
					t.Errorf("%d bytes are alive when the interpreter is gone", live)
				}
			})
		}
	}
}

func TestExpressions(t *testing.T) {
	h := testHeap(t)
	for text, want := range map[string]string{
		"(display (+ 1 2 (* 3 4)))":                                        "15",
		"(display '(1 . (2 . 3)))":                                         "(1 2 . 3)",
		"(display (let ((x 1) (y 2)) (set! x 5) (list x y)))":              "(5 2)",
		"(define (f . r) r) (display (f 1 2 3))":                           "(1 2 3)",
		"(define (f a . r) (list a r)) (display (f 1 2 3))":                "(1 (2 3))",
		"(display (and 1 2)) (display (or #f 3)) (display (and))":          "23#t",
		`(display (string-append "ab" (number->string -7)))`:               "ab-7",
		"(display (apply + '(1 2 3)))":                                     "6",
		"(define (f) (define x 1) (define x 2) x) (display (f))":           "2",
		"(let loop ((i 0)) (if (< i 100000) (loop (+ i 1)) (display i)))":  "100000",
		"(display (cond (#f 1) ((= 1 1) 2) (else 3)))":                     "2",
		"(display (quotient -7 2)) (display (remainder -7 2))":             "-3-1",
		"(define p (cons 1 2)) (set-cdr! p p) (display (eq? p (cdr p)))":   "#t",
		"(define l (iota 1000)) (collect) (display (length (append l l)))": "2000",
	} {
		var b strings.Builder
		if err := runText(h, text, &b, options{}); err != nil || b.String() != want {
			t.Errorf("%s: %q, %v; want %q", text, b.String(), err, want)
		}
	}
}

func TestWrongProgramsAreErrors(t *testing.T) {
	h := testHeap(t)
	for text, want := range map[string]string{
		"(car 1)":                          "car of something that is no pair: 1",
		"(undefined 1)":                    "no value is known for undefined",
		"(1 2)":                            "call of something that is no procedure: 1",
		"((lambda (x) x))":                 "too few arguments for ((x))",
		"((lambda (x) x) 1 2)":             "too many arguments for (x)",
		"(cons 1)":                         "cons does not take 1 arguments",
		"(display":                         "a parenthesis is not closed",
		"(1 . 2 3)":                        "more than one value behind a dot",
		")":                                "a closing parenthesis too many",
		`(display "x`:                      "a string is not closed",
		"(quotient 1 0)":                   "a division by 0",
		"(* 4000000000 4000000000)":        "an integer is too large: the product of 4000000000 and 4000000000",
		"(define (f x) (+ 1 (f x))) (f 1)": "the program calls too deep",
		"(error 'mine)":                    "error: mine",
		"(define 5 6)":                     "define of something that is no name: 5",
	} {
		err := runText(h, text, &strings.Builder{}, options{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
