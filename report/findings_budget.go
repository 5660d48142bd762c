package report

import "fmt"

// findings_budget.go: the report against the memory of a device (--budget).

const lowMemoryBytes = 2 << 30 // below this Unity replaces the job block sizes

func budgetFindings(c *reading) {
	budget := c.question.Budget
	if budget == 0 || c.usage == nil {
		return
	}
	c.budgetSum(budget)
	for i := range c.usage.Linears {
		if c.usage.Linears[i].Text == backgroundName {
			c.backgroundRetained(&c.usage.Linears[i], budget)
		}
	}
	if budget < lowMemoryBytes {
		c.lowMemoryBudget(budget)
	}
}

// budgetSum compares all peaks with the budget.
func (c *reading) budgetSum(budget int64) {
	taken := c.usage.Taken()
	parts := rankedParts(c.usage)
	f := Finding{ID: "budget", Severity: Info, weight: 1e5,
		Title: fmt.Sprintf("Native memory peaks add up to %s, %d %% of the budget of %s.",
			FormatBytes(taken), percent(taken, budget), FormatBytes(budget)),
		Meaning: "This is the sum of the highest use of every allocator. C# objects, graphics memory " +
			"and the program itself come on top.",
		Unknown: "The peaks need not have come at one moment, so the true need may be lower.",
		Effect:  "The largest parts are listed as evidence: look there first.",
	}
	for _, part := range parts[:min(3, len(parts))] {
		f.Evidence = append(f.Evidence, LogLine{Line: part.Line,
			Text: fmt.Sprintf("%s: %s (%s)", part.Name, FormatBytes(part.Taken), part.Plain)})
	}
	switch {
	case taken > budget:
		f.Severity = Critical
		f.Title = fmt.Sprintf("Native memory peaks add up to %s, more than the budget of %s.",
			FormatBytes(taken), FormatBytes(budget))
	case taken*10 > budget*7:
		f.Severity = Problem
	}
	if !c.usage.complete() {
		f.Unknown = join(f.Unknown, "The report is cut, so parts of the sum are missing.")
	}
	c.add(f)
}

func percent(part, whole int64) int64 {
	if whole <= 0 {
		return 0
	}
	return int64(float64(part)*100/float64(whole) + 0.5)
}

// backgroundRetained judges the allocator for jobs that live many frames: it never gives a block
// back to the system.
func (c *reading) backgroundRetained(l *Linear, budget int64) {
	if !l.Block.Known() || !l.Used.Known() {
		return
	}
	held, most := l.Used.N*l.Block.Bytes, blocksMaximum*l.Block.Bytes
	f := Finding{ID: "background-retained", Subject: l.Text, Severity: Info,
		weight: float64(most) / (1 << 20), Evidence: linearEvidence(l),
		Title: fmt.Sprintf("Background job memory keeps %s and can keep %s, %d %% of the budget.",
			FormatBytes(held), FormatBytes(most), percent(most, budget)),
		Meaning: "Its pool only grows, to at most 64 blocks: what a moment of loading needed once " +
			"stays taken until the program ends.",
		Unknown: "Whether the printed block count is the highest or that at the end is not documented.",
		Effect:  "Nothing to change.",
	}
	if most*8 > budget || held*20 > budget {
		value := max(int64(64<<10), powerOfTwoAtLeast(budget/8/blocksMaximum+1)/2)
		value = min(value, powerOfTwoAtLeast(l.Block.Bytes)/2)
		f.Severity = Advice
		f.Actions = []Action{newAction("job-temp-allocator-block-size-background", value,
			l.Block.Bytes)}
		f.Bytes = -blocksMaximum * (l.Block.Bytes - value)
		f.Effect = fmt.Sprintf("Caps it at %s instead of %s; requests above %s then go to the heap.",
			FormatBytes(blocksMaximum*value), FormatBytes(most), FormatBytes(value))
		f.SkipIf = "the budget leaves room for the cap as it is."
	}
	c.add(f)
}

// lowMemoryBudget tells which setting counts on such a device.
func (c *reading) lowMemoryBudget(budget int64) {
	f := Finding{ID: "low-memory-budget", Severity: Info, weight: 14,
		Title: fmt.Sprintf("On a device with less than 2 GB (budget %s) other job block sizes hold.",
			FormatBytes(budget)),
		Meaning: "If the device itself has less than 2 GB, Unity takes both job block sizes from " +
			settingPrefix + "job-temp-allocator-reduction-small-platforms (262144 by default) and " +
			"ignores the other two settings.",
		Unknown: "This report shows the sizes of the machine it was made on.",
		Effect:  "Set the reduction setting instead when such devices overflow.",
	}
	c.add(f)
}
