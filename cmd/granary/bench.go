package main

// `granary bench`: the malloc library beside its peers. The work is done by package bench.

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"granary/bench"
)

func newBenchCommand() *cobra.Command {
	var options bench.Options
	var list bool
	command := &cobra.Command{
		Use:   "bench",
		Short: "Measure the malloc library against glibc, jemalloc, tcmalloc and mimalloc",
		Long: "Runs workloads and real programs in turn on every allocator and compares time and " +
			"peak memory.\nA complete benchmark writes bench/report.md and " +
			"bench/results/DATE-raw.csv and takes up to 25 minutes.\nThe exit status is 1 if " +
			"a run crashed, hung or computed something else than on the other\nallocators.",
		Example: "  granary bench --only 'churn|server' --runs 3\n" +
			"  granary bench --allocators glibc,mimalloc,granary --csv medians.csv",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			layout, err := findBenchLayout()
			if err != nil {
				return err
			}
			if list {
				return bench.List(layout, command.OutOrStdout())
			}
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			return bench.Main(ctx, layout, options, command.OutOrStdout(), command.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.CSV, "csv", "", "write the medians to `FILE`")
	flags.StringVar(&options.Raw, "raw", "",
		"write every run to `FILE` (complete: bench/results/DATE-raw.csv)")
	flags.StringVar(&options.Report, "report", "",
		"write the report to `FILE` (complete: bench/report.md)")
	flags.IntVar(&options.Runs, "runs", bench.DefaultRuns, "run everything so many times")
	flags.StringVar(&options.Only, "only", "", "run only what matches `REGEX`")
	flags.StringSliceVar(&options.Allocators, "allocators", nil,
		"measure only these of "+strings.Join(bench.AllocatorNames(), ","))
	flags.StringVar(&options.Library, "library", "",
		"measure this libgranary.so (default build/lib/libgranary.so)")
	flags.IntVar(&options.Scale, "scale", 100,
		"work in percent; the figures mean something at 100 only")
	flags.IntVar(&options.Threads, "threads", 0,
		"threads of workloads that have several (default what each one says, mostly 2)")
	flags.StringArrayVar(&options.Environment, "env", nil, "give `NAME=VALUE` to what is measured")
	flags.BoolVar(&list, "list", false, "print what can be run and stop")
	return command
}

// findBenchLayout looks for the checkout from the working folder and from where this program lies.
func findBenchLayout() (bench.Layout, error) {
	from := []string{"."}
	if executable, err := os.Executable(); err == nil {
		from = append(from, filepath.Dir(executable))
	}
	return bench.FindLayout(from...)
}
