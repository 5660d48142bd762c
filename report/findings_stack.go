package report

import (
	"fmt"
	"strings"
)

// findings_stack.go: the temporary allocators of the threads (the "TLS stacks"). Each thread has a
// block of scratch memory that may grow to twice its size (in the Editor: eight times); what does
// not fit overflows into the JobTemp allocator and from there into the heap.

// stackGroup is a kind of thread and the setting of its block.
type stackGroup struct {
	match   string // lower case; part of the thread's name
	key     string // "" where Unity documents no setting
	name    string // in plain words
	guessed bool   // which setting it is follows from names and sizes, no page says it
}

// stackGroups are tried in order.
var stackGroups = []stackGroup{
	{"alloc_temp_main", "temp-allocator-size-main", "the main thread", false},
	{"background job.worker", "temp-allocator-size-background-worker", "background workers", false},
	{"job.worker", "temp-allocator-size-job-worker", "job workers", false},
	{"loading.preloadmanager", "temp-allocator-size-preload-manager", "the loading thread", false},
	{"audio", "temp-allocator-size-audio-worker", "audio threads", true},
	{"cloudjob.worker", "temp-allocator-size-cloud-worker", "cloud workers", true},
	{"unitygfxdeviceworker", "temp-allocator-size-gfx", "the graphics thread", true},
	{"bakingjobs.worker", "temp-allocator-size-gi-baking-worker", "baking workers", true},
}

func groupOf(name string) stackGroup {
	lower := strings.ToLower(name)
	for _, g := range stackGroups {
		if strings.Contains(lower, g.match) {
			return g
		}
	}
	thread := strings.TrimPrefix(name, "ALLOC_TEMP_")
	if thread == "" {
		return stackGroup{match: lower, name: "a thread without a name"}
	}
	return stackGroup{match: lower, name: "thread " + thread}
}

// stackTotals sums up the threads of one group.
type stackTotals struct {
	group    stackGroup
	stacks   []*Stack
	threads  int64
	overflow int64
	worst    *Stack // most overflows
	highest  *Stack // highest peak
	initial  int64  // bytes of all initial blocks
}

func groupStacks(u *Usage) []*stackTotals {
	var groups []*stackTotals
	byName := map[string]*stackTotals{}
	for i := range u.Stacks {
		s := &u.Stacks[i]
		g := groupOf(s.Text)
		t := byName[g.match]
		if t == nil {
			t = &stackTotals{group: g}
			byName[g.match] = t
			groups = append(groups, t)
		}
		t.add(s)
	}
	return groups
}

func (t *stackTotals) add(s *Stack) {
	threads := int64(1)
	if s.Threads.Known() {
		threads = s.Threads.N
	}
	t.stacks = append(t.stacks, s)
	t.threads += threads
	t.overflow += s.Overflow.N
	t.initial += threads * s.Initial.Bytes
	if t.worst == nil || s.Overflow.N > t.worst.Overflow.N {
		t.worst = s
	}
	if t.highest == nil || s.Peak.Bytes > t.highest.Peak.Bytes {
		t.highest = s
	}
}

func stackFindings(c *reading) {
	if c.usage == nil {
		return
	}
	var fine []*stackTotals
	for _, t := range groupStacks(c.usage) {
		switch {
		case !c.fineRate(t.overflow):
			c.stackOverflow(t)
		case t.overflow > 0:
			fine = append(fine, t)
			c.stackOversized(t)
		default:
			c.stackOversized(t)
		}
	}
	if len(fine) > 0 {
		c.stackFine(fine)
	}
}

func stackEvidence(s *Stack) []LogLine {
	return lines(nameLine(s.Name), sizeLine("Initial Block Size", s.Initial),
		sizeLine("Current Block Size", s.Current), sizeLine("Peak Allocated Bytes", s.Peak),
		countLine("Overflow Count", s.Overflow))
}

// atLimit reports whether the stack grew to what a player allows and was nearly full then.
func (s *Stack) atLimit() bool {
	return s.Initial.Known() && s.Peak.Known() &&
		float64(s.Peak.Max()) >= 0.9*float64(2*s.Initial.Bytes)
}

