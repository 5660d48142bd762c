package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// sampleLog is the report of package report's tests.
const sampleLog = "../../report/testdata/sample.txt"

// runReport runs a command of its own and returns its output and exit status.
func runReport(t *testing.T, command *cobra.Command, stdin string, arguments ...string) (out,
	complaint string, status int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.SetArgs(arguments)
	command.SetIn(strings.NewReader(stdin))
	command.SetOut(&stdout)
	command.SetErr(&stderr)
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetFlagErrorFunc(usageError)
	err := command.Execute()
	var exit *exitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		status = exit.status
		if exit.err != nil {
			stderr.WriteString(exit.err.Error())
		}
	default:
		status = statusFailed
		stderr.WriteString(err.Error())
	}
	return stdout.String(), stderr.String(), status
}

func TestReportAnswersInTheFormThatWasAskedFor(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		first     string
		says      string
	}{
		{nil, sampleLog + ": Unity memory report", "Three things are worth changing"},
		{[]string{"--all"}, sampleLog, "24.1 a frame"},
		{[]string{"--paste"}, "Unity memory report, release player", "Try memorysetup-"},
		{[]string{"--boot-config"}, "memorysetup-bucket", "memorysetup-temp-allocator-size-main=65536\n"},
		{[]string{"--settings"}, "  m_PlatformMemorySettings:\n    1:\n",
			"m_JobTempAllocatorBlockSize: 4194304"},
		{[]string{"--settings=ios"}, "  m_PlatformMemorySettings:\n    4:\n",
			"m_CacheBlockSize: 16777216"},
		{[]string{"--format", "markdown"}, "# Memory report", "### 1. "},
		{[]string{"--format", "html"}, "<!DOCTYPE html>", "Chart.js"},
		{[]string{"--budget", "512MB"}, sampleLog, "more than the budget of 512 MB"},
		{[]string{"--color", "always"}, "\x1b[1m", "\x1b[0m"},
	} {
		out, complaint, status := runReport(t, newReportCommand(), "", append(test.arguments,
			sampleLog)...)
		if status != 0 || complaint != "" {
			t.Errorf("%v: status %d, %s", test.arguments, status, complaint)
		}
		if !strings.HasPrefix(out, test.first) || !strings.Contains(out, test.says) {
			t.Errorf("%v: want %q first, and %q in\n%.600s", test.arguments, test.first, test.says, out)
		}
	}
	out, _, _ := runReport(t, newReportCommand(), "", "--format", "json", sampleLog)
	var object map[string]any
	if err := json.Unmarshal([]byte(out), &object); err != nil ||
		object["schema"] != "granary.report/1" {
		t.Errorf("json: %v", err)
	}
}

func TestReportReadsStandardInputAndWritesToAFile(t *testing.T) {
	raw, err := os.ReadFile(sampleLog)
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "report.html")
	out, complaint, status := runReport(t, newReportCommand(), string(raw), "--format", "html", "-o",
		page, "-")
	if status != 0 || out != "" || complaint != "" {
		t.Fatalf("status %d, %q, %q", status, out, complaint)
	}
	written, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(written), "standard input") {
		t.Errorf("%v, %.80q", err, written)
	}
}

func TestReportSaysWhatIsWrongWithAFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.log")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		file, says string
		status     int
	}{
		{"no-such.log", "no-such.log: no such file", 1},
		{t.TempDir(), "is a folder: give the log file in it", 1},
		{empty, "The file is empty", 0},
	} {
		out, complaint, status := runReport(t, newReportCommand(), "", test.file)
		if status != test.status || !strings.Contains(out+complaint, test.says) {
			t.Errorf("%s: status %d, %q %q", test.file, status, out, complaint)
		}
	}
	// One bad file does not keep the others from being read.
	out, complaint, status := runReport(t, newReportCommand(), "", "no-such.log", sampleLog)
	if status != 1 || !strings.Contains(complaint, "no-such.log") || !strings.Contains(out,
		"worth changing") {
		t.Errorf("status %d, %q, %.80q", status, complaint, out)
	}
}

func TestFailOnSetsTheExitStatus(t *testing.T) {
	quiet := "    [ALLOC_TEMP_MAIN]\n      Initial Block Size 64.0 KB\n      Current Block Size " +
		"64.0 KB\n      Peak Allocated Bytes 50.0 KB\n      Overflow Count 0\n"
	for _, test := range []struct {
		level, file string
		status      int
	}{
		{"warning", sampleLog, 3}, {"advice", sampleLog, 3}, {"error", sampleLog, 0}, {"warning", "-", 0},
		{"info", "-", 3},
	} {
		_, complaint, status := runReport(t, newReportCommand(), quiet, "--fail-on", test.level,
			test.file)
		if status != test.status || (status == 3) != strings.Contains(complaint, "--fail-on") {
			t.Errorf("--fail-on %s %s: status %d, %q", test.level, test.file, status, complaint)
		}
	}
}

func TestAWrongReportCommandLineSaysWhatIsRight(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		says      string
	}{
		{nil, "which log?"},
		{[]string{"--format", "pdf", sampleLog}, "use text, json, markdown or html"},
		{[]string{"--budget", "lots", sampleLog}, "write 1GB"},
		{[]string{"--budget", "0", sampleLog}, "not a size"},
		{[]string{"--fail-on", "never", sampleLog}, "use info, advice, warning or error"},
		{[]string{"--settings=toaster", sampleLog}, "standalone, ios, android"},
		{[]string{"--color", "pink", sampleLog}, "auto, always or never"},
		{[]string{"--paste", "--format", "json", sampleLog}, "choose one of"},
		{[]string{"--nonsense", sampleLog}, "unknown flag"},
	} {
		_, complaint, status := runReport(t, newReportCommand(), "", test.arguments...)
		if status != statusUsage || !strings.Contains(complaint, test.says) {
			t.Errorf("%v: status %d, %q; want %q", test.arguments, status, complaint, test.says)
		}
	}
}

func TestCompareTellsLoadingFromPlay(t *testing.T) {
	raw, err := os.ReadFile(sampleLog)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.NewReplacer("10000 frames", "30000 frames", "9000 frames", "29000 frames",
		"9990 frames", "29990 frames", "(full) 240500", "(full) 740500").Replace(string(raw))
	file := filepath.Join(t.TempDir(), "long.log")
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	out, complaint, status := runReport(t, newCompareCommand(), "", sampleLog, file)
	words := strings.Join(strings.Fields(out), " ")
	if status != 0 || !strings.Contains(words, "Grows by 25 a frame; try "+
		"memorysetup-job-temp-allocator-block-size=4194304") ||
		!strings.Contains(out, "[steady] scratch memory of the loading thread") {
		t.Errorf("status %d, %s\n%s", status, complaint, out)
	}
	out, _, status = runReport(t, newCompareCommand(), "", "--baseline", sampleLog, "--format",
		"json", file)
	var object struct{ Baseline bool }
	if err := json.Unmarshal([]byte(out), &object); status != 0 || err != nil || !object.Baseline {
		t.Errorf("status %d, %v", status, err)
	}
	for _, arguments := range [][]string{{sampleLog}, {}, {"--format", "html", sampleLog, file}} {
		if _, complaint, status := runReport(t, newCompareCommand(), "",
			arguments...); status != statusUsage {
			t.Errorf("%v: status %d, %q", arguments, status, complaint)
		}
	}
	if _, complaint, status := runReport(t, newCompareCommand(), "hello\n", sampleLog,
		"-"); status != 1 ||
		!strings.Contains(complaint, "no memory report") {
		t.Errorf("a file without a report: status %d, %q", status, complaint)
	}
}
