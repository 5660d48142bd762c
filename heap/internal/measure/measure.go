//go:build unix

// Package measure compares peers in one run: cases take turns, round after round, so that the machine's moods hit all
// of them, and the table has medians. Figures are processor time, user and system, of the whole process with its
// garbage collector; wall time is kept beside it.
package measure

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Sample is what one run of a case took.
type Sample struct {
	Steps     int
	CPU, Wall time.Duration
}

// Case is a workload on a peer.
type Case struct {
	Workload, Peer string
	Run            func() (Sample, error)
}

// Row is the sample of one round, in nanoseconds a step.
type Row struct {
	Workload, Peer string
	Round          int
	CPU, Wall      float64
}

// Timed runs f, which makes so many steps, after a collection.
func Timed(steps int, f func() error) (Sample, error) {
	runtime.GC()
	start, before := time.Now(), CPU()
	err := f()
	return Sample{steps, CPU() - before, time.Since(start)}, err
}

// CPU is the processor time of the process so far.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // cannot fail for one's own process
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Take runs all cases in turn, for so many rounds, and one round before that does not count.
func Take(rounds int, cases []Case) ([]Row, error) {
	var rows []Row
	for round := range rounds + 1 {
		for _, c := range cases {
			s, err := c.Run()
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", c.Workload, c.Peer, err)
			}
			if round != 0 {
				steps := float64(s.Steps)
				rows = append(rows, Row{c.Workload, c.Peer, round, float64(s.CPU) / steps, float64(s.Wall) / steps})
			}
		}
	}
	return rows, nil
}

// Compare takes all cases, prints the medians of their processor time to w, in nanoseconds a unit, and keeps all rows
// in the file csv if that is not empty.
func Compare(w io.Writer, unit string, rounds int, cases []Case, csv string) ([]Row, error) {
	rows, err := Take(rounds, cases)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "CPU nanoseconds a %s, medians of %d rounds\n\n", unit, rounds)
	WriteTable(w, rows, CPUColumn)
	if csv == "" {
		return rows, nil
	}
	return rows, SaveCSV(csv, rows)
}

// Median is the median of the column of a workload and a peer, 0 if there is none.
func Median(rows []Row, workload, peer string, column func(Row) float64) float64 {
	var values []float64
	for _, r := range rows {
		if r.Workload == workload && r.Peer == peer {
			values = append(values, column(r))
		}
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// CPUColumn and WallColumn are for Median and WriteTable.
func CPUColumn(r Row) float64 { return r.CPU }

// WallColumn: see CPUColumn.
func WallColumn(r Row) float64 { return r.Wall }

// WriteTable writes the medians, a line for each workload and a column for each peer.
func WriteTable(w io.Writer, rows []Row, column func(Row) float64) {
	workloads := distinct(rows, func(r Row) string { return r.Workload })
	peers := distinct(rows, func(r Row) string { return r.Peer })
	fmt.Fprint(w, "| |")
	for _, peer := range peers {
		fmt.Fprintf(w, " %s |", peer)
	}
	fmt.Fprint(w, "\n|---|")
	for range peers {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
	for _, workload := range workloads {
		fmt.Fprintf(w, "| %s |", workload)
		for _, peer := range peers {
			fmt.Fprintf(w, " %s |", threeDigits(Median(rows, workload, peer, column)))
		}
		fmt.Fprintln(w)
	}
}

func threeDigits(v float64) string {
	switch {
	case v == 0:
		return "-"
	case v < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// distinct are the values of a column in the order of their first rows.
func distinct(rows []Row, column func(Row) string) []string {
	var values []string
	for _, r := range rows {
		if v := column(r); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// SaveCSV writes all rows to a file.
func SaveCSV(path string, rows []Row) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	records := [][]string{{"workload", "peer", "round", "cpu_ns", "wall_ns"}}
	for _, r := range rows {
		records = append(records, []string{
			r.Workload, r.Peer, strconv.Itoa(r.Round),
			strconv.FormatFloat(r.CPU, 'f', 2, 64), strconv.FormatFloat(r.Wall, 'f', 2, 64),
		})
	}
	if err := w.WriteAll(records); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
