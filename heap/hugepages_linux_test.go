package heap

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// mappingFlags are the VmFlags of the mapping that an address lies in, "" if the system does not say.
func mappingFlags(t *testing.T, addr uintptr) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(text)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from <= addr && addr < to
		}
		if flags, found := strings.CutPrefix(line, "VmFlags:"); found && inside {
			return " " + strings.TrimSpace(flags) + " "
		}
	}
	return ""
}

func TestHugePagesAreForTheHeapThatAsksForThem(t *testing.T) {
	const rangeBytes = 56 << 20 // no other test has one of this size
	for round, want := range []bool{true, false, true} {
		h, err := New(WithRange(rangeBytes), WithHugePages(want), WithTicker(false))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []uintptr{0, 4 << 20, rangeBytes - 1} {
			flags := mappingFlags(t, uintptr(h.core.Base)+at)
			if got := strings.Contains(flags, " hg "); flags != "" && got != h.place.huge {
				t.Errorf("round %d: flags at %d: %q; the heap takes its pages for huge: %v", round, at, flags,
					h.place.huge)
			}
		}
		if h.place.huge && !want {
			t.Errorf("round %d: a heap that did not ask has huge pages", round)
		}
		for _, size := range []int{16, 5000, 100_000, 5 << 20} {
			p, err := h.AllocZeroed(size)
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Free(p); err != nil {
				t.Error(err)
			}
		}
		h.Trim()
		mustHold(t, h)
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
}
