package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"granary/report"
)

const compareHelp = `Sets the memory reports of two or more runs of one program side by side.

A count that is the same in a short and in a long run was made while loading; a count that grows
with the run is made in every frame and is worth a larger block. With --baseline BEFORE the question is
whether a change of the settings helped. Of a file with several reports the last one is taken.`

func newCompareCommand() *cobra.Command {
	var format, baseline string
	command := &cobra.Command{
		Use:   "compare [flags] SHORT LONG [MORE...]",
		Short: "Tell loading from play: compare the memory reports of several runs",
		Long:  compareHelp,
		Example: "  granary compare short.log long.log\n" +
			"  granary compare --baseline before.log after.log",
		RunE: func(command *cobra.Command, files []string) error {
			switch format {
			case "text", "json", "markdown":
			default:
				return usageError(command, fmt.Errorf("unknown format %q: use text, json or markdown",
					format))
			}
			if baseline != "" {
				files = append([]string{baseline}, files...)
			}
			if len(files) < 2 {
				return usageError(command, errors.New("give two logs at least: a short and a long run"))
			}
			return runCompare(command, files, baseline != "", format)
		},
	}
	command.Flags().StringVar(&format, "format", "text", "text, json or markdown")
	command.Flags().StringVar(&baseline, "baseline", "",
		"the log `BEFORE` a change of settings; the other files are after it")
	return command
}

func runCompare(command *cobra.Command, files []string, baseline bool, format string) error {
	var logs []report.NamedLog
	for _, file := range files {
		log, err := readLog(command.InOrStdin(), file, report.Options{})
		if log == nil {
			return fmt.Errorf("compare: %w", err)
		}
		if err != nil {
			fmt.Fprintf(command.ErrOrStderr(), "granary: compare: %s: %v\n", file, err)
		}
		logs = append(logs, report.NamedLog{Name: file, Log: log})
	}
	comparison, err := report.Compare(logs, baseline)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	out := command.OutOrStdout()
	width, color := 0, false
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		width, _, _ = term.GetSize(int(file.Fd()))
		color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return report.WriteComparison(out, comparison, format, width, color)
}
