package heap

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// debugged is a heap in debug mode and what its handler was told.
func debugged(t *testing.T) (*Heap, *[]*MisuseError) {
	told := &[]*MisuseError{}
	return mustNew(t, WithDebug(true), WithMisuseHandler(func(e *MisuseError) { *told = append(*told, e) })), told
}

// TestingAllocates and TestingFrees are names to be looked for in stacks.
//
//go:noinline
func TestingAllocates(h *Heap, size int) unsafe.Pointer {
	p, err := h.Alloc(size)
	if err != nil {
		panic(err)
	}
	return p
}

//go:noinline
func TestingFrees(h *Heap, p unsafe.Pointer) error { return h.Free(p) }

func mustBe(t *testing.T, err error, kind Misuse, parts ...string) {
	t.Helper()
	var misuse *MisuseError
	if !errors.As(err, &misuse) || misuse.Kind != kind {
		t.Fatalf("%v, want one about %q", err, kind)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in:\n%v", part, err)
		}
	}
}

func TestDebugModeNamesWhereBlocksCameFromAndWent(t *testing.T) {
	for _, size := range []int{50, 100_000} {
		h, told := debugged(t)
		p := TestingAllocates(h, size)
		if got := h.UsableSize(p); got != size {
			t.Errorf("a block of %d bytes has %d usable ones", size, got)
		}
		mustBe(t, h.Free(unsafe.Add(p, 16)), InsideBlock, "16 bytes after its start", "heap.TestingAllocates")
		if err := TestingFrees(h, p); err != nil {
			t.Fatal(err)
		}
		mustBe(t, h.Free(p), FreedTwice, "heap.TestingAllocates", "heap.TestingFrees", "debug_test.go",
			"found at")
		_, err := h.Realloc(p, 10)
		mustBe(t, err, FreedTwice)
		if len(*told) != 0 {
			t.Errorf("the handler was told: %v", *told)
		}
	}
}

func TestDebugModeFindsWritesPastTheEnd(t *testing.T) {
	for _, size := range []int{16, 50, 64, 100_000} {
		h, _ := debugged(t)
		p := TestingAllocates(h, size)
		*(*byte)(unsafe.Add(p, size)) = 0
		mustBe(t, h.Free(p), WrittenPastEnd, "heap.TestingAllocates")
		mustBe(t, h.Free(p), FreedTwice) // it was freed all the same
		if leaks := h.Leaks(); leaks != nil {
			t.Errorf("a leak as well: %v", leaks)
		}
	}
}

func TestDebugModeFindsWritesToFreedBlocks(t *testing.T) {
	h, told := debugged(t)
	p := TestingAllocates(h, 50)
	TestingFrees(h, p)
	*(*byte)(unsafe.Add(p, 7)) = 1
	for range 3 { // the patrol of a later call meets it
		h.Free(TestingAllocates(h, 50))
	}
	if len(*told) != 1 {
		t.Fatalf("the handler was told %d times: %v", len(*told), *told)
	}
	mustBe(t, (*told)[0], WrittenFreed, "offset 7", "heap.TestingAllocates", "heap.TestingFrees")
	*(*byte)(unsafe.Add(p, 9)) = 1
	mustBe(t, h.CheckMisuse(), WrittenFreed, "offset 9")
	if err := h.CheckMisuse(); err != nil {
		t.Errorf("found once more: %v", err)
	}
}

func TestDebugModeChecksRefs(t *testing.T) {
	h, told := debugged(t)
	p, _ := Make[vector](h)
	r := RefOf(p)
	inner := RefOf(&p.Z)
	if r.Get() != p || inner.Get() != &p.Z {
		t.Error("a Ref does not lead back")
	}
	if err := FreeRef(h, r); err != nil {
		t.Fatal(err)
	}
	if r.Get() != nil || inner.Get() != nil {
		t.Error("a stale Ref leads to a block that was freed")
	}
	mustBe(t, FreeRef(h, r), StaleRef)
	if len(*told) != 3 {
		t.Fatalf("the handler was told %d times", len(*told))
	}
	mustBe(t, (*told)[0], StaleRef)
	for range 10_000 { // until the quarantine has let the address go
		q, _ := Make[vector](h)
		Free(h, q)
		if q == p && RefOf(q) == r {
			t.Fatal("a new block's Ref equals the stale one")
		}
	}
}

func TestLeaksAreGroupedByStack(t *testing.T) {
	h, _ := debugged(t)
	var blocks []unsafe.Pointer
	for range 3 {
		blocks = append(blocks, TestingAllocates(h, 50))
	}
	blocks = append(blocks, TestingAllocates(h, 70_000))
	for range 2 {
		leaks := h.Leaks()
		if len(leaks) != 2 || leaks[0].Bytes != 70_000 || leaks[1].Blocks != 3 || leaks[1].Bytes != 150 {
			t.Fatalf("%v", leaks)
		}
		if text := leaks[1].String(); !strings.HasPrefix(text, "granary: leak: 3 blocks, 150 bytes, allocated at:\n") ||
			!strings.Contains(text, "heap.TestingAllocates") {
			t.Error(text)
		}
	}
	var report strings.Builder
	if n, err := ReportLeaks(&report); n < 4 || err != nil || !strings.Contains(report.String(), "never freed") {
		t.Error(n, err, report.String())
	}
	for _, p := range blocks {
		h.Free(p)
	}
	if leaks := h.Leaks(); leaks != nil {
		t.Errorf("after everything was freed: %v", leaks)
	}
}

func TestDebugModeServesManyGoroutines(t *testing.T) {
	h, told := debugged(t)
	var done sync.WaitGroup
	for g := range 8 {
		done.Go(func() {
			for i := range 200 {
				p, err := h.AllocZeroed(1 + g*i)
				if err != nil {
					t.Error(err)
					return
				}
				if p, err = h.Realloc(p, 40+i); err != nil {
					t.Error(err)
				}
				if err := h.Free(p); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	if len(*told) != 0 || h.Leaks() != nil {
		t.Errorf("%v, %v", *told, h.Leaks())
	}
}

func TestTheEnvironmentSwitchesDebugModeOn(t *testing.T) {
	t.Setenv("GRANARY_DEBUG_ALLOC", "1")
	if h := mustNew(t); h.debug == nil {
		t.Error("GRANARY_DEBUG_ALLOC=1 does nothing")
	}
	if h := mustNew(t, WithDebug(false)); h.debug != nil {
		t.Error("the option does not win")
	}
}

// TestDebugModeBeginsAnewOnAddressesUsedBefore closes heaps with live, freed and large blocks.
func TestDebugModeBeginsAnewOnAddressesUsedBefore(t *testing.T) {
	for range 3 {
		h, err := New(WithDebug(true), WithRange(64<<20))
		if err != nil {
			t.Fatal(err)
		}
		TestingAllocates(h, 50)
		TestingAllocates(h, 100_000)
		h.Free(TestingAllocates(h, 60))
		h.Free(TestingAllocates(h, 200_000))
		if leaks := h.Leaks(); len(leaks) != 2 {
			t.Errorf("%v", leaks)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}
