package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// render_text.go: text for a terminal. The short form fits one screen and names the three things
// worth changing; the long form has everything.

type textWriter struct {
	b     strings.Builder
	width int
	color bool
}

// WriteText writes the view as text.
func WriteText(w io.Writer, v View) error {
	t := &textWriter{width: min(max(v.Width, 40), widthMax), color: v.Color}
	if v.Width == 0 {
		t.width = defaultWidth
	}
	if v.All {
		t.all(&v)
	} else {
		t.short(&v)
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

// paint colours text where colour is wanted.
func (t *textWriter) paint(s string, colors ...text.Color) string {
	if !t.color {
		return s
	}
	var codes []string
	for _, c := range colors {
		codes = append(codes, fmt.Sprint(int(c)))
	}
	return "\x1b[" + strings.Join(codes, ";") + "m" + s + "\x1b[0m"
}

var severityColors = [...]text.Color{text.FgCyan, text.FgGreen, text.FgYellow, text.FgRed}

// wrap breaks text at blanks; the first line starts with first, the others with as many blanks.
func (t *textWriter) wrap(first, s string) []string {
	indent := strings.Repeat(" ", text.RuneWidthWithoutEscSequences(first))
	var lines []string
	for _, paragraph := range strings.Split(s, "\n") {
		wrapped := text.WrapSoft(paragraph, max(20, t.width-len(indent)))
		for _, l := range strings.Split(wrapped, "\n") {
			lines = append(lines, strings.TrimRight(indent+strings.TrimSpace(l), " "))
		}
	}
	lines[0] = first + strings.TrimPrefix(lines[0], indent)
	return lines
}

func (t *textWriter) put(lines ...string) {
	for _, l := range lines {
		t.b.WriteString(l)
		t.b.WriteByte('\n')
	}
}

// short writes the first screen.
func (t *textWriter) short(v *View) {
	height := v.Height
	if height < 12 {
		height = defaultHeight
	}
	head := t.head(v)
	foot := t.foot(v)
	room := height - 1 - len(head) - len(foot) // the prompt takes a line
	top := TopChanges(v.Findings, topCount)
	items := t.items(v, top, room)
	t.put(head...)
	t.put(items...)
	t.put(foot...)
}

func (t *textWriter) head(v *View) []string {
	head := t.wrap("", t.paint(v.Name, text.Bold)+": "+v.Headline())
	if v.Error != "" {
		head = append(head, t.wrap("", t.paint("Read only in part: ", text.FgYellow)+v.Error)...)
	}
	for _, f := range v.Findings {
		if f.ID == "normal-goodbye" {
			head = append(head, t.wrap("",
				"It is printed because the program ended: no crash, no error.")...)
			break
		}
	}
	return append(head, "")
}

func (t *textWriter) foot(v *View) []string {
	foot := []string{""}
	if len(Proposals(v.Findings)) > 0 {
		foot = append(foot, t.wrap("", where)...)
	}
	name := v.Name
	if name == StandardInput {
		name = "-"
	}
	if strings.ContainsAny(name, " '\"$&;()") {
		name = "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return append(foot, t.wrap("", fmt.Sprintf("In full, with evidence and all figures (%s): "+
		"granary report --all %s", plural(int64(len(v.Findings)), "finding", "findings"),
		name))...)
}

// items writes the findings to act on, in as much detail as there is room for.
func (t *textWriter) items(v *View, top []Finding, room int) []string {
	title := map[int]string{0: "Nothing needs to be changed.", 1: "One thing is worth changing:",
		2: "Two things are worth changing:", 3: "Three things are worth changing:"}[len(top)]
	for detail := 3; ; detail-- {
		lines := []string{t.paint(title, text.Bold)}
		for i := range top {
			lines = append(lines, t.item(i+1, &top[i], detail)...)
		}
		if len(lines) <= room || detail == 0 {
			return t.fill(v, lines, len(top), room)
		}
	}
}

// item writes one finding; less detail leaves out the last of its lines.
func (t *textWriter) item(number int, f *Finding, detail int) []string {
	first := fmt.Sprintf("%2d. ", number)
	lines := t.wrap(t.paint(first, severityColors[f.Severity], text.Bold), f.Title)
	if advice := f.advice(); advice != "" {
		do := t.wrap("    Do:   ", advice)
		if len(f.Actions) > 0 {
			do = nil
			for i, a := range f.Actions { // never broken: it is to be copied
				do = append(do, []string{"    Set:  ", "          "}[min(i, 1)]+
					t.paint(a.BootLine(), text.Bold))
			}
		}
		if detail == 0 {
			do = do[:1]
		}
		lines = append(lines, do...)
	}
	if f.Effect != "" && detail >= 1 {
		effect := t.wrap("    Note: ", f.Effect)
		switch {
		case f.Bytes > 0:
			effect = t.wrap("    Cost: ", strings.TrimPrefix(f.Effect, "Costs "))
		case f.Bytes < 0:
			effect = t.wrap("    Gain: ", strings.TrimPrefix(f.Effect, "Saves "))
		}
		if detail == 1 {
			effect = effect[:1]
		}
		lines = append(lines, effect...)
	}
	if f.SkipIf != "" && detail >= 3 {
		lines = append(lines, t.wrap("    Skip: ", "if "+f.SkipIf)...)
	}
	return lines
}

