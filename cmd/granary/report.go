package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"granary/report"
)

// statusFound is the exit status when --fail-on found something.
const statusFound = 3

const reportHelp = `Reads the memory report that Unity writes to Player.log or any other log, and says what
to change and why. Also read: the list of settings printed at start, out-of-memory overviews,
life-time warnings of job memory, mimalloc tables, and Granary's own reports. The log may carry any
decoration (docker, logcat, CI time stamps), be cut, gzipped, or hold several reports.

Without flags the answer fits one screen; --all shows every finding and all figures.

Exit status: 0; 1 if a file cannot be read, 2 for a wrong command line, 3 for --fail-on.`

// reportOptions are the flags of granary report.
type reportOptions struct {
	format     string
	output     string
	color      string
	budget     string
	failOn     string
	settings   string
	benign     []string
	all        bool
	paste      bool
	bootConfig bool
}

func newReportCommand() *cobra.Command {
	o := &reportOptions{}
	command := &cobra.Command{
		Use:   "report [flags] FILE...",
		Short: "Read a Unity memory report and say what to change",
		Long:  reportHelp,
		Example: "  granary report Player.log\n  granary report --all --budget 2GB Player.log\n" +
			"  granary report --format html -o report.html Player.log\n  docker logs server 2>&1 | " +
			"granary report -",
		RunE: func(command *cobra.Command, files []string) error {
			if len(files) == 0 {
				return usageError(command, errors.New("which log? give a file, or - for standard input"))
			}
			if err := o.check(); err != nil {
				return usageError(command, err)
			}
			return o.run(command, files)
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.format, "format", "text", "text, json, markdown or html")
	flags.StringVarP(&o.output, "output", "o", "", "write to `FILE` instead of standard output")
	flags.StringVar(&o.color, "color", "auto", "auto, always or never")
	flags.BoolVarP(&o.all, "all", "a", false, "every finding and all figures")
	flags.BoolVar(&o.paste, "paste", false, "five lines for a bug tracker")
	flags.StringVar(&o.budget, "budget", "", "memory of the device, such as 1GB: judge against it")
	flags.StringVar(&o.failOn, "fail-on", "",
		"exit with status 3 if a finding is at least this grave: advice, warning or error")
	flags.StringArrayVar(&o.benign, "benign", nil,
		"take life-time warnings near this `TEXT` as known and harmless (may be repeated)")
	flags.BoolVar(&o.bootConfig, "boot-config", false, "write the proposed settings for boot.config")
	flags.StringVar(&o.settings, "settings", "",
		"write them for MemorySettings.asset: standalone, ios, android, webgl or editor")
	flags.Lookup("settings").NoOptDefVal = "standalone"
	return command
}

// check finds flags that make no sense before a long log is read.
func (o *reportOptions) check() error {
	switch o.format {
	case "text", "json", "markdown", "html":
	default:
		return fmt.Errorf("unknown format %q: use text, json, markdown or html", o.format)
	}
	switch o.color {
	case "auto", "always", "never":
	default:
		return fmt.Errorf("--color is %q: use auto, always or never", o.color)
	}
	forms := 0
	for _, chosen := range []bool{o.paste, o.bootConfig, o.settings != "", o.format != "text"} {
		if chosen {
			forms++
		}
	}
	if forms > 1 {
		return errors.New("choose one of --format, --paste, --boot-config and --settings")
	}
	if _, known := report.Platforms[o.settings]; o.settings != "" && !known {
		_, err := report.SettingsAsset(nil, o.settings)
		return err
	}
	if o.failOn != "" {
		if _, err := report.ParseSeverity(o.failOn); err != nil {
			return err
		}
	}
	if o.budget != "" {
		if n, err := report.ParseBytes(o.budget); err != nil || n == 0 {
			return fmt.Errorf("--budget: %q is not a size: write 1GB, 512MB or a number of bytes",
				o.budget)
		}
	}
	return nil
}

func (o *reportOptions) run(command *cobra.Command, files []string) error {
	var views []report.View
	failed := false
	for _, file := range files {
		v, err := o.read(command.InOrStdin(), file)
		if v == nil {
			failed = true
			fmt.Fprintf(command.ErrOrStderr(), "granary: report: %v\n", err)
			continue
		}
		failed = failed || v.Error != ""
		views = append(views, *v)
	}
	if len(views) > 0 {
		if err := o.write(command, views); err != nil {
			return err
		}
	}
	if failed {
		return &exitError{status: statusFailed}
	}
	return o.verdict(views)
}

// read returns the view of one file; nil when nothing of it can be shown.
func (o *reportOptions) read(stdin io.Reader, file string) (*report.View, error) {
	log, err := readLog(stdin, file, report.Options{Benign: o.benign})
	if log == nil {
		return nil, err
	}
	question := report.Question{}
	if o.budget != "" {
		question.Budget, _ = report.ParseBytes(o.budget) // checked before
	}
	v := &report.View{Name: file, Log: log, Findings: report.Analyze(log, question), All: o.all}
	if file == "-" {
		v.Name = report.StandardInput
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v, nil
}

// readLog reads a file, or standard input for "-". The log is nil when it cannot be opened.
func readLog(stdin io.Reader, file string, options report.Options) (*report.Log, error) {
	if file == "-" {
		return report.Read(stdin, options)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: give the log file in it, such as Player.log", file)
	}
	return report.Read(f, options)
}

// write renders the views in the chosen form.
func (o *reportOptions) write(command *cobra.Command, views []report.View) error {
	out := command.OutOrStdout()
	o.terminal(out, views)
	var page bytes.Buffer
	if err := o.render(&page, views); err != nil {
		return err
	}
	if o.output == "" {
		_, err := out.Write(page.Bytes())
		return err
	}
	if err := os.WriteFile(o.output, page.Bytes(), 0o666); err != nil {
		return err
	}
	return nil
}

// terminal tells the views about the screen they are shown on.
func (o *reportOptions) terminal(out io.Writer, views []report.View) {
	color := o.color == "always"
	width, height := 0, 0
	if file, ok := out.(*os.File); ok && o.output == "" && term.IsTerminal(int(file.Fd())) {
		width, height, _ = term.GetSize(int(file.Fd()))
		if o.color == "auto" && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
			color = true
		}
	}
	for i := range views {
		views[i].Width, views[i].Height, views[i].Color = width, height, color
	}
}

func (o *reportOptions) render(w io.Writer, views []report.View) error {
	switch {
	case o.bootConfig:
		_, err := io.WriteString(w, report.BootConfig(proposals(views)))
		return err
	case o.settings != "":
		fragment, err := report.SettingsAsset(proposals(views), o.settings)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, fragment)
		return err
	case o.format == "json":
		return report.WriteJSON(w, views)
	case o.format == "html":
		return report.WriteHTML(w, views)
	}
	for i, v := range views {
		if i > 0 {
			fmt.Fprintln(w)
		}
		err := error(nil)
		switch {
		case o.paste:
			err = report.WritePaste(w, v)
		case o.format == "markdown":
			err = report.WriteMarkdown(w, v)
		default:
			err = report.WriteText(w, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// proposals joins those of all files; the file named first wins.
func proposals(views []report.View) []report.Action {
	var findings []report.Finding
	for _, v := range views {
		findings = append(findings, v.Findings...)
	}
	return report.Proposals(findings)
}

// verdict is the exit status for --fail-on.
func (o *reportOptions) verdict(views []report.View) error {
	if o.failOn == "" {
		return nil
	}
	limit, err := report.ParseSeverity(o.failOn)
	if err != nil {
		return err
	}
	for _, v := range views {
		if worst, any := report.Worst(v.Findings); any && worst >= limit {
			return &exitError{status: statusFound, err: fmt.Errorf(
				"report: %s holds a finding of severity %s (--fail-on %s)", v.Name, worst,
				strings.ToLower(o.failOn))}
		}
	}
	return nil
}
