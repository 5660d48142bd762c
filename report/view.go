package report

import (
	"fmt"
	"sort"
	"strings"
)

// view.go: what all output formats share: the headline and the order of things.

// View is one file with what was found in it, ready to be written in one of the formats.
type View struct {
	Name     string // of the file, or StandardInput
	Log      *Log
	Findings []Finding
	Width    int  // columns of the terminal
	Height   int  // its lines; the short text fits into them
	Color    bool // colour is wanted
	All      bool // everything instead of the first screen
	Error    string
}

// StandardInput is the name of a view that was not read from a file.
const StandardInput = "standard input"

const (
	defaultWidth  = 80
	defaultHeight = 24
	widthMax      = 110
	topCount      = 3
)

// usages returns the reports that have a Usage, with their 1-based index.
func (l *Log) usages() (reports []*Report, indexes []int) {
	for i := range l.Reports {
		if l.Reports[i].Usage != nil {
			reports = append(reports, &l.Reports[i])
			indexes = append(indexes, i+1)
		}
	}
	return reports, indexes
}

// Headline says in one line what the file holds.
func (v *View) Headline() string {
	reports, _ := v.Log.usages()
	switch len(reports) {
	case 0:
		return v.otherHeadline()
	case 1:
		return strings.Join(describe(reports[0]), ", ")
	}
	count := fmt.Sprint(len(reports))
	if v.Log.Facts.Dropped > 0 {
		count += " of " + Thousands(int64(len(reports)+v.Log.Facts.Dropped))
	}
	return fmt.Sprintf("%s memory reports, %s to %s", count, lineRange(reports[0].Usage),
		lineRange(reports[len(reports)-1].Usage))
}

func (v *View) otherHeadline() string {
	var parts []string
	if v.Log.Facts.Engine != nil {
		parts = append(parts, "Unity "+v.Log.Facts.Engine.Text)
	}
	kinds := map[string]int{}
	for i := range v.Log.Reports {
		r := &v.Log.Reports[i]
		for what, present := range map[string]bool{"settings list": r.Start != nil,
			"Granary report": r.Native != nil, "mimalloc table": r.Mimalloc != nil,
			"out-of-memory overview": len(r.OutOf) > 0} {
			if present {
				kinds[what]++
			}
		}
	}
	for _, what := range [...]string{"Granary report", "mimalloc table", "out-of-memory overview",
		"settings list"} {
		switch kinds[what] {
		case 0:
		case 1:
			parts = append(parts, what)
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", kinds[what], what))
		}
	}
	if kinds["Granary report"] == 0 && kinds["mimalloc table"] == 0 {
		parts = append(parts, "no memory report")
	}
	return strings.Join(append(parts, plural(int64(v.Log.Facts.Lines), "line", "lines")), ", ")
}

// describe names version, build, length of the run and place of a report.
func describe(r *Report) []string {
	var parts []string
	if r.Engine != nil {
		parts = append(parts, "Unity "+r.Engine.Text)
	} else {
		parts = append(parts, "Unity memory report")
	}
	if build := r.Build(); build != BuildUnknown {
		parts = append(parts, build.String())
	}
	if frames, _ := r.Usage.Frames(); frames > 0 {
		parts = append(parts, plural(frames, "frame", "frames"))
	}
	parts = append(parts, lineRange(r.Usage))
	if r.Source != "" {
		parts = append(parts, "from "+r.Source)
	}
	return parts
}

func lineRange(u *Usage) string { return fmt.Sprintf("lines %d-%d", u.First, u.Last) }

// advice returns what to do in one or two short sentences.
func (f *Finding) advice() string {
	var parts []string
	for _, a := range f.Actions {
		parts = append(parts, a.BootLine())
	}
	if len(parts) == 0 && len(f.Steps) > 0 {
		parts = append(parts, f.Steps[0])
	}
	return strings.Join(parts, "\n")
}

const where = "Where: a line in <game>_Data/boot.config, the same with a dash in front on the " +
	"command line, or Project Settings > Memory Settings."

// rankedParts lists the parts of a report, the largest first.
func rankedParts(u *Usage) []Part {
	parts := u.Parts()
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].Taken > parts[j].Taken })
	return parts
}

// namedHistogram is a histogram with the allocator it belongs to.
type namedHistogram struct {
	Plain string
	Histogram
}

// histograms returns all histograms of a report that count at least one frame.
func (u *Usage) histograms() []namedHistogram {
	var all []namedHistogram
	for i := range u.Stacks {
		if u.Stacks[i].Frames.Total() > 0 {
			all = append(all, namedHistogram{PlainName(u.Stacks[i].Text), u.Stacks[i].Frames})
		}
	}
	for _, h := range u.AllHeaps() {
		if h.Frames.Total() > 0 {
			all = append(all, namedHistogram{PlainName(h.Text), h.Frames})
		}
	}
	return all
}
