package report

import (
	"fmt"
	"math"
	"math/bits"
)

// findings_memory.go: out of memory, the budget of a device, and what a report adds up to.

func memoryFindings(c *reading) {
	if len(c.report.OutOf) > 0 {
		c.outOfMemory()
	}
	if l := c.report.Leaks; l != nil {
		c.leaks(l)
	}
	if m := c.report.Mimalloc; m != nil {
		c.mimalloc(m)
	}
}

// reserved is the memory that all allocators held when the request failed.
func (o *OutOfMemory) reserved() int64 {
	var sum int64
	for _, row := range o.Overview {
		sum += row.Reserved
	}
	return sum
}

func (c *reading) outOfMemory() {
	o := &c.report.OutOf[0]
	for i := range c.report.OutOf { // the first may be cut
		if c.report.OutOf[i].Requested > 0 {
			o = &c.report.OutOf[i]
			break
		}
	}
	f := Finding{ID: "out-of-memory", Subject: o.Label, Severity: Critical, weight: 1e6,
		Evidence: lines(LogLine{Line: o.Line, Text: "Could not allocate memory: System out of memory!"},
			LogLine{Line: o.AskLine, Text: fmt.Sprintf("Trying to allocate: %dB with %d alignment. "+
				"MemoryLabel: %s", o.Requested, o.Align, o.Label)}),
		Meaning: "The system refused the memory, so Unity gave up. Block sizes do not cure this; they " +
			"decide only in which portions memory is taken.",
	}
	if largest := o.largest(); largest != nil {
		f.Evidence = append(f.Evidence, LogLine{Line: largest.Line, Text: fmt.Sprintf(
			"[ %s ] used: %dB | reserved: %dB", largest.Name, largest.Used, largest.Reserved)})
	}
	if o.Requested == 0 {
		f.Title = "The program ran out of memory."
		f.Unknown = "The excerpt does not show which request failed."
		c.add(f)
		return
	}
	size := "more than 8,000,000 TB"
	if o.Requested <= math.MaxInt64 {
		size = FormatBytes(int64(o.Requested))
	}
	f.Title = fmt.Sprintf("The program ran out of memory when %s asked for %s.", o.labelName(), size)
	c.outOfMemoryCause(o, &f)
	if n := len(c.report.OutOf) + c.report.OutOfMore; n > 1 {
		f.Meaning += fmt.Sprintf(" The log holds %d such failures.", n)
	}
	c.add(f)
}

func (o *OutOfMemory) labelName() string {
	if o.Label == "" {
		return "a request without a label"
	}
	return "\"" + o.Label + "\""
}

// largest is the allocator that held most.
func (o *OutOfMemory) largest() *Overview {
	var largest *Overview
	for i := range o.Overview {
		if largest == nil || o.Overview[i].Reserved > largest.Reserved {
			largest = &o.Overview[i]
		}
	}
	return largest
}

// outOfMemoryCause works out what the numbers say about the reason.
func (c *reading) outOfMemoryCause(o *OutOfMemory, f *Finding) {
	reserved := o.reserved()
	switch {
	case o.Requested > 1<<40:
		f.Steps = append(f.Steps, "No machine has that much: a size was computed wrongly (a negative "+
			"number, or an overflow). Look for the code that asks, the memory is not short.")
	case o.Requested >= 512<<20 && bits.OnesCount64(o.Requested) == 1:
		f.Steps = append(f.Steps, fmt.Sprintf("%s is a power of two: a list or buffer that doubles "+
			"each time it is full. Find what fills it; it may never be emptied.",
			FormatBytes(int64(o.Requested))))
	}
	if len(o.Overview) > 0 {
		f.Meaning += fmt.Sprintf(" Unity's allocators held %s then.", FormatBytes(reserved))
	}
	switch {
	case reserved >= 3<<30 && reserved < 9<<29:
		f.Steps = append(f.Steps, "They held nearly 4 GB, the end of a 32-bit address space. If free "+
			"memory was left on the machine, use a 64-bit build.")
	case len(o.Overview) > 0 && reserved < 1<<30 && o.Requested < 256<<20:
		f.Steps = append(f.Steps, "That is little: other memory of the process (C# objects, plug-ins, "+
			"graphics) or other programs took the rest, or the address space is too broken up.")
	case len(o.Overview) > 0 && o.Requested <= 1<<40:
		f.Steps = append(f.Steps, "Compare with the memory of the machine or container: raise that "+
			"limit, or load less at one time.")
	}
	if o.Label == "TempOverflow" {
		f.Steps = append(f.Steps, "TempOverflow is scratch memory that did not fit its block; the "+
			"request itself is what failed, not the block size.")
	}
	f.Unknown = "Managed (C#) memory and graphics memory are not in this overview."
}

