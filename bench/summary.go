package bench

// The tables that both the terminal and the report show.

import (
	"fmt"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// newTable aligns all columns but the first one to the right.
func newTable(header table.Row) table.Writer {
	writer := table.NewWriter()
	writer.SetStyle(table.StyleLight)
	writer.Style().Format.Header = text.FormatDefault
	writer.AppendHeader(header)
	configs := make([]table.ColumnConfig, 0, len(header))
	for column := 2; column <= len(header); column++ {
		configs = append(configs, table.ColumnConfig{Number: column, Align: text.AlignRight,
			AlignHeader: text.AlignRight})
	}
	writer.SetColumnConfigs(configs)
	return writer
}

func (results *Results) header(first string) table.Row {
	row := table.Row{first}
	for _, allocator := range results.Allocators {
		row = append(row, allocator.Name)
	}
	return row
}

// figureTable has a row an item, with the figure and its ratio to the baseline.
func (results *Results) figureTable(
	title string, figure Figure, format func(float64) string,
) table.Writer {
	writer := newTable(results.header(title))
	for _, item := range results.Items {
		row := table.Row{item.Name}
		for _, allocator := range results.Allocators {
			cell := results.Cell(item.Name, allocator.Name)
			if cell.Failure != "" {
				row = append(row, "FAILED")
				continue
			}
			text := format(figure(cell))
			if allocator.Name != results.Baseline {
				ratio := results.Ratio(item.Name, allocator.Name, figure)
				text += fmt.Sprintf(" (%s)", ratioText(ratio))
			}
			row = append(row, text)
		}
		writer.AppendRow(row)
	}
	return writer
}

// TimeTable and PeakTable are the two tables of medians.
func (results *Results) TimeTable() table.Writer {
	return results.figureTable("seconds", Seconds, func(value float64) string {
		return fmt.Sprintf("%.3f", value)
	})
}

// PeakTable shows peak memory in MiB.
func (results *Results) PeakTable() table.Writer {
	return results.figureTable("peak MiB", Peak, func(kib float64) string {
		return fmt.Sprintf("%.1f", kib/1024)
	})
}

// group is a set of items over which a mean is taken.
type group struct {
	name string
	keep func(item *Item) bool
}

// largeKiB is where a program is large enough for its peak memory to be the heap's rather than the
// libraries'.
const largeKiB = 16 * 1024

func (results *Results) groups() []group {
	return []group{
		{"all", func(*Item) bool { return true }},
		{"workloads", func(item *Item) bool { return !item.IsProgram() }},
		{"programs", func(item *Item) bool { return item.IsProgram() }},
	}
}

func (results *Results) isLarge(item *Item) bool {
	return results.Cell(item.Name, results.Baseline).PeakKiB >= largeKiB
}

// MeanTable has the geometric means and the worst cases, a column an allocator.
func (results *Results) MeanTable() table.Writer {
	writer := newTable(results.header("ratio to " + results.Baseline))
	add := func(title string, value func(allocator string) string) {
		row := table.Row{title}
		for _, allocator := range results.Allocators {
			row = append(row, value(allocator.Name))
		}
		writer.AppendRow(row)
	}
	for _, group := range results.groups() {
		add("time, geometric mean, "+group.name, func(allocator string) string {
			return ratioText(results.Mean(allocator, Seconds, group.keep))
		})
	}
	add("processor time, geometric mean, all", func(allocator string) string {
		return ratioText(results.Mean(allocator, CPU, results.groups()[0].keep))
	})
	for _, group := range append(results.groups(), group{"16 MiB and more", results.isLarge}) {
		add("peak memory, geometric mean, "+group.name, func(allocator string) string {
			return ratioText(results.Mean(allocator, Peak, group.keep))
		})
	}
	add("time, worst case", func(allocator string) string {
		return extremeText(results.AgainstBaseline(allocator, Seconds))
	})
	add("time, worst case against the best peer", func(allocator string) string {
		return extremeText(results.AgainstBestPeer(allocator, Seconds))
	})
	add("peak memory, worst case", func(allocator string) string {
		return extremeText(results.AgainstBaseline(allocator, Peak))
	})
	return writer
}

// MomentTable has resident memory at the moments that workloads named, in MiB; nil when there are
// none.
func (results *Results) MomentTable() table.Writer {
	writer := newTable(results.header("resident MiB"))
	rows := 0
	for _, item := range results.Items {
		names := results.momentNames(item.Name)
		for _, name := range names {
			row := table.Row{item.Name + ", " + strings.ReplaceAll(name, "_", " ")}
			for _, allocator := range results.Allocators {
				row = append(row, results.momentText(item.Name, allocator.Name, name))
			}
			writer.AppendRow(row)
			rows++
		}
	}
	if rows == 0 {
		return nil
	}
	return writer
}

func (results *Results) momentNames(item string) []string {
	for _, allocator := range results.Allocators {
		var names []string
		for _, moment := range results.Cell(item, allocator.Name).Moments {
			names = append(names, moment.Name)
		}
		if names != nil {
			return names
		}
	}
	return nil
}

func (results *Results) momentText(item, allocator, name string) string {
	for _, moment := range results.Cell(item, allocator).Moments {
		if moment.Name == name {
			return fmt.Sprintf("%.1f", float64(moment.KiB)/1024)
		}
	}
	return "-"
}

func ratioText(ratio float64) string {
	if math.IsNaN(ratio) {
		return "-"
	}
	return fmt.Sprintf("%.2f", ratio)
}

func extremeText(extremes []Extreme) string {
	if len(extremes) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f %s", extremes[0].Ratio, extremes[0].Item)
}
