package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"granary/internal/preload"
)

// The tests of this file run programs on the library that was built.

// built returns the library of the build.
func built(t *testing.T) string {
	t.Helper()
	build := os.Getenv("GRANARY_BUILD")
	if build == "" {
		build = filepath.Join("..", "..", "build")
	}
	library, err := filepath.Abs(filepath.Join(build, "lib", preload.LibraryName))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(library); err != nil {
		t.Fatalf("%v: make lib builds the library; it needs the Debian package gccgo", err)
	}
	return library
}

// processReport is the part of a JSON report that these tests look at.
type processReport struct {
	Name      string
	PID       int
	ParentPID int `json:"parent_pid"`
	Command   []string
	PeakRSS   int64 `json:"peak_rss_bytes"`
	Sum       struct{ Mallocs, Blocks int64 }
	Classes   []struct {
		BlockBytes int `json:"block_bytes"`
		Mallocs    int64
	}
}

func readReports(t *testing.T, text string) []processReport {
	t.Helper()
	var reports []processReport
	for line := range strings.Lines(text) {
		var report processReport
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		reports = append(reports, report)
	}
	return reports
}

func TestReportOfAProgramSaysWhatItAllocated(t *testing.T) {
	library := built(t)
	const program = `import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
blocks = [libc.malloc(1000) for _ in range(5000)]
print(len(blocks))`
	result := invocation{}.run(t, command, "run", "--lib="+library, "--report=json", "--",
		"/usr/bin/python3", "-c", program)
	if result.stdout != "5000\n" || result.state.ExitCode() != 0 {
		t.Fatalf("%v, stdout %q", result.state, result.stdout)
	}
	reports := readReports(t, result.stderr)
	if len(reports) != 1 || reports[0].Name != "python3" || reports[0].PID != result.pid ||
		reports[0].ParentPID != os.Getpid() || reports[0].PeakRSS < 5000*1000 {
		t.Fatalf("%+v", reports)
	}
	if reports[0].Sum.Mallocs < 5000 || reports[0].Sum.Blocks < 5000 {
		t.Errorf("the sum is %+v, but 5000 blocks were not freed", reports[0].Sum)
	}
	for _, class := range reports[0].Classes {
		if class.BlockBytes == 1024 && class.Mallocs < 5000 {
			t.Errorf("class 1024 has %d mallocs, want those 5000", class.Mallocs)
		}
	}
}

func TestEachProcessReportsIntoTheFile(t *testing.T) {
	library := built(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "reports")
	invocation{dir: dir}.run(t, command, "run", "--lib="+library, "--report=json",
		"--report-file=reports", "--", "sh", "-c", "cd /; ls >/dev/null; sort /dev/null; exit 4").want(t, 4, "")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, report := range readReports(t, string(text)) {
		names = append(names, report.Name)
	}
	for _, name := range []string{"sh", "ls", "sort"} {
		if !slices.Contains(names, name) {
			t.Errorf("%q report, not %s", names, name)
		}
	}
}

// All programs of coreutils close stderr before the library's turn comes.
func TestProgramsThatCloseStderrReportToIt(t *testing.T) {
	library := built(t)
	for _, program := range []string{"ls", "cat", "sort", "wc"} {
		result := invocation{}.run(t, command, "run", "--lib="+library, "--", program, "/dev/null")
		result.want(t, 0, "granary: usage report of "+program+", pid ")
		lines := strings.Split(strings.TrimSuffix(result.stderr, "\n"), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, "sum ") {
			t.Errorf("%s: the last line is %q, want the sum", program, last)
		}
	}
}

func TestVersionAsksTheLibrary(t *testing.T) {
	library := built(t)
	result := invocation{}.run(t, command, "version", "--lib="+library)
	result.want(t, 0, "")
	if _, rest, found := strings.Cut(result.stdout, "\nlibrary "); !found ||
		!strings.HasSuffix(rest, " "+library+"\n") || !strings.HasPrefix(rest, "0.") {
		t.Errorf("stdout %q", result.stdout)
	}
}

func TestDemonstrationPrintsTheSameOnGranary(t *testing.T) {
	library := built(t)
	script, err := filepath.Abs(filepath.Join("..", "..", "examples", "python", "words.py"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.Repeat("The granary holds the grain. A silent, listen: enlist! Return None. ", 900)
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	plain := invocation{}.run(t, "/usr/bin/python3", script, dir)
	plain.want(t, 0, " s\n")
	for _, want := range []string{"1 documents, ", "    1,800  the\n", "     900  return none\n",
		"enlist, listen, silent\n"} {
		if !strings.Contains(plain.stdout, want) {
			t.Errorf("words.py does not print %q:\n%s", want, plain.stdout)
		}
	}
	onGranary := invocation{}.run(t, command, "run", "--lib="+library, "--", "/usr/bin/python3",
		script, dir)
	onGranary.want(t, 0, "granary: usage report of python3, pid ")
	if onGranary.stdout != plain.stdout {
		t.Errorf("on Granary:\n%s\nwithout:\n%s", onGranary.stdout, plain.stdout)
	}
	invocation{}.run(t, "/usr/bin/python3", script, dir+"/none").want(t, 1,
		"words.py: "+dir+"/none: No such file or directory\n")
}

// The collector stands in for libgc in the program and what it starts, beside the malloc or without it.
func TestProgramsOfLibgcRunOnTheCollector(t *testing.T) {
	library := built(t)
	run := func(flags ...string) result {
		arguments := append([]string{"run", "--lib=" + library, "--report=none", "--verbose"}, flags...)
		return invocation{}.run(t, append(append([]string{command}, arguments...), "--", "/bin/sh", "-c", "w3m -version")...)
	}
	const line = "granary: libgc-"
	without, with := run(), run("--gc")
	if without.state.ExitCode() != 0 || strings.Contains(without.stderr, line) {
		t.Errorf("without --gc: %v, stderr %q", without.state, without.stderr)
	}
	if with.state.ExitCode() != 0 || !strings.Contains(with.stderr, line) || with.stdout != without.stdout {
		t.Errorf("with --gc: %v, stdout %q, stderr %q", with.state, with.stdout, with.stderr)
	}
}
