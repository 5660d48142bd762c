package report

import (
	"fmt"
	"strings"
)

// reprint_test.go: prints a Usage back in the form of the log it was read from. When every line
// comes out as it was, no value was lost, misread or put in the wrong place.

type reprinter struct {
	lines map[int]string // by line number, without indentation
}

// reprint returns the lines of the usage by their number in the log.
func reprint(u *Usage) map[int]string {
	r := &reprinter{lines: map[int]string{}}
	if u.Header != 0 {
		r.lines[u.Header] = u.Glued + "Memory Statistics:"
	}
	r.put(u.TempLine, "[ALLOC_TEMP_TLS] TLS Allocator")
	for i := range u.Stacks {
		s := &u.Stacks[i]
		tail := ""
		if s.Threads.Known() {
			tail = fmt.Sprintf(" x %d", s.Threads.N)
		}
		r.name(s.Name, tail)
		r.frames(s.Frames)
		r.size("Initial Block Size", s.Initial)
		r.size("Current Block Size", s.Current)
		r.size("Peak Allocated Bytes", s.Peak)
		r.count("Overflow Count", s.Overflow)
	}
	for i := range u.Heaps {
		r.heap(&u.Heaps[i])
	}
	for i := range u.Linears {
		l := &u.Linears[i]
		r.name(l.Name, "")
		r.size("Initial Block Size", l.Block)
		r.count("Used Block Count", l.Used)
		r.count("Overflow Count (too large)", l.TooLarge)
		r.count("Overflow Count (full)", l.Full)
	}
	for i := range u.Duals {
		d := &u.Duals[i]
		r.name(d.Name, " Dual Thread Allocator")
		r.count("Peak main deferred allocation count", d.Deferred)
		r.bucket(d.Bucket)
		if d.Main != nil {
			r.heap(d.Main)
		}
		if d.Thread != nil {
			r.heap(d.Thread)
		}
	}
	return r.lines
}

func (r *reprinter) put(line int, text string) {
	if line == 0 {
		return
	}
	if old, twice := r.lines[line]; twice {
		text = old + " AND " + text
	}
	r.lines[line] = text
}

func (r *reprinter) name(n Name, tail string) {
	if !n.Guessed {
		r.put(n.Line, "["+n.Text+"]"+tail)
	}
}

func (r *reprinter) size(label string, s Size) {
	if s.Known() {
		r.put(s.Line, label+" "+s.String())
	}
}

func (r *reprinter) count(label string, c Count) {
	if c.Known() {
		r.put(c.Line, fmt.Sprintf("%s %d", label, c.N))
	}
}

func (r *reprinter) frames(h Histogram) {
	if h.Line == 0 {
		return
	}
	var bins []string
	onOneLine := true
	for _, bin := range h.Bins {
		from := "0"
		if bin.From.Bytes > 0 {
			from = bin.From.String()
		}
		text := fmt.Sprintf("[%s-%s]: %d frames", from, bin.To, bin.Frames)
		if bin.To.Line != h.Line {
			r.put(bin.To.Line, text)
			onOneLine = false
		}
		bins = append(bins, text)
	}
	if !onOneLine {
		bins = nil
	}
	r.put(h.Line, strings.TrimSpace("Peak usage frame count: "+strings.Join(bins, ", ")))
}

func (r *reprinter) heap(h *Heap) {
	r.name(h.Name, "")
	r.frames(h.Frames)
	r.size("Requested Block Size", h.Block)
	r.count("Peak Block count", h.Blocks)
	r.size("Peak Allocated memory", h.Peak)
	r.size("Peak Large allocation bytes", h.Large)
	r.bucket(h.Bucket)
}

func (r *reprinter) bucket(b *Bucket) {
	if b == nil {
		return
	}
	r.name(b.Name, "")
	r.size("Large Block size", b.Block)
	r.count("Used Block count", b.Used)
	r.size("Peak Allocated bytes", b.Peak)
	r.put(b.Layout, map[bool]string{true: "Failed Allocations. Bucket layout:"}[b.Layout != 0])
	for _, row := range b.Rows {
		r.put(row.Line, fmt.Sprintf("%dB: %d Subsections = %d buckets. Failed count: %d",
			row.Size, row.Subsections, row.Buckets, row.Failed))
	}
}
