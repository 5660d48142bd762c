package report

import (
	"fmt"
	"sort"
	"strings"
)

// findings_warning.go: life-time messages. None of them is cured by a block size; what helps is to
// know the cause, how often it happens, and the switch that prints the stacks.

const (
	jobTempSwitch  = "-diag-job-temp-memory-leak-validation"
	tempSwitch     = "-diag-temp-memory-leak-validation"
	editorLeaks    = "In the Editor: Jobs > Leak Detection > Full Stack Traces."
	stillLeakCount = 20 // more messages than this without an end are more than a hitch
)

func warningFindings(c *reading) {
	byKind := map[WarningKind]*Warning{}
	for i := range c.report.Warnings {
		w := &c.report.Warnings[i]
		if w.Kind != TempUnfreed {
			byKind[w.Kind] = w
		}
	}
	for i := range c.report.Warnings {
		w := &c.report.Warnings[i]
		var f Finding
		switch w.Kind {
		case JobTempOld:
			f = c.jobTempOld(w, byKind[JobTempLateFree])
		case JobTempLateFree:
			f = jobTempLate(w, byKind[JobTempOld])
		case JobTempRemaining:
			f = jobTempRemaining(w)
		case JobTempInvalid:
			f = jobTempInvalid(w)
		case TempUnfreed:
			f = c.tempUnfreed(w)
		}
		f.ID, f.Subject = string(w.Kind), w.Subject
		f.Evidence = append(warningEvidence(w), f.Evidence...)
		f.weight += float64(min(w.Count, 1e6)) / 1e3
		if w.Benign != "" {
			f.Severity = Info
			f.Meaning = join(f.Meaning, fmt.Sprintf("Known to be harmless: %q stands beside it.",
				w.Benign))
		}
		c.add(f)
	}
}

// warningEvidence shows the first message, what stood in front of it, and the last one.
func warningEvidence(w *Warning) []LogLine {
	var evidence []LogLine
	if n := len(w.Before); n > 0 {
		evidence = append(evidence, w.Before[n-1])
	}
	evidence = append(evidence, w.First)
	if w.Last.Line != w.First.Line {
		evidence = append(evidence, LogLine{Line: w.Last.Line,
			Text: fmt.Sprintf("the last of %s", Thousands(w.Count))})
	}
	return append(evidence, w.Stacks[:min(3, len(w.Stacks))]...)
}

// rate describes how often a message came: by the clock, or else by lines.
func (w *Warning) rate() string {
	times := plural(w.Count, "time", "times")
	if w.Count < 2 {
		return times
	}
	seconds := w.LastTime - w.FirstTime
	if seconds < 0 {
		seconds += 24 * 3600 // past midnight
	}
	if !w.Timed || seconds == 0 {
		return times
	}
	period := seconds / float64(w.Count-1)
	switch {
	case period < 1:
		return fmt.Sprintf("%s, every %.0f ms", times, period*1000)
	case period < 120:
		return fmt.Sprintf("%s, every %.0f s", times, period)
	}
	return fmt.Sprintf("%s, every %.0f minutes", times, period/60)
}

// everyFrame reports whether the messages come at the pace of frames.
func (w *Warning) everyFrame() bool {
	if w.Count < 3 {
		return false
	}
	if w.Timed && w.LastTime > w.FirstTime {
		return (w.LastTime-w.FirstTime)/float64(w.Count-1) < 0.2
	}
	return float64(w.Last.Line-w.First.Line)/float64(w.Count-1) <= 3 // the message, its hint, a blank
}

// causes names what the messages followed, the most frequent first.
func (w *Warning) causes() []string {
	names := make([]string, 0, len(w.Near))
	for name := range w.Near {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		if w.Near[names[i]] != w.Near[names[j]] {
			return w.Near[names[i]] > w.Near[names[j]]
		}
		return names[i] < names[j]
	})
	return names
}

// addCauses tells what stood in front of the messages, and what to do about the most frequent.
func (w *Warning) addCauses(f *Finding) {
	names := w.causes()
	if len(names) == 0 {
		return
	}
	if w.Count > 1 {
		counted := make([]string, len(names))
		for i, name := range names {
			counted[i] = fmt.Sprintf("%s %s", name, plural(w.Near[name], "time", "times"))
		}
		f.Meaning += " The log lines in front of them tell of: " + strings.Join(counted, ", ") + "."
	}
	f.Title = strings.TrimSuffix(f.Title, ".") + ", near " + names[0] + "."
	f.Steps = append(f.Steps, causeAdvice[names[0]])
}

// causeAdvice says what to do about a cause.
var causeAdvice = map[string]string{
	"saving": "Messages follow saving, a long frame: memory that was legal for 4 frames of the " +
		"clock was not for 4 frames of the game.",
	"pause or resume": "Messages start at a pause or resume, where the frame count and real time " +
		"drift apart.",
	"GPU read-back": "Messages follow GPU read-backs, which take more than 4 frames: use " +
		"Allocator.Persistent for their buffers.",
	"training": "Training and headless runs advance frames much faster or slower than the clock: " +
		"look for jobs that span frames.",
	"scene loading": "Messages follow scene loading, which takes more than 4 frames: memory that " +
		"must live through it should come from Allocator.Persistent (or a rewindable allocator).",
}

// diagnose is the step that shows the culprit.
func diagnose(w *Warning, newer string) []string {
	if strings.HasPrefix(w.Advice, "-diag") {
		return []string{"Start the program with " + w.Advice + ": the log then shows where the " +
			"memory was taken.", editorLeaks}
	}
	if strings.HasSuffix(w.Advice, "STACK_LEAK") {
		return []string{editorLeaks, "The define " + w.Advice + " of the message can be set only by " +
			"Unity itself; newer versions have the switch " + newer + " instead."}
	}
	return []string{"Start the program with " + newer + " (newer versions), or " +
		strings.ToLower(editorLeaks[:1]) + editorLeaks[1:]}
}

