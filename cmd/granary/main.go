// Command granary runs programs on Granary's heap and works with reports of memory.
//
// Each subcommand has a file of its own, with a function that makes its command. Exit status: 0, 1
// for a failure, 2 for a command line that makes no sense; `granary run` follows env(1) instead,
// see run.go.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// version is set by the build.
var version = "0.0.0-dev"

const (
	statusFailed = 1
	statusUsage  = 2
)

// exitError ends the command with a status of its own. err may be nil: all has been said.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError is a command line that makes no sense.
func usageError(command *cobra.Command, err error) error {
	return &exitError{statusUsage, fmt.Errorf("%w\nSee: %s --help", err, command.CommandPath())}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "granary",
		Short: "Run programs on Granary's heap, and work with reports of memory",
		Long: "Granary serves the memory of a whole program: faster, smaller over time, with a report " +
			"at the end\nand a debug mode that finds misuse.\n\n" +
			"  granary run -- python3 app.py\n  granary run --debug -- ./server --port 8080",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(arguments) > 0 {
				return usageError(command, fmt.Errorf("there is no command %q; to run a program: "+
					"granary run -- %s", arguments[0], arguments[0]))
			}
			return command.Help()
		},
	}
	root.SetFlagErrorFunc(usageError)
	root.AddCommand(newRunCommand(), newReportCommand(), newCompareCommand(), newBenchCommand(),
		newSizesCommand(), newVersionCommand(), newEnvironmentTopic())
	for _, command := range root.Commands() {
		if check := command.Args; check != nil {
			command.Args = func(command *cobra.Command, arguments []string) error {
				if err := check(command, arguments); err != nil {
					return usageError(command, err)
				}
				return nil
			}
		}
	}
	return root
}

// execute runs the command line and returns the exit status.
func execute(arguments []string) int {
	root := newRootCommand()
	root.SetArgs(arguments)
	err := root.Execute()
	if err == nil {
		return 0
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{statusFailed, err}
	}
	if exit.err != nil {
		fmt.Fprintf(os.Stderr, "granary: %v\n", exit.err)
	}
	return exit.status
}

func main() {
	os.Exit(execute(os.Args[1:]))
}
