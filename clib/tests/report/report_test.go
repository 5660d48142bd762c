// Package report tests the usage report of the C library: testdata/harness.c calls it step by step,
// with made-up figures, and these tests read what it wrote.
package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

var harness string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(buildAndRun(m))
}

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "granary-report")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	harness = filepath.Join(dir, "harness")
	compile := exec.Command("gcc", "-O2", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror", "-std=gnu11",
		"-fvisibility=hidden", "-I../../include", "-I../../glue", "-o", harness,
		"testdata/harness.c", "../../glue/report.c", "../../glue/report_render.c")
	if output, err := compile.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		return 1
	}
	return m.Run()
}

// result is what one run of the harness did.
type result struct {
	stdout, stderr string
	pid            int
	state          *os.ProcessState
}

// run runs the harness with the given variables and steps. It must end with exit status want.
func run(t *testing.T, want int, env []string, steps ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command := exec.Command(harness, steps...)
	command.Env = env
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if got := command.ProcessState.ExitCode(); got != want {
		t.Fatalf("steps %q: ended with %v, want exit status %d\n%s",
			steps, command.ProcessState, want, stderr.String())
	}
	return result{stdout.String(), stderr.String(), command.Process.Pid, command.ProcessState}
}

// jsonReport is the part of a JSON report that does not depend on the figures.
type jsonReport struct {
	Report    int `json:"granary_report"`
	Version   string
	Name      string
	PID       int
	ParentPID int `json:"parent_pid"`
	Command   []string
	Elapsed   float64 `json:"elapsed_seconds"`
	PeakRSS   uint64  `json:"peak_rss_bytes"`
	Classes   []map[string]any
	Sum       map[string]json.Number
}

func decode(t *testing.T, line string) jsonReport {
	t.Helper()
	var report jsonReport
	if strings.Count(line, "\n") != 1 || !strings.HasSuffix(line, "\n") {
		t.Fatalf("a JSON report must be one line: %q", line)
	}
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&report); err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return report
}

// decodeAll decodes the reports of several processes, a line each.
func decodeAll(t *testing.T, text string) []jsonReport {
	t.Helper()
	var reports []jsonReport
	for _, line := range strings.SplitAfter(text, "\n") {
		if line != "" {
			reports = append(reports, decode(t, line))
		}
	}
	return reports
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	bytes, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes)
}

var varying = regexp.MustCompile(`pid \d+|peak RSS [^,]+|\d+\.\d{3} s|command .*`)

