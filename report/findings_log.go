package report

import (
	"fmt"
	"strconv"
	"strings"
)

// findings_log.go: what the block itself and the log around it tell, and the answer for a log that
// holds no report.

func blockFindings(c *reading) {
	u := c.usage
	if u == nil {
		return
	}
	c.goodbye(u)
	if !u.complete() {
		c.cut(u)
	}
	frames, exact := u.Frames()
	switch {
	case frames > 0 && frames < thinFrames:
		c.add(Finding{ID: "short-run", Severity: Info, weight: 90,
			Title: fmt.Sprintf("The run had only %s: too short to judge the settings by.",
				plural(frames, "frame", "frames")),
			Meaning: "Rates of a few frames are those of starting up. Play for some minutes, then " +
				"read the report again.",
			Effect: "No setting is proposed from rates and peaks."})
	case !exact:
		c.add(Finding{ID: "frames-differ", Severity: Info, weight: 80,
			Title:   "Parts of this report count different numbers of frames.",
			Meaning: "Within one report they agree, so the excerpt mixes two; rates are rough."})
	}
	if c.build == BuildDevelopment || c.build == BuildEditor {
		c.add(Finding{ID: "not-a-release", Severity: Info, weight: 70, Subject: c.build.String(),
			Title: map[Build]string{
				BuildEditor:      "This report is from the Editor, not from a release player.",
				BuildDevelopment: "This report is from a development build, not from a release player.",
			}[c.build],
			Meaning: "Development builds and the Editor use more memory and have other defaults. " +
				"Choose settings for players from a release player."})
	}
}

// errorWords mark lines that may tell why a program ended.
var errorWords = []string{"exception", "error", "failed", "fatal", "abort", "could not", "cannot",
	"unable to", "denied", "killed", "segfault", "out of memory"}

