package heap

import (
	"fmt"
	"io"
	"slices"

	"granary/internal/core/guard"
	"granary/internal/core/sys"
)

// Leak is a number of blocks that were allocated at one place and not freed. The place is known in debug mode only.
type Leak struct {
	Blocks, Bytes int64
	AllocatedAt   Stack
}

func (l Leak) String() string {
	if len(l.AllocatedAt) == 0 {
		return fmt.Sprintf("granary: leak: %d blocks, %d bytes", l.Blocks, l.Bytes)
	}
	return fmt.Sprintf("granary: leak: %d blocks, %d bytes, allocated at:\n%s", l.Blocks, l.Bytes, l.AllocatedAt)
}

// Leaks are the blocks that are alive: the most bytes first. Without debug mode it is one Leak for all.
func (h *Heap) Leaks() []Leak {
	if h.enter() != nil {
		return nil
	}
	defer h.leave()
	if h.debug != nil {
		return h.debug.leaks()
	}
	s := h.Stats()
	if s.LiveBlocks == 0 {
		return nil
	}
	return []Leak{{Blocks: s.LiveBlocks, Bytes: s.LiveBytes}}
}

func (d *debugger) leaks() []Leak {
	debugging.Lock()
	defer debugging.Unlock()
	var totals guard.LeakTotals
	d.guard.ForgetLeaks()
	d.guard.FindLeaks(sys.Addr(0), 0, &totals)
	var leaks []Leak
	add := func(id uint32) {
		if blocks, bytes := d.guard.StackLeaks(id); blocks != 0 {
			leaks = append(leaks, Leak{int64(blocks), int64(bytes), d.stack(id)})
		}
	}
	add(0)
	for id := d.guard.StackAfter(0); id != 0; id = d.guard.StackAfter(id) {
		add(id)
	}
	slices.SortStableFunc(leaks, func(a, b Leak) int { return int(b.Bytes - a.Bytes) })
	return leaks
}

// CheckMisuse looks at every block that debug mode watches, live and freed, and tells the misuse handler of the first
// that was written to where it must not be. It returns that, or nil.
func (h *Heap) CheckMisuse() error {
	if h.debug == nil || h.enter() != nil {
		return nil
	}
	defer h.leave()
	d := h.debug
	var bad *MisuseError
	debugging.Lock()
	var f guard.Finding
	if !d.guard.CheckAll(&f) {
		f.Call = guard.CallExit
		bad = d.explain(&f)
		d.guard.Mend(&f)
	}
	debugging.Unlock()
	if bad == nil {
		return nil
	}
	h.options.onMisuse(bad)
	return bad
}

// ReportLeaks writes what is alive on all heaps to w, and returns how many blocks that is. Go has no hook for the end
// of a program; main can have one:
//
//	defer heap.ReportLeaks(os.Stderr)
func ReportLeaks(w io.Writer) (int64, error) {
	var blocks, bytes int64
	for _, h := range all() {
		h.CheckMisuse()
		for _, leak := range h.Leaks() {
			if _, err := fmt.Fprintln(w, leak); err != nil {
				return blocks, err
			}
			blocks += leak.Blocks
			bytes += leak.Bytes
		}
	}
	if blocks == 0 {
		return 0, nil
	}
	_, err := fmt.Fprintf(w, "granary: %d blocks (%d bytes) were never freed\n", blocks, bytes)
	return blocks, err
}
