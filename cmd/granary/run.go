package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"granary/internal/inherit"
	"granary/internal/preload"
)

const runHelp = `Runs PROGRAM with Granary as its malloc, and all programs that it starts as well.

The command sets LD_PRELOAD and the variables for the flags, and then becomes the program: pid,
terminal, signals, job control and exit status are the program's own. Everything behind -- or behind
the first word that is not a flag belongs to the program.

Exit status, if it does not come to the program: 127 not found, 126 it cannot be executed, 125 it
cannot run on Granary, or Granary itself failed.`

// optionValue is an option as a flag.
type optionValue struct {
	option preload.Option
	value  string // of the option's variable
	given  bool
}

func (v *optionValue) String() string {
	if v.value == "" {
		return v.option.Run
	}
	return v.value
}

func (v *optionValue) Type() string {
	if v.option.Kind == preload.Switch {
		return "bool"
	}
	return v.option.Values()
}

func (v *optionValue) Set(text string) error {
	v.given = true
	if v.option.Kind == preload.Switch {
		switch text {
		case "true":
			v.value = v.option.On
		case "false":
			v.value = ""
		default:
			return errors.New("takes no value")
		}
		return nil
	}
	value, err := v.option.Value(text)
	v.value = value
	return err
}

// runOptions are the flags of one run, by name.
type runOptions map[string]*optionValue

func newRunCommand() *cobra.Command {
	options := runOptions{}
	command := &cobra.Command{
		Use:                   "run [flags] -- PROGRAM [ARGUMENTS]",
		Short:                 "Run a program on Granary",
		Long:                  runHelp,
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, arguments []string) error {
			return run(options, arguments)
		},
	}
	flags := command.Flags()
	flags.SetInterspersed(false)
	flags.SortFlags = false
	for _, option := range preload.Options {
		if option.Flag == "" {
			continue
		}
		value := &optionValue{option: option}
		options[option.Flag] = value
		flag := flags.VarPF(value, option.Flag, "", option.Help)
		if option.Kind == preload.Switch {
			flag.NoOptDefVal = "true"
			flag.DefValue = "false"
		}
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return runError(preload.StatusFailed, "%w\nSee: granary run --help", err)
	})
	return command
}

// collectorsNew is the library with which C++ programs have operator new make objects of libgc's.
const collectorsNew = "libgccpp.so.1"

func runError(status int, format string, arguments ...any) error {
	return &exitError{status, fmt.Errorf(format, arguments...)}
}

// run becomes the program. It returns only if that fails.
func run(options runOptions, arguments []string) error {
	if len(arguments) == 0 {
		return runError(preload.StatusFailed,
			"no program to run\nSay: granary run [flags] -- PROGRAM [ARGUMENTS]")
	}
	settings, err := options.settings(os.LookupEnv)
	if err != nil {
		return runError(preload.StatusFailed, "%w", err)
	}
	path, pathSet := os.LookupEnv("PATH")
	program, err := preload.FindProgram(arguments[0], path, pathSet)
	if err != nil {
		return problemError(err)
	}
	library, err := findLibrary(options["lib"].value)
	if err != nil {
		return runError(preload.StatusFailed, "%w", err)
	}
	checker := preload.Checker{Library: library, Path: path, PathSet: pathSet}
	verdict := checker.Check(program)
	for _, warning := range verdict.Warnings {
		fmt.Fprintf(os.Stderr, "granary: warning: %s\n", warning)
	}
	if options["gc"].value != "" {
		dir, err := preload.CollectorDir(library.Path)
		if err != nil {
			return runError(preload.StatusFailed, "%w", err)
		}
		settings = append(settings, preload.SearchFirst(os.Environ(), dir))
	}
	environment := preload.Environment(os.Environ(), library.Path, settings)
	if options["gc"].value != "" && preload.Needs(program, collectorsNew) {
		fmt.Fprintf(os.Stderr, "granary: warning: %s has C++'s new from %s, for the collector to look into; so its malloc "+
			"stays the system's\n", program, collectorsNew)
		environment = preload.Without(environment, library.Path)
	}
	if refusal := verdict.Refusal; refusal != nil {
		if options["force"].value == "" || refusal.Status != preload.StatusFailed {
			return refused(refusal)
		}
		environment = forced(refusal, environment)
	}
	inherit.Restore()
	err = syscall.Exec(program, arguments, environment)
	return execError(program, verdict, err)
}

