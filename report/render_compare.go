package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// render_compare.go: a comparison as text, Markdown or JSON.

// WriteComparison writes a comparison in the form text, markdown or json.
func WriteComparison(w io.Writer, c *Comparison, format string, width int, color bool) error {
	if format == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Schema string `json:"schema"`
			*Comparison
		}{"granary.compare/1", c})
	}
	t := &textWriter{width: min(max(width, 40), widthMax), color: color}
	if width == 0 {
		t.width = defaultWidth
	}
	c.write(t, format == "markdown")
	_, err := io.WriteString(w, t.b.String())
	return err
}

func (c *Comparison) write(t *textWriter, asMarkdown bool) {
	t.table(c.runTable(), asMarkdown)
	for _, note := range c.Notes {
		t.put(t.wrap("", "Note: "+note)...)
	}
	if c.Baseline {
		t.put("")
		c.writeChanges(t, asMarkdown)
	}
	t.put("")
	if len(c.Counters) == 0 {
		t.put("No allocator ran over in any of the runs.")
		return
	}
	if asMarkdown {
		t.table(c.counterTable(), true)
		return
	}
	for i := range c.Counters {
		c.writeCounter(t, &c.Counters[i])
	}
}

// table writes a table; in Markdown a blank line must stand behind it.
func (t *textWriter) table(tw table.Writer, asMarkdown bool) {
	if asMarkdown {
		t.put(tw.RenderMarkdown(), "")
		return
	}
	t.put(tw.Render())
}

func (c *Comparison) runTable() table.Writer {
	tw := table.NewWriter()
	tw.SetStyle(table.StyleLight)
	tw.AppendHeader(table.Row{"Run", "Frames", "Native memory taken", "Build"})
	for _, run := range c.Runs {
		frames := "unknown"
		if run.Frames > 0 {
			frames = Thousands(run.Frames)
		}
		tw.AppendRow(table.Row{run.Name, frames, FormatBytes(run.Taken), run.Build})
	}
	tw.SetColumnConfigs([]table.ColumnConfig{{Number: 1, WidthMax: 40},
		{Number: 2, Align: text.AlignRight}, {Number: 3, Align: text.AlignRight}})
	return tw
}

func (c *Comparison) counterTable() table.Writer {
	tw := table.NewWriter()
	header := table.Row{"Allocator", "Event"}
	for _, run := range c.Runs {
		header = append(header, run.Name)
	}
	tw.AppendHeader(append(header, "Trend", "Meaning"))
	for i := range c.Counters {
		counter := &c.Counters[i]
		row := table.Row{counter.Plain, counter.Event}
		for j := range counter.Values {
			row = append(row, counter.value(j))
		}
		tw.AppendRow(append(row, string(counter.Trend), counter.Verdict))
	}
	return tw
}

func (c *Counter) value(run int) string {
	if c.Missing[run] {
		return "-"
	}
	return Thousands(c.Values[run])
}

var trendColors = map[Trend]text.Color{Steady: text.FgGreen, Growing: text.FgYellow,
	Uneven: text.FgYellow, Falling: text.FgCyan, Unclear: text.FgHiBlack}

func (c *Comparison) writeCounter(t *textWriter, counter *Counter) {
	var values []string
	for i := range counter.Values {
		values = append(values, counter.value(i))
	}
	label := string(counter.Trend)
	if c.Baseline {
		label = strings.SplitN(counter.Verdict, ":", 2)[0]
	}
	t.put(t.wrap("", fmt.Sprintf("%s %s, %s: %s",
		t.paint("["+label+"]", trendColors[counter.Trend]), counter.Plain, counter.Event,
		strings.Join(values, " -> ")))...)
	t.put(t.wrap("    ", capitalised(counter.Verdict)+".")...)
}

func (c *Comparison) writeChanges(t *textWriter, asMarkdown bool) {
	first, last := c.Runs[0], c.Runs[len(c.Runs)-1]
	if len(c.Changes) == 0 {
		t.put("No block size differs between the two reports.")
	}
	for _, change := range c.Changes {
		plain := change.Plain
		if asMarkdown {
			plain = "- " + plain
		}
		t.put(fmt.Sprintf("%s: block %s -> %s", plain, change.Before, change.After))
	}
	difference := last.Taken - first.Taken
	word := "more"
	if difference < 0 {
		word, difference = "less", -difference
	}
	t.put(t.wrap("", fmt.Sprintf("Native memory taken: %s -> %s (%s %s).", FormatBytes(first.Taken),
		FormatBytes(last.Taken), FormatBytes(difference), word))...)
}
