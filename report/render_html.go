package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
)

// render_html.go: one page that needs nothing else: no network, no second file. The charts are
// drawn by Chart.js, which is embedded together with its licence; every chart has its figures in a
// table as well, for readers without a screen or without scripts.

//go:embed assets/page.html
var pageTemplate string

//go:embed assets/page.css
var pageStyle string

//go:embed assets/page.js
var pageScript string

//go:embed assets/chart-4.6.1.umd.min.js
var chartScript string

//go:embed assets/chart-LICENSE.md
var chartLicence string

// chart is one chart as the page's script draws it. Values are megabytes or counts.
type chart struct {
	ID     string        `json:"id"`
	Title  string        `json:"title"`
	Note   string        `json:"-"`
	Kind   string        `json:"kind"` // "bar", or "barh" for horizontal bars
	Log    bool          `json:"log"`
	Unit   string        `json:"unit"` // "MB", "KB" or "frames"
	Labels []string      `json:"labels"`
	Series []chartSeries `json:"series"`
}

type chartSeries struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

type pageReport struct {
	Title  string
	Lines  string
	Charts []chart
	Before []LogLine
}

type pageFile struct {
	Name, Headline, Error string
	Findings              []Finding
	Boot                  string
	Savings               *chart
	Reports               []pageReport
}

var pageParsed = template.Must(template.New("page").Funcs(template.FuncMap{
	"cell": cell, "inc": func(i int) int { return i + 1 },
}).Parse(pageTemplate))

// WriteHTML writes all views as one page.
func WriteHTML(w io.Writer, views []View) error {
	var data struct {
		Style, ChartLicence string
		Files               []pageFile
		Charts              []chart
		CSS                 template.CSS
		ChartScript, Script template.JS
	}
	data.CSS = template.CSS(pageStyle)
	data.ChartScript = template.JS(withoutMapReference(chartScript))
	data.Script = template.JS(pageScript)
	data.ChartLicence = chartLicence
	for i := range views {
		file := newPageFile(&views[i], i)
		if file.Savings != nil {
			data.Charts = append(data.Charts, *file.Savings)
		}
		for _, r := range file.Reports {
			data.Charts = append(data.Charts, r.Charts...)
		}
		data.Files = append(data.Files, file)
	}
	var page bytes.Buffer
	if err := pageParsed.Execute(&page, data); err != nil {
		return err
	}
	_, err := page.WriteTo(w)
	return err
}

// withoutMapReference drops the hint at a file that does not exist beside the page.
func withoutMapReference(script string) string {
	if at := strings.LastIndex(script, "//# sourceMappingURL"); at >= 0 {
		return script[:at]
	}
	return script
}

func newPageFile(v *View, index int) pageFile {
	file := pageFile{Name: v.Name, Headline: v.Headline(), Error: v.Error, Findings: v.Findings,
		Boot: BootConfig(Proposals(v.Findings))}
	file.Savings = savingsChart(v.Findings, fmt.Sprintf("c%d-savings", index))
	reports, indexes := v.Log.usages()
	for i, r := range reports {
		page := pageReport{Title: fmt.Sprintf("Report %d", indexes[i]),
			Lines: strings.Join(describe(r), ", "), Before: r.Usage.Before}
		prefix := fmt.Sprintf("c%d-%d", index, i)
		page.Charts = reportCharts(r.Usage, prefix)
		file.Reports = append(file.Reports, page)
	}
	return file
}

// reportCharts are the charts of one report.
func reportCharts(u *Usage, prefix string) []chart {
	var charts []chart
	if c, ok := rankChart(u, prefix+"-rank"); ok {
		charts = append(charts, c)
	}
	if c, ok := stackChart(u, prefix+"-stacks"); ok {
		charts = append(charts, c)
	}
	for i, h := range u.histograms() {
		c := chart{ID: fmt.Sprintf("%s-h%d", prefix, i), Kind: "bar", Log: true, Unit: "frames",
			Title: "Frames by the use of " + h.Plain,
			Note:  "Each bar is the number of frames whose highest use lay in the range."}
		series := chartSeries{Name: "frames"}
		for _, bin := range h.Bins {
			from := "0"
			if bin.From.Bytes > 0 {
				from = bin.From.String()
			}
			c.Labels = append(c.Labels, from+" - "+bin.To.String())
			series.Values = append(series.Values, float64(bin.Frames))
		}
		c.Series = []chartSeries{series}
		charts = append(charts, c)
	}
	return charts
}