func TestTextReportLooksAsDocumented(t *testing.T) {
	for _, figures := range []string{"zero", "typical", "huge"} {
		text := run(t, 0, nil, "setup", "stats="+figures, "write=1,text").stdout
		text = varying.ReplaceAllStringFunc(text, func(found string) string {
			switch {
			case strings.HasPrefix(found, "pid"):
				return "pid 4711"
			case strings.HasPrefix(found, "peak"):
				return "peak RSS 12.3 MiB"
			case strings.HasPrefix(found, "command"):
				return "command   harness"
			}
			return "0.123 s"
		})
		golden := filepath.Join("testdata", figures+".txt")
		if *update {
			if err := os.WriteFile(golden, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if want := readFile(t, golden); text != want {
			t.Errorf("%s figures: got\n%s\nwant\n%s", figures, text, want)
		}
	}
	example := readFile(t, filepath.Join("testdata", "typical.txt"))
	if document := readFile(t, "../../../docs/usage-report.md"); !strings.Contains(document, example) {
		t.Errorf("docs/usage-report.md does not show testdata/typical.txt as it is")
	}
}

func TestTextReportKeepsTo100Columns(t *testing.T) {
	long := strings.Repeat("é-long-argument ", 30)
	for _, figures := range []string{"zero", "typical", "huge"} {
		text := run(t, 0, nil, "name="+strings.Repeat("n", 200), "stats="+figures,
			"write=1,text", "stats="+long).stdout
		for _, line := range strings.Split(text, "\n") {
			if columns := utf8.RuneCountInString(line); columns > 100 {
				t.Errorf("%d columns: %s", columns, line)
			}
		}
		if !strings.Contains(text, "...\n") {
			t.Errorf("the long command is not marked as cut:\n%s", text)
		}
	}
}

func TestJSONReportHasEveryFigure(t *testing.T) {
	result := run(t, 0, nil, "setup", "stats=typical", "write=1,json")
	report := decode(t, result.stdout)
	if report.Report != 1 || report.Version != "9.8.7" || report.Name != "harness" ||
		report.PID != result.pid || report.ParentPID != os.Getpid() ||
		report.PeakRSS < 100<<10 || report.Elapsed < 0 || report.Elapsed > 60 {
		t.Errorf("wrong process: %+v", report)
	}
	if len(report.Classes) != 10 {
		t.Errorf("%d classes, want the 10 that are used", len(report.Classes))
	}
	first, _ := json.Marshal(report.Classes[0])
	want := `{"asked_bytes":17283938,"batches_in":12,"batches_out":10,"block_bytes":16,` +
		`"blocks":123456,"blocks_cached":64,"blocks_peak":617283,"held_bytes":80936960,` +
		`"mallocs":1234567,"spans":1235,"spans_peak":1236,"spans_taken":1242,"tier":"tiny"}`
	if string(first) != want {
		t.Errorf("first class:\n%s\nwant\n%s", first, want)
	}
	if last := report.Classes[9]; last["tier"] != "small" {
		t.Errorf("last class: %v, want one of the small tier", last)
	}
	for sum, field := range map[string]string{"blocks": "blocks", "mallocs": "mallocs",
		"asked_bytes": "asked_bytes", "held_bytes": "held_bytes", "spans": "spans",
		"batches_in": "batches_in", "batches_out": "batches_out"} {
		var total int64
		for _, class := range report.Classes {
			value, _ := class[field].(json.Number).Int64()
			total += value
		}
		if got, _ := report.Sum[sum].Int64(); got != total {
			t.Errorf("sum of %s: %d, want %d", field, got, total)
		}
	}
}

// The JSON keys are the names of the fields of granary_stats and of what it holds, and docs/usage-report.md explains
// each. Objects and linear allocators have statistics and reports of their own.
func TestJSONKeysAreThoseOfTheHeaderAndDocumented(t *testing.T) {
	text := run(t, 0, nil, "setup", "stats=typical", "write=1,json").stdout
	document := readFile(t, "../../../docs/usage-report.md")
	_, header, opens := strings.Cut(readFile(t, "../../include/granary.h"), "typedef struct granary_class_stats {")
	header, _, closes := strings.Cut(header, "} granary_stats;")
	fields := regexp.MustCompile(`uint64_t (\w+);`).FindAllStringSubmatch(header, -1)
	if !opens || !closes || len(fields) < 20 {
		t.Fatalf("granary.h: %d fields of granary_stats found", len(fields))
	}
	for _, field := range fields {
		if !strings.Contains(text, `"`+field[1]+`":`) {
			t.Errorf("granary.h has %s, the JSON report has not", field[1])
		}
	}
	for _, key := range regexp.MustCompile(`"(\w+)":`).FindAllStringSubmatch(text, -1) {
		if !strings.Contains(document, "`"+key[1]+"`") {
			t.Errorf("docs/usage-report.md does not explain %s", key[1])
		}
	}
}

func TestHugeFiguresAreValidJSON(t *testing.T) {
	report := decode(t, run(t, 0, nil, "setup", "stats=huge", "write=1,json").stdout)
	if len(report.Classes) != 40 {
		t.Fatalf("%d classes, want 40 although class_count says more", len(report.Classes))
	}
	const most = "18446744073709551615"
	if report.Classes[39]["mallocs"].(json.Number) != most || report.Sum["held_bytes"] != most {
		t.Errorf("sums must be capped at %s: %v", most, report.Sum)
	}
}

func TestHostileNamesAreEscaped(t *testing.T) {
	for given, inJSON := range map[string]string{
		"quote\"back\\slash":      "quote\"back\\slash",
		"line\nbreak\ttab":        "line\nbreak\ttab",
		"\x1b[31mred\x7f":         "\x1b[31mred\x7f",
		"c1 \u009b31m control":    "c1 \u009b31m control",
		"grüße 🌾":                 "grüße 🌾",
		"broken \xff\xc3":         "broken \ufffd\ufffd",
		"long \xc0\xaf form":      "long \ufffd\ufffd form",
		"surrogate \xed\xa0\x80":  "surrogate \ufffd\ufffd\ufffd",
		"beyond \xf4\x90\x80\x80": "beyond \ufffd\ufffd\ufffd\ufffd",
	} {
		steps := []string{"name=" + given, "setup", "stats=typical", "write=1,json"}
		report := decode(t, run(t, 0, []string{"GRANARY_REPORT=none"}, steps...).stdout)
		if report.Name != inJSON || report.Command[1] != "name="+inJSON {
			t.Errorf("%q: name %q, command %q", given, report.Name, report.Command)
		}
		steps[3] = "write=1,text"
		text := run(t, 0, nil, steps...).stdout
		if !utf8.ValidString(text) {
			t.Errorf("%q: the text is not UTF-8: %q", given, text)
		}
		for _, letter := range text {
			if letter != '\n' && (letter < ' ' || letter >= 0x7f && letter < 0xa0) {
				t.Errorf("%q: the text has control character %q", given, letter)
			}
		}
	}
}

func TestCommandKeepsArgumentsApart(t *testing.T) {
	report := decode(t, run(t, 0, nil, "setup", "stats=", "write=1,json", "stats=a b").stdout)
	want := []string{"setup", "stats=", "write=1,json", "stats=a b"}
	if got := report.Command[1:]; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("command %q, want %q", got, want)
	}
}

// socketPair returns two ends of a datagram socket: what one write sends is what one read gets.
func socketPair(t *testing.T) (*os.File, int) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(pair[1]) })
	return os.NewFile(uintptr(pair[0]), "socket"), pair[1]
}

func TestReportIsOneWrite(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		end, read := socketPair(t)
		command := exec.Command(harness, "setup", "stats=huge", "write=1,"+format)
		command.Stdout = end
		if err := command.Run(); err != nil {
			t.Fatal(err)
		}
		end.Close()
		buffer := make([]byte, 1<<20)
		count, err := syscall.Read(read, buffer)
		if err != nil {
			t.Fatal(err)
		}
		text := string(buffer[:count])
		if !strings.HasSuffix(text, "\n") || !strings.Contains(text, "sum") {
			t.Errorf("%s: the first write is not the whole report: %q", format, text)
		}
	}
}

func TestReportNeedsNoMemory(t *testing.T) {
	want := decode(t, run(t, 0, nil, "setup", "stats=huge", "write=1,json").stdout)
	got := decode(t, run(t, 0, nil, "setup", "stats=huge", "limit-memory=4096", "write=1,json").stdout)
	if fmt.Sprint(got.Classes, got.Sum) != fmt.Sprint(want.Classes, want.Sum) {
		t.Errorf("the report written without memory differs: %v", got)
	}
}
