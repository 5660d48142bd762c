package heap

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"
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

// flagsAreShown reports whether the system says of a mapping that it is for huge pages: qemu's user mode does not.
func flagsAreShown(t *testing.T) bool {
	t.Helper()
	memory, err := syscall.Mmap(-1, 0, 4<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(memory)
	if err := syscall.Madvise(memory, syscall.MADV_HUGEPAGE); err != nil {
		return false
	}
	return strings.Contains(mappingFlags(t, uintptr(unsafe.Pointer(&memory[0]))), " hg ")
}

func TestHugePagesAreForTheHeapThatAsksForThem(t *testing.T) {
	shown := flagsAreShown(t)
	const rangeBytes = 56 << 20 // no other test has one of this size
	for round, want := range []bool{true, false, true} {
		h, err := New(WithRange(rangeBytes), WithHugePages(want), WithTicker(false))
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range []uintptr{0, 4 << 20, rangeBytes - 1} {
			flags := mappingFlags(t, uintptr(h.core.Base)+at)
			if got := strings.Contains(flags, " hg "); shown && got != h.place.huge {
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
