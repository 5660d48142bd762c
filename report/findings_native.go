package report

import (
	"fmt"
	"sort"
)

// findings_native.go: what Granary's own report shows.

const (
	idleMin  = 16 << 20 // free memory worth a word
	wasteMin = 8 << 20  // rounding up worth a word
)

func nativeFindings(c *reading) {
	n := c.report.Native
	if n == nil {
		return
	}
	c.nativeSummary(n)
	if n.Refused.N > 0 {
		c.add(Finding{ID: "granary-limit", Subject: n.Name, Severity: Critical, weight: 1e5,
			Title: fmt.Sprintf("%s was refused memory %s: the limit of %s is too low.", n.Name,
				plural(n.Refused.N, "time", "times"), n.Limit),
			Meaning: "A refused request gets NULL and ENOMEM; many programs give up then.",
			Evidence: []LogLine{{Line: n.Refused.Line, Text: fmt.Sprintf("limit %s, refused %d", n.Limit,
				n.Refused.N)}},
			Steps:  []string{"Raise the limit (granary run --limit SIZE), or find what needs so much."},
			SkipIf: "the limit was meant to stop the program."})
	}
	if n.Overflow.N > 0 {
		c.add(Finding{ID: "granary-range-full", Subject: n.Name, Severity: Problem, weight: 1e4,
			Title: fmt.Sprintf("Granary's range of addresses was full: the system allocator served %s.",
				plural(n.Overflow.N, "small block", "small blocks")),
			Meaning: "All of the range reserved at start is in use; further small blocks are slower.",
			Evidence: []LogLine{{Line: n.Overflow.Line, Text: fmt.Sprintf("overflow mallocs %d",
				n.Overflow.N)}},
			Steps: []string{fmt.Sprintf("The program holds very much at one time (range %s): look for a "+
				"leak with granary run --stats.", n.Range)}})
	}
	c.nativeIdle(n)
	c.nativeWaste(n)
	if budget := c.question.Budget; budget > 0 && n.PeakRSS.Bytes > budget {
		c.add(Finding{ID: "budget", Subject: n.Name, Severity: Critical, weight: 1e5,
			Title: fmt.Sprintf("%s needed %s, more than the budget of %s.", n.Name, n.PeakRSS,
				FormatBytes(budget)),
			Meaning:  "This is the most memory the process had at one time, all of it included.",
			Evidence: []LogLine{{Line: n.PeakRSS.Line, Text: "peak RSS " + n.PeakRSS.String()}}})
	}
}

// nativeSummary names the process and the classes that hold most.
func (c *reading) nativeSummary(n *Native) {
	f := Finding{ID: "granary-process", Subject: n.Name, Severity: Info,
		weight: float64(n.PeakRSS.Bytes) / (1 << 20),
		Title: fmt.Sprintf("%s (pid %d) had at most %s of memory; Granary held %s for it at the end.",
			n.Name, n.PID, n.PeakRSS, n.Spans),
		Meaning: "Granary writes this report at the end of every process that ran on it.",
		Effect:  "Nothing to change."}
	for _, class := range n.largest(3) {
		f.Evidence = append(f.Evidence, LogLine{Line: class.Line, Text: fmt.Sprintf(
			"blocks of %d bytes: %s held, %s in use", class.Bytes, class.Held, class.Blocks)})
	}
	c.add(f)
}

// largest returns the classes that hold most.
func (n *Native) largest(count int) []NativeClass {
	classes := append([]NativeClass(nil), n.Classes...)
	sort.SliceStable(classes, func(i, j int) bool {
		return classes[i].Held.Bytes > classes[j].Held.Bytes
	})
	return classes[:min(count, len(classes))]
}

// live is the memory of the blocks that the program has in its classes.
func (n *Native) live() int64 {
	var live int64
	for _, class := range n.Classes {
		live += capped(multiplyCapped(uint64(class.Bytes), uint64(class.Blocks.N)))
	}
	return live
}

// nativeIdle reports memory held without being in use.
func (c *reading) nativeIdle(n *Native) {
	live, held := n.live(), n.Spans.Bytes
	idle := held - live
	if held == 0 || idle < idleMin || idle*2 < held {
		return
	}
	f := Finding{ID: "granary-idle", Subject: n.Name, Severity: Info,
		weight: float64(idle) / (1 << 20),
		Title: fmt.Sprintf("%s of %s held for %s was not in use at the end.", FormatBytes(idle), n.Spans,
			n.Name),
		Meaning: "A span is given back once all of its blocks have been free for a second and the " +
			"program waits. Single blocks that stay keep theirs.",
		Effect: "Nothing to change.",
		Unknown: "The figures are those of the end: a program that frees all and ends at once looks " +
			"like this."}
	f.Evidence = lines(LogLine{Line: n.Spans.Line, Text: "spans held " + n.Spans.String()},
		LogLine{Line: n.Sweeps.Line, Text: fmt.Sprintf("released: spans %d, sweeps %d",
			n.ReleasedSpans.N, n.Sweeps.N)})
	if n.Sweeps.N == 0 {
		f.Steps = []string{"No sweep ran: the program never waited. It can call granary_idle() where " +
			"it has nothing to do."}
	}
	c.add(f)
}

// nativeWaste reports memory lost to rounding up to size classes.
func (c *reading) nativeWaste(n *Native) {
	var worst NativeClass
	var worstWaste int64
	for _, class := range n.Classes {
		if class.Mallocs.N == 0 || class.Bytes == 0 {
			continue
		}
		average := float64(class.Asked.Bytes) / float64(class.Mallocs.N)
		waste := int64(float64(class.Blocks.N) * (float64(class.Bytes) - average))
		if waste > worstWaste {
			worst, worstWaste = class, waste
		}
	}
	if worstWaste < wasteMin {
		return
	}
	average := worst.Asked.Bytes / worst.Mallocs.N
	c.add(Finding{ID: "granary-waste", Subject: n.Name, Severity: Info,
		weight: float64(worstWaste) / (1 << 20),
		Title: fmt.Sprintf("About %s is lost because blocks of %d bytes hold %d on average.",
			FormatBytes(worstWaste), worst.Bytes, average),
		Meaning: "Every request is rounded up to a size class (granary sizes shows them).",
		Evidence: []LogLine{{Line: worst.Line, Text: fmt.Sprintf("class %d: blocks %d, asked %s in %d "+
			"mallocs", worst.Bytes, worst.Blocks.N, worst.Asked, worst.Mallocs.N)}},
		Steps: []string{"If that is one type of the program, a slightly smaller one would fit the " +
			"class below."},
		Unknown: "The average is over all blocks ever handed out, not over those alive."})
}
