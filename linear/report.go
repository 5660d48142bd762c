package linear

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// This file: the usage report, in the format in which Unity prints it, so that the tools for one read the other.

// Report writes the figures of the allocator: a line that says them in words, and the section that a usage report has
// of it.
func (a *Allocator) Report(w io.Writer) error {
	out := bufio.NewWriter(w)
	stats := a.Stats()
	a.summary(out, &stats)
	fmt.Fprintf(out, "Memory Statistics:\n")
	a.section(out, &stats)
	return out.Flush()
}

// summary says what the format has no field for. It must not look like a part of it.
func (a *Allocator) summary(w io.Writer, s *Stats) {
	fmt.Fprintf(w, "granary: linear %s: %d of at most %d blocks in use, %d at one time; reserved %s of at most %s "+
		"(%d blocks of %s, each up to %d times as large)\n", a.config.Name, s.BlocksUsed, s.BlocksMost, s.BlocksPeak,
		formatBytes(s.Reserved), formatBytes(s.ReservedMost), s.BlocksMost, formatBytes(s.BlockBytes),
		s.RequestMost/max(s.BlockBytes, 1))
	fmt.Fprintf(w, "granary: linear %s: frame %d; alive %d, and %d on the heap", a.config.Name, s.Frame, s.Live,
		s.OverflowsLive)
	if a.config.MaxAge != 0 {
		fmt.Fprintf(w, "; %d became older than %d frames, %d of them freed late, %d not freed", s.Overdue,
			a.config.MaxAge, s.Late, max(s.Overdue, s.Late)-s.Late)
	}
	if s.Misuses != 0 {
		fmt.Fprintf(w, "; %d wrong frees refused", s.Misuses)
	}
	fmt.Fprintln(w)
	for _, leak := range a.Leaks(false) {
		fmt.Fprintf(w, "granary: linear %s: %d alive made at\n%s\n", a.config.Name, leak.Count, leak.Stack)
	}
}

func (a *Allocator) section(w io.Writer, s *Stats) {
	fmt.Fprintf(w, "[ALLOC_TEMP_%s]\n", a.config.Name)
	fmt.Fprintf(w, "  Initial Block Size %s\n", formatBytes(s.BlockBytes))
	fmt.Fprintf(w, "  Used Block Count %d\n", s.BlocksPeak)
	fmt.Fprintf(w, "  Overflow Count (too large) %d\n", s.TooLarge)
	fmt.Fprintf(w, "  Overflow Count (full) %d\n", s.Full)
}

// stackSection is the part of the report that one or several threads of a name have.
func stackSection(w io.Writer, name string, threads int, s *StackStats) {
	fmt.Fprintf(w, "    [ALLOC_TEMP_%s]", name)
	if threads > 1 {
		fmt.Fprintf(w, " x %d", threads)
	}
	fmt.Fprintln(w)
	if bins := histogram(s); bins != "" {
		fmt.Fprintf(w, "      Peak usage frame count: %s\n", bins)
	}
	fmt.Fprintf(w, "      Initial Block Size %s\n", formatBytes(s.Initial))
	fmt.Fprintf(w, "      Current Block Size %s\n", formatBytes(s.Current))
	fmt.Fprintf(w, "      Peak Allocated Bytes %s\n", formatBytes(s.Peak))
	fmt.Fprintf(w, "      Overflow Count %d\n", s.Overflows)
}

// histogram is "[0-1.0 KB]: 3 frames, [4.0 KB-8.0 KB]: 1 frames", "" before the first frame ended.
func histogram(s *StackStats) string {
	var bins []string
	for i, frames := range s.Frames {
		if frames == 0 {
			continue
		}
		from := "0"
		if i > 0 {
			from = formatBytes(1 << (i + 9))
		}
		bins = append(bins, fmt.Sprintf("[%s-%s]: %d frames", from, formatBytes(1<<(i+10)), frames))
	}
	return strings.Join(bins, ", ")
}

// formatBytes is the number as the report prints it: in a unit from half of it on.
func formatBytes(n uint64) string {
	const kb, mb, gb = 1 << 10, 1 << 20, 1 << 30
	switch {
	case n < kb/2:
		return fmt.Sprintf("%d B", n)
	case n < mb/2:
		return fmt.Sprintf("%.1f KB", float64(n)/kb)
	case n < gb/2:
		return fmt.Sprintf("%.1f MB", float64(n)/mb)
	}
	return fmt.Sprintf("%.2f GB", float64(n)/gb)
}