// stackOverflow judges counts above the few hundred that are fine while loading.
func (c *reading) stackOverflow(t *stackTotals) {
	s := t.worst
	f := Finding{ID: "stack-overflow", Subject: t.group.name, Severity: Advice, needsPlay: true,
		weight: 1e3 * rateWeight(t.overflow, c.frames), Evidence: stackEvidence(s),
		Title: fmt.Sprintf("The scratch memory of %s is too small: it ran over %s times (%s).",
			t.group.name, Thousands(t.overflow), perFrame(t.overflow, c.frames)),
		Meaning: "Each thread has a block for data that lives less than a frame. What does not " +
			"fit goes to the slower job allocator, and from there to the still slower heap. Unity's " +
			"manual calls 1 to 10 in a frame, or a few hundred while loading, fine.",
	}
	if c.frames > 0 && t.overflow > perFrameFine*c.frames {
		f.Severity = Problem
	}
	spike := t.group.key == "temp-allocator-size-main" && c.spike(s, &f)
	if !spike {
		c.raiseStack(t, &f)
	}
	f.Unknown = join(f.Unknown, "A count alone cannot tell loading from play: compare a short "+
		"and a long run (granary compare SHORT LONG). If it does not grow, it is loading.")
	c.add(f)
}

// spike handles a main thread whose histogram shows that next to no frame needs a larger block.
func (c *reading) spike(s *Stack, f *Finding) bool {
	total := s.Frames.Total()
	above := s.Frames.Above(s.Initial.Bytes)
	if total == 0 || above*100 > total {
		return false
	}
	f.Severity = Advice
	f.Evidence = append(f.Evidence, LogLine{Line: s.Frames.Line, Text: fmt.Sprintf(
		"Peak usage frame count: %s of %s frames above %s", Thousands(above), Thousands(total),
		s.Initial)})
	f.Title = fmt.Sprintf("The main thread's scratch memory ran over %s times, though only %s of "+
		"%s frames needed more than %s.", Thousands(s.Overflow.N), Thousands(above),
		Thousands(total), s.Initial)
	f.Steps = []string{
		"Compare a short and a long run first: granary compare SHORT.log LONG.log.",
		fmt.Sprintf("Only if the count grows with the run, set %stemp-allocator-size-main=%d.",
			settingPrefix, 2*s.Initial.Bytes),
	}
	f.Unknown = "Either a few loading frames spill very often, or memory is freed in another order " +
		"than it was taken, which leaves a block full of holes; the report does not tell which."
	f.Effect = "Nothing to change until the comparison is made."
	f.SkipIf = "the count stays the same in a longer run: then it is loading."
	return true
}

// raiseStack proposes the next block size.
func (c *reading) raiseStack(t *stackTotals, f *Finding) {
	s := t.worst
	if t.group.key == "" {
		f.Severity = Info
		f.Effect = "Unity documents no setting for this thread's block."
		return
	}
	if !s.Initial.Known() || !s.Peak.Known() {
		f.Unknown = "The excerpt lacks the block size or the peak, so no value can be proposed."
		return
	}
	value, why := 2*powerOfTwoAtLeast(s.Initial.Bytes), "the next step"
	switch {
	case s.atLimit():
		// The block grew to twice its size by itself and that was not enough.
		value *= 2
		why = "the peak is cut off at the limit of twice the block, so the need is higher"
	case s.Peak.Max() < s.Initial.Bytes/2:
		f.Unknown = "The block was never half full: single requests larger than the room left, or " +
			"memory freed in another order, overflow; a larger block may not help."
	}
	f.Actions = []Action{newAction(t.group.key, value, s.Initial.Bytes)}
	f.Bytes = t.threads * (value - s.Initial.Bytes)
	f.Effect = fmt.Sprintf("Costs %s (%s).", FormatBytes(f.Bytes), why)
	f.SkipIf = "the count stays the same in a longer run and loading is quick enough."
	if t.group.guessed {
		f.Unknown = join(f.Unknown, "That this setting belongs to these threads follows from its "+
			"name and size; Unity's pages do not say it.")
	}
}

