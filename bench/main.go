package bench

// The command `granary bench`, without its flags' syntax.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// DefaultRuns is how often each item runs on each allocator.
const DefaultRuns = 5

// Options is what the command line asks for.
type Options struct {
	CSV         string   // file for the medians; empty for none
	Raw         string   // file for all runs; empty for the usual place if complete
	Report      string   // file for the report; likewise
	Runs        int      // rounds
	Only        string   // expression that item names must match
	Allocators  []string // names; empty for all
	Library     string   // libgranary.so to measure; empty for the one that make built
	Scale       int      // work in percent
	Threads     int      // for workloads with several; 0 for what they choose
	Environment []string // NAME=VALUE for what is measured
}

// Complete tells whether results are fit to be kept: everything ran, as often and as much as it
// should.
func (options Options) Complete() bool {
	return options.Only == "" && len(options.Allocators) == 0 && options.Runs >= DefaultRuns &&
		options.Scale == 100 && options.Threads == 0 && len(options.Environment) == 0
}

// ErrFailures is returned when a run crashed, hung or got another checksum; the cells are listed on
// the output.
var ErrFailures = errors.New("some runs failed; they are listed above")

// Main runs the benchmark, prints its tables to output and its progress to progress.
func Main(ctx context.Context, layout Layout, options Options, output, progress io.Writer) error {
	plan, err := options.plan(layout)
	if err != nil {
		return err
	}
	started := time.Now()
	runs, err := Execute(ctx, layout, plan, progress)
	if errors.Is(err, context.Canceled) {
		return errors.New("the benchmark was interrupted; nothing was written")
	}
	if err != nil {
		return err
	}
	results := NewResults(plan, runs)
	printResults(output, results, time.Since(started))
	if err := options.write(layout, results, runs, started, output); err != nil {
		return err
	}
	if len(results.Failures()) > 0 {
		return ErrFailures
	}
	return nil
}

func (options Options) plan(layout Layout) (Plan, error) {
	if options.Runs < 1 || options.Scale < 1 || options.Threads < 0 {
		return Plan{}, errors.New("--runs and --scale must be at least 1, --threads at least 0")
	}
	items, err := Items(layout)
	if err != nil {
		return Plan{}, err
	}
	if items, err = Select(items, options.Only); err != nil {
		return Plan{}, err
	}
	names := options.Allocators
	if len(names) == 0 {
		names = AllocatorNames()
	}
	library := options.Library
	if library == "" {
		library = layout.GranaryLibrary()
	}
	allocators, err := FindAllocators(names, SystemPlaces(library))
	if err := errors.Join(err, CheckPrograms(items)); err != nil {
		return Plan{}, err
	}
	return Plan{
		Items: items, Allocators: allocators, Rounds: options.Runs, Scale: options.Scale,
		Threads: options.Threads, Environment: options.Environment,
	}, nil
}

func printResults(output io.Writer, results *Results, took time.Duration) {
	tables := []table.Writer{
		results.TimeTable(), results.PeakTable(), results.MomentTable(), results.MeanTable(),
	}
	for _, table := range tables {
		if table != nil {
			fmt.Fprintln(output, table.Render())
		}
	}
	for _, goal := range results.Goals() {
		verdict := "missed"
		if goal.Met {
			verdict = "met"
		}
		fmt.Fprintf(output, "goal %s: %s\n", verdict, goal.Text)
	}
	if failures := results.Failures(); len(failures) > 0 {
		fmt.Fprint(output, "failures:\n", failureList(failures))
	}
	if busy := results.Busy(); busy != "" {
		fmt.Fprintln(output, "warning:", busy)
	}
	fmt.Fprintf(output, "took %s\n", took.Round(time.Second))
}

// write keeps what was asked for; raw results and the report also when the benchmark was complete.
func (options Options) write(
	layout Layout, results *Results, runs []Run, started time.Time, output io.Writer,
) error {
	if options.Complete() {
		if options.Raw == "" {
			options.Raw = layout.Raw(Day(started))
		}
		if options.Report == "" {
			options.Report = layout.Report()
		}
	} else if options.Report == "" && options.Raw == "" {
		fmt.Fprintln(output, "a part of the benchmark: "+
			"the report and the results of the repository stay as they are")
	}
	occasion := Occasion{
		Date: Day(started), Machine: MachineLine(), Command: options.command(),
		RawFile: relativeTo(filepath.Dir(layout.Source), options.Raw),
	}
	return errors.Join(
		writeFile(options.CSV, output, func(file io.Writer) error {
			return WriteCSV(file, results)
		}),
		writeFile(options.Raw, output, func(file io.Writer) error {
			return WriteRaw(file, runs)
		}),
		writeFile(options.Report, output, func(file io.Writer) error {
			return WriteReport(file, results, occasion)
		}),
	)
}

// command is the call that repeats this benchmark.
func (options Options) command() string {
	if options.Complete() {
		return "make bench"
	}
	words := []string{"granary bench", fmt.Sprintf("--runs %d", options.Runs)}
	if options.Only != "" {
		words = append(words, fmt.Sprintf("--only '%s'", options.Only))
	}
	if len(options.Allocators) > 0 {
		words = append(words, "--allocators "+strings.Join(options.Allocators, ","))
	}
	if options.Scale != 100 {
		words = append(words, fmt.Sprintf("--scale %d", options.Scale))
	}
	if options.Threads != 0 {
		words = append(words, fmt.Sprintf("--threads %d", options.Threads))
	}
	for _, variable := range options.Environment {
		words = append(words, "--env "+variable)
	}
	return strings.Join(words, " ")
}

func relativeTo(folder, path string) string {
	relative, err := filepath.Rel(folder, path)
	if path == "" || err != nil || strings.HasPrefix(relative, "..") {
		return path
	}
	return relative
}

func writeFile(path string, output io.Writer, write func(io.Writer) error) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintln(output, "wrote", path)
	return nil
}

// List prints the names of everything that can be run.
func List(layout Layout, output io.Writer) error {
	items, err := Items(layout)
	if err != nil {
		return err
	}
	for _, item := range items {
		fmt.Fprintf(output, "%-20s %s\n", item.Name, item.Summary)
	}
	return nil
}
