package bench

// The two CSV files: medians for other tools, and every run for whoever doubts the medians.

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteCSV writes the medians. A cell that failed has nan in both figures.
func WriteCSV(writer io.Writer, results *Results) error {
	table := csv.NewWriter(writer)
	rows := [][]string{{"workload", "allocator", "threads", "median_seconds", "peak_rss_kib"}}
	for _, item := range results.Items {
		for _, allocator := range results.Allocators {
			cell := results.Cell(item.Name, allocator.Name)
			rows = append(rows, []string{
				cell.Item, cell.Allocator, strconv.Itoa(cell.Threads),
				number(cell.Seconds, 6), number(cell.PeakKiB, 0),
			})
		}
	}
	return table.WriteAll(rows)
}

// WriteRaw writes every run.
func WriteRaw(writer io.Writer, runs []Run) error {
	table := csv.NewWriter(writer)
	rows := [][]string{{
		"round", "workload", "allocator", "threads", "seconds", "process_wall_seconds",
		"user_seconds", "system_seconds", "peak_rss_kib", "minor_faults", "checksum",
		"rss_moments", "failure",
	}}
	for _, run := range runs {
		outcome := &run.Outcome
		var moments []string
		for _, moment := range run.Moments {
			moments = append(moments, fmt.Sprintf("%s=%d", moment.Name, moment.KiB))
		}
		rows = append(rows, []string{
			strconv.Itoa(run.Round), run.Item, run.Allocator, strconv.Itoa(run.Threads),
			number(run.Seconds, 6), number(outcome.WallSeconds, 6),
			number(outcome.UserSeconds, 6), number(outcome.SystemSeconds, 6),
			strconv.FormatInt(outcome.PeakRSSKiB, 10), strconv.FormatInt(outcome.MinorFaults, 10),
			run.Checksum, strings.Join(moments, ";"), run.Failure,
		})
	}
	return table.WriteAll(rows)
}

func number(value float64, decimals int) string {
	if math.IsNaN(value) {
		return "nan"
	}
	return strconv.FormatFloat(value, 'f', decimals, 64)
}
