package report

import "fmt"

// findings_linear.go: the thread-safe linear allocators (TempJob memory). They hand out blocks from
// a pool of 64; a block comes back when all in it has been freed.

func linearFindings(c *reading) {
	if c.usage == nil {
		return
	}
	var fine Finding
	for i := range c.usage.Linears {
		l := &c.usage.Linears[i]
		c.linearFull(l, &fine)
		c.linearTooLarge(l, &fine)
		c.linearPool(l)
		c.lowMemoryDevice(l)
	}
	if len(fine.Evidence) > 0 {
		fine.ID, fine.Severity, fine.weight = "linear-overflow-fine", Info, 11
		fine.Title = "Job memory ran over a few times, which is fine."
		fine.Meaning = "The pool was full, or a request was larger than a block; it was served by " +
			"the slower heap. Unity's manual calls 1 to 10 in a frame, or a few hundred while " +
			"loading, fine."
		fine.Effect = "Nothing to change."
		c.add(fine)
	}
}

func linearKey(name string) (key, plain string) {
	if name == backgroundName {
		return "job-temp-allocator-block-size-background", "background job memory"
	}
	return "job-temp-allocator-block-size", "job memory"
}

func linearEvidence(l *Linear) []LogLine {
	return lines(nameLine(l.Name), sizeLine("Initial Block Size", l.Block),
		countLine("Used Block Count", l.Used),
		countLine("Overflow Count (too large)", l.TooLarge),
		countLine("Overflow Count (full)", l.Full))
}

// fineRate reports whether a count is one that Unity's manual calls harmless. A run of unknown
// length gets the benefit of the doubt only for the few hundred of loading.
func (c *reading) fineRate(count int64) bool {
	return count <= fewHundred ||
		c.frames > 0 && float64(count) <= harmlessRate*float64(c.frames)
}

// linearFull judges requests that found no free block.
func (c *reading) linearFull(l *Linear, fine *Finding) {
	if l.Full.N == 0 {
		return
	}
	if c.fineRate(l.Full.N) {
		fine.Evidence = append(fine.Evidence, lines(nameLine(l.Name),
			countLine("Overflow Count (full)", l.Full))...)
		return
	}
	key, plain := linearKey(l.Text)
	f := Finding{ID: "linear-full", Subject: l.Text, Severity: Advice, needsPlay: true,
		weight: 1e3 * rateWeight(l.Full.N, c.frames), Evidence: linearEvidence(l),
		Title: fmt.Sprintf("The %s ran out of blocks: %s requests (%s) went to the slow heap.",
			plain, Thousands(l.Full.N), perFrame(l.Full.N, c.frames)),
		Meaning: "Jobs take short-lived memory from a pool of at most 64 blocks. With no block free " +
			"the heap serves the request, which is much slower. A block stays taken while one " +
			"allocation in it lives, so allocations that live long cause this as well.",
		SkipIf: "the count stays the same in a longer run: then it is loading, and larger blocks " +
			"would lie idle during play.",
		Unknown: "How much memory the requests needed is not in the report: double the block, run " +
			"again, and stop when the count no longer grows.",
	}
	if c.frames > 0 && l.Full.N > perFrameFine*c.frames || c.frames == 0 && l.Full.N > 1e4 {
		f.Severity = Problem
	}
	c.raiseLinear(l, key, &f)
	c.add(f)
}

// raiseLinear proposes twice the block.
func (c *reading) raiseLinear(l *Linear, key string, f *Finding) {
	if !l.Block.Known() {
		return
	}
	value := 2 * powerOfTwoAtLeast(l.Block.Bytes)
	blocks := max(1, l.Used.N)
	f.Actions = []Action{newAction(key, value, l.Block.Bytes)}
	f.Bytes = blocks * (value - l.Block.Bytes)
	f.Effect = fmt.Sprintf("Costs %s if as many blocks are used again, at most %s (64 blocks).",
		FormatBytes(f.Bytes), FormatBytes(blocksMaximum*(value-l.Block.Bytes)))
	if l.Block.Bytes <= 256<<10 {
		// The device counts as low on memory: another setting is in force.
		f.Actions = append(f.Actions,
			newAction("job-temp-allocator-reduction-small-platforms", value, l.Block.Bytes))
		f.Unknown = join(f.Unknown, "Blocks of 256 KB are what Unity uses on devices with less "+
			"than 2 GB; there only the reduction setting counts.")
	}
}