// stackFine sums up the overflows that need no action.
func (c *reading) stackFine(fine []*stackTotals) {
	var parts []string
	f := Finding{ID: "stack-overflow-fine", Severity: Info,
		Meaning: "Unity's manual calls 1 to 10 overflows in a frame, or a few hundred while loading, " +
			"fine.",
		Effect: "Nothing to change.", weight: 10}
	for _, t := range fine {
		parts = append(parts, fmt.Sprintf("%s %s", t.group.name, Thousands(t.overflow)))
		f.Evidence = append(f.Evidence, lines(nameLine(t.worst.Name),
			sizeLine("Peak Allocated Bytes", t.worst.Peak),
			countLine("Overflow Count", t.worst.Overflow))...)
		if t.worst.Peak.Known() && t.worst.Peak.Max() < t.worst.Initial.Bytes/2 {
			f.Unknown = "Where the peak is far below the block size, probably one single request " +
				"was larger than the room left; the block was not full."
		}
	}
	f.Title = "Some scratch memory ran over a few times, which is fine: " +
		strings.Join(parts, ", ") + "."
	c.add(f)
}

const (
	workerBlockMin = 32 << 10 // the smallest block the manual shows
	mainBlockMin   = 64 << 10 // the same for the main thread
	savingMin      = 1 << 20  // a smaller saving is not worth mentioning
	savingAdvice   = 2 << 20  // and a smaller one not worth a change
)

// stackOversized finds blocks far larger than anything the threads put into them.
func (c *reading) stackOversized(t *stackTotals) {
	s := t.highest
	if t.group.key == "" || !s.Initial.Known() || !s.Peak.Known() {
		return
	}
	floor, need := int64(workerBlockMin), s.Peak.Max()
	spilled := int64(0)
	if t.group.key == "temp-allocator-size-main" {
		floor = mainBlockMin
		need, spilled = usualPeak(s)
		if need == 0 {
			return
		}
	}
	value := max(floor, powerOfTwoAtLeast(need))
	saved := t.initial - t.threads*value
	if value >= s.Initial.Bytes || saved < savingMin {
		return
	}
	f := Finding{ID: "stack-oversized", Subject: t.group.name, Severity: Advice, needsPlay: true,
		weight: float64(saved) / (1 << 20), Bytes: -saved, Evidence: stackEvidence(s),
		Actions: []Action{newAction(t.group.key, value, s.Initial.Bytes)},
		Effect:  fmt.Sprintf("Saves up to %s.", FormatBytes(saved)),
		Meaning: "Every thread gets its own block, used or not; the peak is the most it ever held. " +
			"A block may still grow to twice its size when a frame needs it.",
		Unknown: "How much of an unused block the system really backs with memory is not in the " +
			"report, so this is the most that can be saved.",
		SkipIf: "memory is not short: an unused block costs no time.",
	}
	if saved < savingAdvice {
		f.Severity = Info
	}
	if spilled > 0 {
		f.Evidence = append(f.Evidence, LogLine{Line: s.Frames.Line, Text: fmt.Sprintf(
			"Peak usage frame count: %s frames above %s", Thousands(spilled), FormatBytes(value))})
	}
	if t.group.key == "temp-allocator-size-main" {
		f.Title = fmt.Sprintf("The main thread's scratch block could be %s instead of %s: only %s "+
			"of %s frames need more.", FormatBytes(value), s.Initial, Thousands(spilled),
			Thousands(s.Frames.Total()))
		f.SkipIf = "memory is not short, or loading must not become slower: the few large frames " +
			"will spill into slower memory."
	} else {
		f.Title = fmt.Sprintf("%s: scratch blocks take %s, yet the fullest of them held %s.",
			capitalised(t.group.name), FormatBytes(t.initial), s.Peak)
		if t.threads > 1 {
			f.Meaning += fmt.Sprintf(" Here are %d threads of this kind; machines with more cores "+
				"have more.", t.threads)
		}
	}
	c.add(f)
}

// usualPeak returns the size that all but a few frames stay below (the loading frames of the
// manual's example), and how many frames exceed it. It is 0 without a usable histogram.
func usualPeak(s *Stack) (limit, above int64) {
	total := s.Frames.Total()
	if total == 0 || s.Frames.Cut {
		return 0, 0
	}
	allowed := max(1, total/1000)
	for i := len(s.Frames.Bins) - 1; i >= 0; i-- {
		bin := s.Frames.Bins[i]
		if above+bin.Frames > allowed {
			return bin.To.Bytes, above
		}
		above += bin.Frames
	}
	return 0, 0
}

// rateWeight orders findings by count per frame, or by the plain count where that is unknown.
func rateWeight(count, frames int64) float64 {
	if frames == 0 {
		return float64(count) / 1e5
	}
	return float64(count) / float64(frames)
}

func capitalised(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