// leaks ranks what a development build still held at its end.
func (c *reading) leaks(l *Leaks) {
	f := Finding{ID: "held-at-end", Severity: Info, weight: 15,
		Title: fmt.Sprintf("At its end the program still held %s of native memory.",
			FormatBytes(l.Total)),
		Meaning: "Development builds list it by label. Memory held at the end is often what lives as " +
			"long as the program; a label that grows from run to run is worth a look.",
		Effect: "Nothing to change in the settings."}
	rest := append([]Leak(nil), l.Labels...)
	for shown := 0; shown < 3 && len(rest) > 0; shown++ {
		largest := 0
		for i := range rest {
			if rest[i].Bytes > rest[largest].Bytes {
				largest = i
			}
		}
		f.Evidence = append(f.Evidence, LogLine{Line: l.Line, Text: fmt.Sprintf("%s: %s",
			rest[largest].Label, FormatBytes(rest[largest].Bytes))})
		rest = append(rest[:largest], rest[largest+1:]...)
	}
	c.add(f)
}

// mimalloc says what the table means for the settings.
func (c *reading) mimalloc(m *Mimalloc) {
	f := Finding{ID: "mimalloc", Severity: Info, weight: 30,
		Evidence: []LogLine{{Line: m.Line, Text: "heap stats:"}},
		Title:    "The main heap of this program is mimalloc.",
		Meaning: "While Project Settings > Memory Settings > Mimalloc is on, the block sizes of the " +
			"main and shared threads are not used: " + settingPrefix + "main-allocator-block-size and " +
			settingPrefix + "thread-allocator-block-size change nothing.",
		Effect: "Nothing to change."}
	if committed := m.Size("committed", "peak"); committed.Known() {
		f.Title = fmt.Sprintf("The main heap of this program is mimalloc; it used %s at most.",
			committed)
		f.Evidence = append(f.Evidence, LogLine{Line: committed.Line,
			Text: "committed: " + committed.String()})
	}
	c.add(f)
}

// Part is one allocator's share of the memory that a report adds up to.
type Part struct {
	Name  string `json:"name"`
	Plain string `json:"plain"`
	Used  int64  `json:"usedBytes"`  // the highest use
	Taken int64  `json:"takenBytes"` // what was taken from the system for it, at least Used
	Line  int    `json:"line"`
}

// Parts lists every allocator with its share, in the order of the report. The peaks need not have
// coincided, so their sum is the most the program can have needed.
func (u *Usage) Parts() []Part {
	var parts []Part
	for _, t := range groupStacks(u) {
		part := Part{Name: t.highest.Text, Plain: PlainName(t.highest.Text), Line: t.highest.Line}
		for _, s := range t.stacks {
			threads := max(1, s.Threads.N)
			part.Used += threads * s.Peak.Bytes
			part.Taken += threads * max(s.Initial.Bytes, s.Current.Bytes)
		}
		parts = append(parts, part)
	}
	if b := u.SharedBucket(); b != nil {
		parts = append(parts, Part{Name: "ALLOC_BUCKET", Plain: PlainName("ALLOC_BUCKET"),
			Used: b.Peak.Bytes, Taken: b.Used.N * b.Block.Bytes, Line: b.Line})
	}
	for i := range u.Linears {
		l := &u.Linears[i]
		parts = append(parts, Part{Name: l.Text, Plain: PlainName(l.Text),
			Used: l.Used.N * l.Block.Bytes, Taken: l.Used.N * l.Block.Bytes, Line: l.Line})
	}
	for _, h := range u.AllHeaps() {
		parts = append(parts, Part{Name: h.Text, Plain: PlainName(h.Text), Used: h.Peak.Bytes,
			Taken: h.Blocks.N*h.Block.Bytes + h.Large.Bytes, Line: h.Line})
	}
	for i := range parts {
		parts[i].Taken = max(parts[i].Taken, parts[i].Used)
	}
	return parts
}

// Taken is the sum over all parts.
func (u *Usage) Taken() int64 {
	var sum int64
	for _, part := range u.Parts() {
		sum += part.Taken
	}
	return sum
}