func (c *reading) jobTempOld(w, late *Warning) Finding {
	f := Finding{Severity: Problem, weight: 50,
		Title: fmt.Sprintf("Job memory (TempJob) was kept longer than 4 frames: %s.", w.rate()),
		Meaning: "Memory from Allocator.TempJob must be freed within 4 frames. This is a mistake of " +
			"the program or a package; no block size cures it.",
		Steps:  diagnose(w, jobTempSwitch),
		Effect: "Only the developer of the game can fix it; a player or server owner cannot.",
	}
	if w.everyFrame() {
		f.Meaning += " It comes about once a frame: that is one leak that stays, not ever new ones."
	}
	if late != nil && w.Count <= stillLeakCount {
		f.Severity = Advice
		f.Meaning += " The log also tells of late frees, so at least some of it was freed after all."
	}
	w.addCauses(&f)
	most := int64(blocksMaximum * 2 << 20)
	if c.usage != nil {
		for i := range c.usage.Linears {
			l := &c.usage.Linears[i]
			if l.Text == jobTempName && l.Block.Known() {
				most = blocksMaximum * l.Block.Bytes
				f.Evidence = append(f.Evidence, lines(nameLine(l.Name),
					countLine("Used Block Count", l.Used))...)
			}
		}
	}
	f.Unknown = fmt.Sprintf("How much memory it is: at most %s (64 blocks). A log file that grows "+
		"is a matter of its own.", FormatBytes(most))
	f.SkipIf = "it happens once or twice at a long frame (loading, saving) and then stops."
	return f
}

func jobTempLate(w, old *Warning) Finding {
	f := Finding{Severity: Info, weight: 40,
		Title: fmt.Sprintf("Job memory was freed late (age %s frames instead of 4): %s.", ageRange(w),
			w.rate()),
		Meaning: "The memory was freed, only later than allowed: a long frame, such as saving or " +
			"loading, is enough. This is no leak.",
		Effect: "Nothing to change in the settings.",
		SkipIf: "it comes with loading or saving.",
	}
	w.addCauses(&f)
	if old != nil && old.Count > stillLeakCount {
		f.Meaning += " The other messages (more than 4 frames old) go on, so there is a leak as well."
	}
	return f
}

func ageRange(w *Warning) string {
	if w.AgeMin == w.AgeMax {
		return fmt.Sprint(w.AgeMin)
	}
	return fmt.Sprintf("%d to %d", w.AgeMin, w.AgeMax)
}

func jobTempRemaining(w *Warning) Finding {
	f := Finding{Severity: Info, weight: 30,
		Title: fmt.Sprintf("Job memory was left over at an end: %s.", w.rate()),
		Meaning: "Printed when scripts are reloaded or a worker of the Editor ends; it need not come " +
			"from your own scripts.",
		Steps:  diagnose(w, jobTempSwitch),
		Effect: "Nothing to change in the settings.",
		SkipIf: "it comes only while the Editor imports or reloads.",
	}
	if strings.Contains(w.First.Text, "[Worker") {
		f.Meaning = "Printed by an import worker of the Editor ([WorkerN]), not by the game or world " +
			"you are building."
	}
	return f
}

func jobTempInvalid(w *Warning) Finding {
	return Finding{Severity: Problem, weight: 60,
		Title: fmt.Sprintf("Job memory (TempJob) was freed that was not there: %s.", w.rate()),
		Meaning: "ThreadsafeLinearAllocator is what stands behind Allocator.TempJob. The memory was " +
			"freed twice, or too late, or was never from there. It was taken elsewhere than the place " +
			"that prints the message, and no C# exception shows it.",
		Steps: []string{"Start the program with " + jobTempSwitch + " (newer versions).", editorLeaks,
			"Look for NativeArrays that are disposed twice, or after their job ran over 4 frames."},
		Effect: "No block size cures it.",
	}
}

func (c *reading) tempUnfreed(w *Warning) Finding {
	thread := strings.TrimPrefix(w.Subject, "ALLOC_TEMP_")
	f := Finding{Severity: Advice, weight: 45,
		Title: fmt.Sprintf("Temporary memory was not freed within the frame on thread %s: %s, %s.",
			thread, w.sizes(), w.rate()),
		Meaning: "Memory from Allocator.Temp must be freed in the frame that took it. It is native " +
			"memory: collecting C# garbage (GC.Collect) does not touch it, and a block size does not " +
			"cure it. Hiding the message only hides the cause.",
		Steps:  diagnose(w, tempSwitch),
		Effect: "A handful of bytes a time; the message is the harm.",
		SkipIf: "it is a few hundred bytes of a package or of Unity itself, and the size stays.",
	}
	switch {
	case w.Count > 1 && w.SizeMin == w.SizeMax:
		f.Meaning += " The size is always the same: one forgotten allocation."
	case w.SizeMax > w.SizeMin:
		f.Meaning += " The size changes: more than one place forgets to free."
	}
	if w.Subject == "ALLOC_TEMP_THREAD" {
		f.Unknown = "This name is of Unity 5 and 2017, where several such messages were mistakes of " +
			"Unity itself: try a newer version first."
	}
	return f
}

func (w *Warning) sizes() string {
	if w.SizeMin == w.SizeMax {
		return plural(w.SizeMin, "byte", "bytes")
	}
	return fmt.Sprintf("%s to %s bytes", Thousands(w.SizeMin), Thousands(w.SizeMax))
}
