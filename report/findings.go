package report

import (
	"fmt"
	"sort"
	"strings"
)

// findings.go: what a finding is, and how the families of findings are run and ranked.

// Severity orders findings.
type Severity int

// The severities, mildest first.
const (
	Info     Severity = iota // good to know; nothing to change
	Advice                   // a setting that could be better
	Problem                  // costs time or memory in every frame, or is a mistake in the program
	Critical                 // the program died of it or will
)

var severityNames = [...]string{"info", "advice", "warning", "error"}

func (s Severity) String() string { return severityNames[s] }

// MarshalText writes the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// ParseSeverity reads a name as a user types it.
func ParseSeverity(text string) (Severity, error) {
	for i, name := range severityNames {
		if strings.EqualFold(text, name) {
			return Severity(i), nil
		}
	}
	return 0, fmt.Errorf("unknown severity %q: use info, advice, warning or error", text)
}

// Finding is one thing the log shows, what it means and what to do about it.
type Finding struct {
	ID       string    `json:"id"`
	Severity Severity  `json:"severity"`
	Subject  string    `json:"subject,omitempty"` // the allocator or thread it is about
	Report   int       `json:"report,omitempty"`  // 1-based; 0: about the file as a whole
	Also     []int     `json:"alsoInReports,omitempty"`
	Title    string    `json:"title"` // one sentence for people new to all this
	Evidence []LogLine `json:"evidence,omitempty"`
	Meaning  string    `json:"meaning"`
	Actions  []Action  `json:"actions,omitempty"`
	Steps    []string  `json:"steps,omitempty"` // what to do beside, or instead of, the settings
	// Bytes is what following the actions costs (above 0) or saves at most (below 0).
	Bytes   int64  `json:"bytes"`
	Effect  string `json:"effect,omitempty"`
	SkipIf  string `json:"skipIf,omitempty"`  // when not to bother
	Unknown string `json:"unknown,omitempty"` // what the log cannot tell

	weight    float64 // orders findings of one severity
	needsPlay bool    // rests on rates or peaks that a run of few frames does not show
}

// Question is what the user wants to know.
type Question struct {
	Budget int64 // memory of the device or the share the program may use; 0: not given
}

// thinFrames is the number of frames, ten seconds of play, below which a run is little but loading.
const thinFrames = 600

// reading is what the families of findings look at.
type reading struct {
	log      *Log
	report   *Report
	usage    *Usage // nil where the report has none
	index    int    // 1-based
	build    Build
	frames   int64 // 0: unknown
	question Question
	findings []Finding
}

// families are the groups of findings about one report.
var families = []func(*reading){
	stackFindings, linearFindings, bucketFindings, heapFindings, warningFindings, memoryFindings,
	budgetFindings, blockFindings, startFindings, nativeFindings,
}

// Analyze returns what the log shows, the most important finding first.
func Analyze(log *Log, question Question) []Finding {
	var all []Finding
	for i := range log.Reports {
		c := &reading{log: log, report: &log.Reports[i], usage: log.Reports[i].Usage, index: i + 1,
			question: question, build: log.Reports[i].Build()}
		if c.usage != nil {
			c.frames, _ = c.usage.Frames()
		}
		for _, family := range families {
			family(c)
		}
		c.weaken()
		all = append(all, c.findings...)
	}
	all = append(all, fileFindings(log)...)
	all = merge(all)
	sort.SliceStable(all, func(i, j int) bool {
		if all[i].Severity != all[j].Severity {
			return all[i].Severity > all[j].Severity
		}
		return all[i].weight > all[j].weight
	})
	return all
}

func (c *reading) add(f Finding) {
	f.Report = c.index
	c.findings = append(c.findings, f)
}

// weaken takes back advice that the report cannot carry: what a very short run shows, and settings
// of a player judged from the Editor.
func (c *reading) weaken() {
	for i := range c.findings {
		f := &c.findings[i]
		if f.Severity != Advice && f.Severity != Problem {
			continue
		}
		switch {
		case f.needsPlay && c.frames > 0 && c.frames < thinFrames:
			f.Severity = Info
			f.Unknown = join(f.Unknown, fmt.Sprintf("The run had only %s frames, too few to judge "+
				"by: repeat it with some minutes of play.", Thousands(c.frames)))
		case c.build == BuildEditor && (f.needsPlay || len(f.Actions) > 0):
			f.Severity = Info
			f.Unknown = join(f.Unknown, "This is the Editor, whose settings are apart from those of "+
				"players: judge a game from the report of a release player.")
		}
	}
}

// merge folds findings that several reports of one file share.
func merge(all []Finding) []Finding {
	type identity struct{ id, subject string }
	place := map[identity]int{}
	var merged []Finding
	for _, f := range all {
		key := identity{f.ID, f.Subject}
		at, seen := place[key]
		if !seen {
			place[key] = len(merged)
			merged = append(merged, f)
			continue
		}
		old := &merged[at]
		also := append(old.Also, f.Report)
		if f.Severity > old.Severity || f.Severity == old.Severity && f.weight > old.weight {
			also[len(also)-1] = old.Report
			*old = f
		}
		old.Also = also
	}
	return merged
}

// TopChanges returns up to count findings that call for something to be done.
func TopChanges(findings []Finding, count int) []Finding {
	var top []Finding
	for _, f := range findings {
		if f.Severity >= Advice && len(top) < count {
			top = append(top, f)
		}
	}
	return top
}

// Worst is the highest severity of all findings; ok is false when there are none.
func Worst(findings []Finding) (worst Severity, ok bool) {
	for _, f := range findings {
		worst = max(worst, f.Severity)
	}
	return worst, len(findings) > 0
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	if b == "" {
		return a
	}
	return a + " " + b
}

// Evidence lines, printed as the log has them.

func sizeLine(label string, s Size) LogLine {
	return LogLine{Line: s.Line, Text: label + " " + s.String()}
}

func countLine(label string, c Count) LogLine {
	return LogLine{Line: c.Line, Text: fmt.Sprintf("%s %d", label, c.N)}
}

func nameLine(n Name) LogLine {
	if n.Guessed {
		return LogLine{}
	}
	return LogLine{Line: n.Line, Text: "[" + n.Text + "]"}
}

// lines drops what the log does not hold.
func lines(all ...LogLine) []LogLine {
	var known []LogLine
	for _, l := range all {
		if l.Line != 0 {
			known = append(known, l)
		}
	}
	return known
}

// The thresholds of Unity's manual: "1 to 10 in a frame, or a few hundred during load" are fine.
const (
	fewHundred    = 500
	perFrameFine  = 10
	blocksMaximum = 64 // blocks of a thread-safe linear allocator
)

// perFrame prints a rate: "17 a frame", "3.3 per 10,000 frames".
func perFrame(count, frames int64) string {
	if frames <= 0 {
		return "number of frames unknown"
	}
	rate := float64(count) / float64(frames)
	switch {
	case rate >= 100:
		return Thousands(int64(rate+0.5)) + " a frame"
	case rate >= 1:
		return trimPoint(rate) + " a frame"
	case rate >= 0.001:
		return trimPoint(rate*1000) + " per 1,000 frames"
	}
	return trimPoint(rate*1e6) + " per 1,000,000 frames"
}

func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}