func looksLikeError(text string) bool {
	lower := strings.ToLower(text)
	for _, word := range errorWords {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return false
}

// goodbye says that the block is no crash, and points at what stands in front of it.
func (c *reading) goodbye(u *Usage) {
	if u.Header == 0 {
		return
	}
	f := Finding{ID: "normal-goodbye", Severity: Info, weight: 60,
		Evidence: []LogLine{{Line: u.Header, Text: "Memory Statistics:"}},
		Title:    "The report is printed because the program ended; it is neither a crash nor an error.",
		Meaning: "Unity prints it when a program closes. Why it closed stands above it in the log, if " +
			"anywhere. The report does not prove that the end was orderly, either.",
		Effect: "Nothing to change."}
	before := u.Before
	if u.Glued != "" {
		glued := LogLine{Line: u.Header, Text: u.Glued}
		f.Evidence = append(f.Evidence, glued)
		if looksLikeError(u.Glued) {
			f.ID, f.Severity, f.weight = "error-before-report", Problem, 500
			f.Title = fmt.Sprintf("The real message is %q; the report only follows it on the same line.",
				u.Glued)
		}
	}
	for i := len(before) - 1; i >= 0 && len(f.Evidence) < 6; i-- {
		if looksLikeError(before[i].Text) {
			f.Evidence = append(f.Evidence, before[i])
		}
	}
	for i := len(before) - 1; i >= max(0, len(before)-3); i-- {
		if !looksLikeError(before[i].Text) && strings.TrimSpace(before[i].Text) != "" {
			f.Evidence = append(f.Evidence, before[i])
		}
	}
	c.add(f)
}

// cut names what an excerpt lacks.
func (c *reading) cut(u *Usage) {
	var missing []string
	if u.Header == 0 {
		missing = append(missing, "the heading")
	}
	if len(u.Stacks) == 0 {
		missing = append(missing, "the threads' scratch memory")
	}
	if u.SharedBucket() == nil {
		missing = append(missing, "the pool for small objects")
	}
	if len(u.Linears) < 4 {
		missing = append(missing, "part of the job memory")
	}
	if len(u.AllHeaps()) < 8 {
		missing = append(missing, "part of the heaps")
	}
	if frames, _ := u.Frames(); frames == 0 {
		missing = append(missing, "the number of frames")
	}
	c.add(Finding{ID: "excerpt", Severity: Info, weight: 65,
		Title:   "The report is cut; it lacks " + joinAnd(missing) + ".",
		Meaning: "What is missing cannot be judged. The whole Player.log or Editor.log is better.",
		Unknown: "Anything about the missing parts."})
}

func joinAnd(parts []string) string {
	switch len(parts) {
	case 0:
		return "its last lines"
	case 1:
		return parts[0]
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// startFindings explains the list of settings and shows which of them somebody changed.
func startFindings(c *reading) {
	s := c.report.Start
	if s == nil {
		return
	}
	build := c.build
	f := Finding{ID: "start-list", Severity: Info, weight: 25,
		Title: "The list of memory settings printed at start is information, not an error.",
		Meaning: "[UnityMemory] Configuration Parameters names the values in force; they can be " +
			"changed in boot.config, on the command line or in Project Settings > Memory Settings.",
		Effect: "Nothing to change."}
	if s.Line > 0 {
		f.Evidence = append(f.Evidence, LogLine{Line: s.Line,
			Text: "[UnityMemory] Configuration Parameters - Can be set up in boot.config"})
	}
	changed := 0
	for _, value := range s.Values {
		info := settingByKey(value.Key)
		if info == nil || value.Value == info.fallback(build) ||
			build == BuildUnknown && (value.Value == info.player || value.Value == info.editor) {
			continue
		}
		changed++
		f.Evidence = append(f.Evidence, LogLine{Line: value.Line, Text: fmt.Sprintf(
			"%s=%d (default %d)", value.Key, value.Value, info.fallback(build))})
	}
	if changed > 0 {
		f.Title += fmt.Sprintf(" %s from the default.", plural(int64(changed), "value differs",
			"values differ"))
	} else {
		f.Title += " All values shown are the defaults."
	}
	c.add(f)
}

// fileFindings is about the file as a whole; for a log without a report it says why there is none.
func fileFindings(log *Log) []Finding {
	var all []Finding
	f := &log.Facts
	if f.Dropped > 0 {
		all = append(all, Finding{ID: "reports-dropped", Severity: Info, weight: 95,
			Title: fmt.Sprintf("The file holds %d more runs than are shown.", f.Dropped),
			Meaning: fmt.Sprintf("The first and the last %d are kept, so that memory stays bounded.",
				reportsMax/2)})
	}
	for i := range log.Reports {
		if log.Reports[i].Usage != nil || log.Reports[i].Native != nil ||
			log.Reports[i].Mimalloc != nil {
			if crash, ok := crashLines(log); ok {
				all = append(all, crash)
			}
			return all
		}
	}
	return append(all, noReport(log))
}

// crashLines reports lines of a crash handler beside a report. A heading glued to such a message
// is reported as that.
func crashLines(log *Log) (Finding, bool) {
	f := Finding{ID: "crash-lines", Severity: Problem, weight: 400,
		Title: "The log holds lines of a crash or of a killed program as well.",
		Meaning: "They are no part of the memory report, which is harmless. Exit code 137 means killed " +
			"from outside, mostly because the machine or container ran out of memory.",
		Steps: []string{"Look at these lines first."}}
	for _, l := range log.Facts.Crashes {
		glued := false
		for i := range log.Reports {
			u := log.Reports[i].Usage
			glued = glued || u != nil && u.Header == l.Line
		}
		if !glued && len(f.Evidence) < 3 {
			f.Evidence = append(f.Evidence, l)
		}
	}
	return f, len(f.Evidence) > 0
}

// noReport says why a log holds no report and how to get one.
func noReport(log *Log) Finding {
	f := Finding{ID: "no-report", Severity: Info, weight: 100}
	facts := &log.Facts
	engine := ""
	if facts.Engine != nil {
		engine = facts.Engine.Text
		f.Evidence = append(f.Evidence, LogLine{Line: facts.Engine.Line, Text: "Unity " + engine})
	}
	const how = "Start the program with -log-memory-performance-stats, use it, and close it the " +
		"normal way."
	switch {
	case facts.Bytes == 0:
		f.Title = "The file is empty."
		f.Meaning = "Nothing was written to it."
		f.Steps = []string{how}
	case facts.OddBytes*100 > min(facts.Bytes, windowBytes):
		f.Title = "This is no text file."
		f.Meaning = "It holds many control characters, as programs, pictures and archives do."
		f.Steps = []string{"Give the Player.log or Editor.log of a Unity program (gzip is fine)."}
	case facts.HeaderAtEnd > 0:
		f.Title = "The log ends right behind the heading of the report."
		f.Meaning = "The program was ended while it wrote the report, or the copy was cut."
		f.Evidence = append(f.Evidence, LogLine{Line: facts.HeaderAtEnd, Text: "Memory Statistics:"})
		f.Steps = []string{how}
	case len(facts.Crashes) > 0:
		f.Title = "There is no report: the program crashed before it could write one."
		f.Meaning = "The report is written while closing, which a crash skips."
		f.Evidence = append(f.Evidence, facts.Crashes[:min(3, len(facts.Crashes))]...)
		f.Severity = Problem
		f.Steps = []string{"Look into the crash first; the report comes with an orderly end."}
	case anyOutOfMemory(log):
		f.Title = "There is no report: the program ran out of memory before it could write one."
		f.Meaning = "The overview printed then is not the report."
	case engineYear(engine) >= 6000:
		f.Title = "There is no report: Unity 6 writes it only when asked."
		f.Meaning = "Versions from 2021.2 to 2023 print it by default at their end, Unity 6 does not."
		f.Steps = []string{how}
		if facts.SwitchLine > 0 {
			f.Title = "There is no report although the switch was given."
			f.Meaning = "The program was probably killed instead of closed."
			f.Steps = []string{"Close it the normal way."}
		}
	case engineYear(engine) > 0 && engineYear(engine) < 2021:
		f.Title = "There is no report: this version of Unity does not have it."
		f.Meaning = "The report exists from Unity 2021.2 on."
		f.Steps = []string{"Use a newer version."}
	case engine != "":
		f.Title = "There is no report: the program was probably killed instead of closed."
		f.Meaning = "This version writes the report while closing, without being asked."
		f.Steps = []string{how}
	case len(log.Reports) > 0 && log.Reports[0].Start != nil:
		f.Title = "There is no report, only the list of settings printed at start."
		f.Meaning = "The list is information. The report comes when the program closes; Unity 6 " +
			"writes it only when asked."
		f.Steps = []string{how}
	case len(log.Reports) > 0:
		f.Title = "There is no memory report in this file, only messages."
		f.Meaning = "The messages are explained on their own."
		f.Steps = []string{how}
	default:
		f.Title = "There is no memory report in this file."
		f.Meaning = "It does not look like the log of a Unity program, or only like a part of one."
		f.Steps = []string{how, "Windows keeps the log at %USERPROFILE%\\AppData\\LocalLow\\" +
			"<company>\\<product>\\Player.log, the run before it in Player-prev.log."}
	}
	return f
}

func anyOutOfMemory(log *Log) bool {
	for i := range log.Reports {
		if len(log.Reports[i].OutOf) > 0 {
			return true
		}
	}
	return false
}

// engineYear is the first number of a version: 2021, 6000; 0 if there is none.
func engineYear(engine string) int {
	first, _, _ := strings.Cut(engine, ".")
	year, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return year
}
