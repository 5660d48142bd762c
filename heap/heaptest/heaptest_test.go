package heaptest

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"granary/heap"
)

// recorder is a test that may fail.
type recorder struct {
	failures []string
	cleanups []func()
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) { r.Errorf(format, args...) }

func (r *recorder) Cleanup(f func()) { r.cleanups = append(r.cleanups, f) }

func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}

func (r *recorder) mustBe(t *testing.T, parts ...string) {
	t.Helper()
	if len(r.failures) != len(parts) {
		t.Fatalf("%d failures, want %d: %q", len(r.failures), len(parts), r.failures)
	}
	for i, part := range parts {
		if !strings.Contains(r.failures[i], part) {
			t.Errorf("%q is not in %q", part, r.failures[i])
		}
	}
}

func alloc(t *testing.T, h *heap.Heap, size int) unsafe.Pointer {
	t.Helper()
	p, err := h.Alloc(size)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestNewFailsATestThatForgetsABlock(t *testing.T) {
	r := &recorder{}
	h := New(r)
	h.Free(alloc(t, h, 10))
	alloc(t, h, 50)
	r.mustBe(t)
	r.end()
	r.mustBe(t, "leak: 1 blocks, 50 bytes, allocated at:\n    #0 granary/heap/heaptest.alloc")
}

func TestNewFailsATestThatWritesToAFreedBlock(t *testing.T) {
	r := &recorder{}
	h := New(r)
	p := alloc(t, h, 50)
	h.Free(p)
	*(*byte)(p) = 1
	r.end()
	r.mustBe(t, "written to after it was freed", "written to after it was freed") // by the handler and VerifyNone
}

func TestNewPassesATestThatFreesAll(t *testing.T) {
	r := &recorder{}
	h := New(r)
	h.Free(alloc(t, h, 50))
	r.end()
	r.mustBe(t)
}

func TestVerifyNoneLooksAtAllHeapsButForExceptions(t *testing.T) {
	debug, err := heap.New(heap.WithDebug(true))
	if err != nil {
		t.Fatal(err)
	}
	defer debug.Close()
	plain, err := heap.New()
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	alloc(t, debug, 50)
	r := &recorder{}
	VerifyNone(r, In(plain))
	r.mustBe(t)
	VerifyNone(r)
	r.mustBe(t, "1 blocks, 50 bytes")
	current := IgnoreCurrent()
	r = &recorder{}
	VerifyNone(r, current)
	r.mustBe(t)
	alloc(t, debug, 70)
	alloc(t, plain, 100)
	VerifyNone(r, current)
	r.mustBe(t, "1 blocks, 70 bytes, allocated at", "1 blocks, 112 bytes")
}

type fakeMain int

func (m fakeMain) Run() int { return int(m) }

func TestVerifyTestMainFailsOnlyWhatPassed(t *testing.T) {
	h, err := heap.New(heap.WithDebug(true))
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var text strings.Builder
	only := []Option{In(h)}
	if code := verify(fakeMain(0), &text, only); code != 0 || text.Len() != 0 {
		t.Error(code, text.String())
	}
	alloc(t, h, 50)
	if code := verify(fakeMain(2), &text, only); code != 2 || text.Len() != 0 {
		t.Error(code, text.String())
	}
	if code := verify(fakeMain(0), &text, only); code != 1 || !strings.Contains(text.String(), "50 bytes") {
		t.Error(code, text.String())
	}
}