func findLibrary(flag string) (*preload.Library, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	path, err := preload.FindLibrary(flag, os.Getenv("GRANARY_LIB"), executable)
	if err != nil {
		return nil, err
	}
	return preload.OpenLibrary(path)
}

// settings are the variables that the flags set. What the user has set in the environment stays,
// unless there is a flag for it too.
func (options runOptions) settings(lookup func(string) (string, bool)) ([]preload.Setting, error) {
	var settings []preload.Setting
	for _, option := range preload.Options {
		value, isFlag := options[option.Flag]
		if !isFlag || option.Env == "" {
			continue
		}
		_, inherited := lookup(option.Env)
		setting := preload.Setting{Name: option.Env, Value: value.value}
		switch {
		case value.given && option.Kind == preload.Path:
			absolute, err := filepath.Abs(value.value)
			if err != nil {
				return nil, err
			}
			setting.Value = absolute
		case value.given:
			setting.Unset = value.value == ""
		case option.Run != "" && !inherited:
			setting.Value = option.Run
		default:
			continue
		}
		settings = append(settings, setting)
	}
	return settings, options.checkReport()
}

// checkReport finds out before the program runs that its report would not be written after it has.
func (options runOptions) checkReport() error {
	file := options["report-file"]
	if !file.given {
		return nil
	}
	if options["report"].value == "none" {
		return errors.New("--report-file has no use with --report=none; leave one of them out")
	}
	dir := filepath.Dir(file.value)
	if info, err := os.Stat(dir); !strings.Contains(dir, "%") && (err != nil || !info.IsDir()) {
		return fmt.Errorf("--report-file=%s: %s is not a directory; make it first", file.value, dir)
	}
	if info, err := os.Stat(file.value); err == nil && info.IsDir() {
		return fmt.Errorf("--report-file=%s is a directory; name a file", file.value)
	}
	return nil
}

// problemError makes a problem the error of the command.
func problemError(err error) error {
	var problem *preload.Problem
	if errors.As(err, &problem) {
		return &exitError{problem.Status, problem}
	}
	return &exitError{preload.StatusFailed, err}
}

func refused(refusal *preload.Problem) error {
	if refusal.Status != preload.StatusFailed {
		return problemError(refusal)
	}
	return runError(refusal.Status, "%w\nTo run it without Granary all the same, add --force", refusal)
}

// forced says that the program runs without Granary and returns its environment for that.
func forced(refusal *preload.Problem, environment []string) []string {
	if refusal.Children {
		fmt.Fprintf(os.Stderr, "granary: warning: %s\ngranary: warning: running it all the same; "+
			"only programs that it starts can use Granary\n", refusal.Text)
		return environment
	}
	fmt.Fprintf(os.Stderr, "granary: warning: %s\ngranary: warning: running it all the same, "+
		"without Granary\n", refusal.Text)
	return os.Environ()
}

// execError says why the system did not execute the program.
func execError(program string, verdict *preload.Verdict, err error) error {
	switch {
	case errors.Is(err, syscall.ENOEXEC) && verdict.Format != nil:
		return problemError(verdict.Format)
	case verdict.Format != nil:
		return runError(preload.StatusCannotExecute, "%s: %v (%w)", program, err, verdict.Format)
	case errors.Is(err, syscall.E2BIG):
		return runError(preload.StatusCannotExecute,
			"%s: the arguments and the environment together are too long for the system", program)
	}
	return runError(preload.StatusCannotExecute, "%s cannot be executed: %w", program, err)
}