const rankedMax = 11 // bars of the ranking; the rest is one bar

// rankChart ranks what each allocator took, and how much of that it used.
func rankChart(u *Usage, id string) (chart, bool) {
	c := chart{ID: id, Kind: "barh", Unit: "MB", Title: "Highest use and memory taken, ranked",
		Note: "The peaks need not have come at one moment."}
	used, taken := chartSeries{Name: "used"}, chartSeries{Name: "taken"}
	var rest Part
	for i, part := range rankedParts(u) {
		if i >= rankedMax {
			rest.Used += part.Used
			rest.Taken += part.Taken
			continue
		}
		if part.Taken > 0 {
			c.Labels = append(c.Labels, part.Plain)
			used.Values = append(used.Values, megabytes(part.Used))
			taken.Values = append(taken.Values, megabytes(part.Taken))
		}
	}
	if rest.Taken > 0 {
		c.Labels = append(c.Labels, "everything else")
		used.Values = append(used.Values, megabytes(rest.Used))
		taken.Values = append(taken.Values, megabytes(rest.Taken))
	}
	c.Series = []chartSeries{used, taken}
	return c, len(c.Labels) > 0
}

// stackChart sets the use of the threads' blocks against their size.
func stackChart(u *Usage, id string) (chart, bool) {
	c := chart{ID: id, Kind: "barh", Log: true, Unit: "KB", Title: "Block use against block size",
		Note: "The fullest thread of each kind; for heaps, all of their blocks."}
	peak, block := chartSeries{Name: "highest use"}, chartSeries{Name: "size of the blocks"}
	for _, t := range groupStacks(u) {
		if !t.highest.Initial.Known() {
			continue
		}
		c.Labels = append(c.Labels, t.group.name)
		peak.Values = append(peak.Values, kilobytes(t.highest.Peak.Bytes))
		block.Values = append(block.Values, kilobytes(t.highest.Initial.Bytes))
	}
	for _, h := range u.AllHeaps() {
		if size := h.Block.Bytes * h.Blocks.N; size > 0 {
			c.Labels = append(c.Labels, PlainName(h.Text))
			peak.Values = append(peak.Values, kilobytes(min(size, h.inBlocks())))
			block.Values = append(block.Values, kilobytes(size))
		}
	}
	c.Series = []chartSeries{peak, block}
	return c, len(c.Labels) > 0
}

// savingsChart shows what each piece of advice costs (to the right) or saves (to the left).
func savingsChart(findings []Finding, id string) *chart {
	c := &chart{ID: id, Kind: "barh", Unit: "MB", Title: "What the advice costs (+) and saves (-)",
		Note: "Savings are the most that is possible."}
	series := chartSeries{Name: "memory"}
	for i := range findings {
		f := &findings[i]
		if f.Severity >= Advice && f.Bytes != 0 && len(f.Actions) > 0 {
			c.Labels = append(c.Labels, strings.TrimPrefix(f.Actions[0].Key, settingPrefix))
			series.Values = append(series.Values, megabytes(f.Bytes))
		}
	}
	if len(series.Values) == 0 {
		return nil
	}
	c.Series = []chartSeries{series}
	return c
}

// Two decimals are more than the printed values are known to.
func megabytes(n int64) float64 { return math.Round(float64(n)/(1<<20)*100) / 100 }

func kilobytes(n int64) float64 { return math.Round(float64(n)/(1<<10)*100) / 100 }

// cell prints a value of a chart in its table.
func cell(value float64, unit string) string {
	if unit == "frames" {
		return Thousands(int64(value))
	}
	return trimPoint(value) + " " + unit
}