// linearTooLarge judges requests larger than a block.
func (c *reading) linearTooLarge(l *Linear, fine *Finding) {
	if l.TooLarge.N == 0 {
		return
	}
	if c.fineRate(l.TooLarge.N) {
		fine.Evidence = append(fine.Evidence, lines(nameLine(l.Name),
			countLine("Overflow Count (too large)", l.TooLarge))...)
		fine.Unknown = "The size of requests that were too large is not in the report; a larger " +
			"block helps only if it exceeds them."
		return
	}
	key, plain := linearKey(l.Text)
	f := Finding{ID: "linear-too-large", Subject: l.Text, Severity: Advice, needsPlay: true,
		weight: 1e3 * rateWeight(l.TooLarge.N, c.frames), Evidence: linearEvidence(l),
		Title: fmt.Sprintf("%s requests (%s) were larger than a block of %s and went to the slow heap.",
			Thousands(l.TooLarge.N), perFrame(l.TooLarge.N, c.frames), plain),
		Meaning: "A request must fit into one block. Larger ones are served by the heap, which is " +
			"much slower.",
		SkipIf: "the count stays the same in a longer run: then it is loading.",
		Unknown: "The size of these requests is not in the report: a larger block helps only if it " +
			"exceeds them.",
	}
	if c.frames > 0 && l.TooLarge.N > perFrameFine*c.frames {
		f.Severity = Problem
	}
	c.raiseLinear(l, key, &f)
	c.add(f)
}

// linearPool reports a pool that was at its maximum once.
func (c *reading) linearPool(l *Linear) {
	if l.Used.N < blocksMaximum || !l.Block.Known() || !c.fineRate(l.Full.N) {
		return
	}
	_, plain := linearKey(l.Text)
	held := l.Used.N * l.Block.Bytes
	c.add(Finding{ID: "linear-pool-maximum", Subject: l.Text, Severity: Info,
		weight: float64(held) / (1 << 20), Evidence: linearEvidence(l),
		Title: fmt.Sprintf("All %d blocks of %s were in use once: %s.", l.Used.N, plain,
			FormatBytes(held)),
		Meaning: "64 blocks is the maximum of the pool. It was reached, but hardly anything had to " +
			"go elsewhere, so this was a moment of loading or importing.",
		Steps: []string{fmt.Sprintf("If such moments must be quicker, larger blocks (%s or %s) "+
			"remove both kinds of overflow.", FormatBytes(2*l.Block.Bytes),
			FormatBytes(4*l.Block.Bytes))},
		Effect: "Optional.",
		SkipIf: "the counts stay this small.",
	})
}

// lowMemoryDevice explains blocks that come from the rule for devices with less than 2 GB.
func (c *reading) lowMemoryDevice(l *Linear) {
	if l.Text != jobTempName || !l.Block.Known() || l.Block.Bytes != 256<<10 {
		return
	}
	c.add(Finding{ID: "low-memory-rule", Severity: Info, weight: 12, Evidence: linearEvidence(l),
		Title: "This device counts as low on memory: job memory comes in blocks of 256 KB.",
		Meaning: "Below 2 GB of memory Unity replaces both job block sizes by " + settingPrefix +
			"job-temp-allocator-reduction-small-platforms. Changing the two ordinary settings has " +
			"no effect there.",
		Unknown: "Somebody may also have set the ordinary settings to 256 KB; the list Unity prints " +
			"at start would tell.",
	})
}