// fill adds what is good to know while the screen has room.
func (t *textWriter) fill(v *View, lines []string, used, room int) []string {
	heading := false
	for i := range v.Findings {
		f := &v.Findings[i]
		if f.Severity >= Advice || f.ID == "normal-goodbye" {
			continue
		}
		more := t.wrap("  - ", f.Title)
		if f.ID == "no-report" {
			more = append(more, t.wrap("    ", f.Meaning)...)
			for _, step := range f.Steps {
				more = append(more, t.wrap("    Do:   ", step)...)
			}
		}
		if !heading {
			more = append([]string{"", t.paint("Good to know:", text.Bold)}, more...)
			if used == 0 && f.ID == "no-report" {
				lines = nil
				more = more[2:]
			}
		}
		if len(lines)+len(more) > room {
			break
		}
		heading = true
		lines = append(lines, more...)
	}
	return lines
}

// all writes every finding in full and the figures.
func (t *textWriter) all(v *View) {
	t.put(t.head(v)...)
	for i := range v.Findings {
		t.finding(i+1, &v.Findings[i])
	}
	if len(Proposals(v.Findings)) > 0 {
		t.put(t.wrap("", where)...)
		t.put("")
	}
	reports, indexes := v.Log.usages()
	for i, r := range reports {
		t.put(t.wrap(t.paint(fmt.Sprintf("Report %d: ", indexes[i]), text.Bold),
			strings.Join(describe(r), ", "))...)
		t.put(strings.Split(partsTable(r.Usage).Render(), "\n")...)
		t.put(t.wrap("", "Used is the highest use, taken what was reserved for it; the peaks need not "+
			"have come at one moment.")...)
		t.histograms(r.Usage)
		t.put("")
	}
	natives := v.Log.largestNatives(nativeTablesMax)
	for _, n := range natives {
		t.put(t.wrap("", fmt.Sprintf("Granary report of %s (pid %d), line %d:", n.Name, n.PID,
			n.Line))...)
		t.put(strings.Split(nativeTable(n).Render(), "\n")...)
		t.put("")
	}
	t.context(v, len(reports)+len(natives) == 0)
}

// context quotes the lines in front of the last report, or the end of a file without one.
func (t *textWriter) context(v *View, tail bool) {
	quoted := v.Log.Facts.Tail
	if reports, indexes := v.Log.usages(); len(reports) > 0 {
		last := len(reports) - 1
		if quoted = reports[last].Usage.Before; len(quoted) > 0 {
			t.put(fmt.Sprintf("The last lines in front of report %d:", indexes[last]))
		}
	} else if !tail {
		return
	} else {
		t.put("The last lines of the file:")
	}
	for _, l := range quoted {
		t.quote(l)
	}
}

const nativeTablesMax = 3

// largestNatives returns Granary's reports of the processes with the most memory.
func (l *Log) largestNatives(count int) []*Native {
	var all []*Native
	for i := range l.Reports {
		if n := l.Reports[i].Native; n != nil {
			all = append(all, n)
		}
	}
	slices.SortStableFunc(all, func(a, b *Native) int {
		return cmp.Compare(b.PeakRSS.Bytes, a.PeakRSS.Bytes)
	})
	return all[:min(count, len(all))]
}

// nativeTable shows the classes that hold most.
func nativeTable(n *Native) table.Writer {
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.AppendHeader(table.Row{"Class", "Blocks", "Mallocs", "Asked", "Held"})
	for _, class := range n.largest(8) {
		tw.AppendRow(table.Row{FormatBytes(class.Bytes), class.Blocks, class.Mallocs, class.Asked,
			class.Held})
	}
	if n.Normal != nil {
		tw.AppendRow(table.Row{"larger", n.Normal.Blocks, n.Normal.Mallocs, n.Normal.Asked,
			n.Normal.Held})
	}
	if n.Sum != nil {
		tw.AppendFooter(table.Row{"Sum", n.Sum.Blocks, n.Sum.Mallocs, n.Sum.Asked, n.Sum.Held})
	}
	var columns []table.ColumnConfig
	for number := 1; number <= 5; number++ {
		columns = append(columns, table.ColumnConfig{Number: number, Align: text.AlignRight,
			AlignFooter: text.AlignRight})
	}
	tw.SetColumnConfigs(columns)
	return tw
}

