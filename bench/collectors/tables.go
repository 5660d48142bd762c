package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
)

// tables are the medians of all runs: a row a workload, a column a collector.
type tables struct {
	workloads, collectors []string
	medians               map[[3]string]float64 // workload, collector, figure
}

func sortedNames(figures map[string]float64) []string { return slices.Sorted(maps.Keys(figures)) }

func newTables(runs []run, workloads []string, collectors []collector) *tables {
	t := &tables{workloads: workloads, medians: map[[3]string]float64{}}
	for _, c := range collectors {
		t.collectors = append(t.collectors, c.name)
	}
	values := map[[3]string][]float64{}
	for _, r := range runs {
		for name, value := range r.figures {
			key := [3]string{r.workload, r.collector, name}
			values[key] = append(values[key], value)
		}
	}
	for key, all := range values {
		t.medians[key] = median(all)
	}
	return t
}

// shown are the figures that have a table, with the number by which they are multiplied for it.
var shown = []struct {
	figure, title string
	factor        float64
}{
	{"cpu_seconds", "Processor time, seconds", 1},
	{"seconds", "Wall time of the work, seconds", 1},
	{"pause_max_us", "Longest pause, milliseconds", 1e-3},
	{"peak_rss_kib", "Peak resident memory, MiB", 1.0 / 1024},
	{"collections", "Collections", 1},
}

func (t *tables) print(w io.Writer, render func(table.Writer) string) {
	for _, s := range shown {
		writer := table.NewWriter()
		header := table.Row{"workload"}
		for _, c := range t.collectors {
			header = append(header, c)
		}
		writer.AppendHeader(header)
		if !t.has(s.figure) {
			continue // what only the workloads tell of
		}
		for _, workload := range t.workloads {
			row := table.Row{workload}
			for _, c := range t.collectors {
				row = append(row, t.cell(workload, c, s.figure, s.factor))
			}
			writer.AppendRow(row)
		}
		if s.figure != "collections" {
			writer.AppendFooter(t.means(s.figure))
		}
		fmt.Fprintf(w, "\n## %s\n\n%s\n", s.title, render(writer))
		if name, ratio := t.worst(s.figure); ratio > 0 && s.figure != "collections" {
			fmt.Fprintf(w, "\n%s at its worst: %s, %.2f.\n", ofGranary, name, ratio)
		}
	}
}

func (t *tables) has(figure string) bool {
	for key := range t.medians {
		if key[2] == figure {
			return true
		}
	}
	return false
}

// worst is the workload with the largest ratio of Granary's libgc.so.1 to the baseline.
func (t *tables) worst(figure string) (name string, ratio float64) {
	for _, workload := range t.workloads {
		base := t.medians[[3]string{workload, baseline, figure}]
		if r := t.medians[[3]string{workload, ofGranary, figure}] / base; base > 0 && r > ratio {
			name, ratio = workload, r
		}
	}
	return name, ratio
}

func (t *tables) cell(workload, collector, figure string, factor float64) string {
	value, ok := t.medians[[3]string{workload, collector, figure}]
	if !ok {
		return ""
	}
	base := t.medians[[3]string{workload, baseline, figure}]
	if base == 0 || figure == "collections" {
		return fmt.Sprintf("%.4g", value*factor)
	}
	return fmt.Sprintf("%.4g (%.2f)", value*factor, value/base)
}

// means are the geometric means of the ratios to the baseline, over the workloads that a collector can run.
func (t *tables) means(figure string) table.Row {
	row := table.Row{"geometric mean of the ratios"}
	for _, c := range t.collectors {
		sum, count := 0.0, 0
		for _, workload := range t.workloads {
			value, base := t.medians[[3]string{workload, c, figure}], t.medians[[3]string{workload, baseline, figure}]
			if value > 0 && base > 0 {
				sum += math.Log(value / base)
				count++
			}
		}
		if count == 0 {
			row = append(row, "")
			continue
		}
		row = append(row, fmt.Sprintf("%.2f", math.Exp(sum/float64(count))))
	}
	return row
}