func (t *textWriter) finding(number int, f *Finding) {
	label := t.paint(f.Severity.String(), severityColors[f.Severity], text.Bold)
	t.put(t.wrap(fmt.Sprintf("%2d. ", number), fmt.Sprintf("[%s] %s", label, f.Title))...)
	if f.Meaning != "" {
		t.put(t.wrap("    ", f.Meaning)...)
	}
	for _, a := range f.Actions {
		was := ""
		if a.Was > 0 {
			was = " (now " + FormatBytes(a.Was) + ")"
		}
		t.put("    Set:     " + t.paint(a.BootLine(), text.Bold))
		t.put(t.wrap("             ", a.Where+was)...)
	}
	for _, step := range f.Steps {
		t.put(t.wrap("    Do:      ", step)...)
	}
	for _, part := range [...]struct{ label, text string }{
		{"    Effect:  ", f.Effect}, {"    Not if:  ", f.SkipIf}, {"    Unknown: ", f.Unknown}} {
		if part.text != "" {
			t.put(t.wrap(part.label, part.text)...)
		}
	}
	for _, e := range f.Evidence {
		t.quote(e)
	}
	if len(f.Also) > 0 {
		t.put(fmt.Sprintf("    (report %d; the same in %s)", f.Report,
			plural(int64(len(f.Also)), "other report", "other reports")))
	}
	t.put("")
}

// quote shows a line of the log, cut to the width.
func (t *textWriter) quote(l LogLine) {
	t.put(text.Trim(fmt.Sprintf("    %6d | %s", l.Line, l.Text), t.width))
}

// partsTable ranks the allocators by what they took.
func partsTable(u *Usage) table.Writer {
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.AppendHeader(table.Row{"Memory", "Used", "Taken", "Line"})
	for _, part := range rankedParts(u) {
		tw.AppendRow(table.Row{part.Plain, FormatBytes(part.Used), FormatBytes(part.Taken), part.Line})
	}
	tw.AppendFooter(table.Row{"Sum", "", FormatBytes(u.Taken()), ""})
	tw.SetColumnConfigs([]table.ColumnConfig{{Number: 1, WidthMax: 44},
		{Number: 2, Align: text.AlignRight},
		{Number: 3, Align: text.AlignRight, AlignFooter: text.AlignRight},
		{Number: 4, Align: text.AlignRight}})
	return tw
}

// histograms draws the frames by use, on a logarithmic scale so that single frames show.
func (t *textWriter) histograms(u *Usage) {
	for _, h := range u.histograms() {
		t.put("", fmt.Sprintf("Frames by the use of %s:", h.Plain))
		most := int64(1)
		for _, bin := range h.Bins {
			most = max(most, bin.Frames)
		}
		for _, bin := range h.Bins {
			bar := strings.Repeat("#", logLength(bin.Frames, most, max(10, t.width-44)))
			t.put(strings.TrimRight(fmt.Sprintf("    up to %9s %12s  %s", bin.To,
				Thousands(bin.Frames), bar), " "))
		}
	}
}

// logLength is the length of a bar: full for most, 1 for a single frame.
func logLength(n, most int64, full int) int {
	if n <= 0 {
		return 0
	}
	digits := func(x int64) float64 {
		d := 0.0
		for ; x >= 2; x /= 2 {
			d++
		}
		return d
	}
	if most < 2 {
		return full
	}
	return 1 + int(float64(full-1)*digits(n)/digits(most))
}

// WritePaste writes five lines for a bug tracker.
func WritePaste(w io.Writer, v View) error {
	lines := []string{v.Headline()}
	if reports, _ := v.Log.usages(); len(reports) == 1 {
		lines[0] += ", native peaks " + FormatBytes(reports[0].Usage.Taken())
	}
	for _, f := range v.Findings {
		if len(lines) == 4 || f.Severity < Advice && len(lines) > 1 && f.ID == "normal-goodbye" {
			break
		}
		line := f.Title
		if len(f.Actions) > 0 {
			line += " Try " + f.Actions[0].BootLine() + "."
		} else if f.Severity >= Advice && len(f.Steps) > 0 {
			line += " " + f.Steps[0]
		}
		lines = append(lines, fmt.Sprintf("%d. %s", len(lines), line))
	}
	for len(lines) < 4 {
		lines = append(lines, fmt.Sprintf("%d. Nothing else worth changing.", len(lines)))
	}
	lines = append(lines, "(Unity prints the memory report whenever a program ends: it is no crash. "+
		"Summary by granary report.)")
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}
