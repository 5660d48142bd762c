package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cases_test.go: the parser against real logs. They are kept apart from the repository; the tests
// have nothing to do where the folder is missing.

var casesDir = filepath.Join("..", "..", "shared", "cases", "unity")

// realLogs returns the names of the real logs, none where the folder is missing.
func realLogs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(casesDir, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".txt"))
	}
	if names == nil {
		t.Log("there are no real logs in " + casesDir)
	}
	return names
}

// readCase returns the log, its lines, and which of them the parser understood.
func readCase(t *testing.T, name string) (log *Log, lines []string, understood map[int]bool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(casesDir, name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	understood = map[int]bool{}
	log, err = Read(strings.NewReader(string(raw)), Options{
		Trace: func(line int) { understood[line] = true }})
	if err != nil {
		t.Fatal(err)
	}
	return log, strings.Split(string(raw), "\n"), understood
}

// reportLine recognises the lines of a report block independently of the parser: by the shape of
// the line's end.
var reportLine = regexp.MustCompile(`(?:` +
	`\[ALLOC_[^\]]*\](?: x \d+| TLS Allocator| Dual Thread Allocator)?` +
	`|StackAllocators ?:` +
	`|(?:Initial|Current|Requested) Block Size \S+ \S?B` +
	`|Peak Allocated (?:Bytes|bytes|memory) \S+ \S?B|Peak Large allocation bytes \S+ \S?B` +
	`|Large Block size \S+ \S?B|(?:Used|Peak) Block [Cc]ount \d+|Overflow Count.* \d+` +
	`|Peak main deferred allocation count \d+|Failed Allocations. Bucket layout:` +
	`|\d+B: \d+ Subsections = \d+ buckets. Failed count: \d+` +
	`|Peak usage frame count:.*|\[[^\]]*\]: \d+ frames|Memory Statistics:)\s*$`)

func TestEveryLineOfEveryReportBlockIsReadAndComesOutAsItWas(t *testing.T) {
	names := realLogs(t)
	total := 0
	for _, name := range names {
		log, raw, understood := readCase(t, name)
		printed := map[int]string{}
		for i := range log.Reports {
			if u := log.Reports[i].Usage; u != nil {
				for number, text := range reprint(u) {
					if old, twice := printed[number]; twice {
						t.Errorf("%s:%d belongs to two reports: %q and %q", name, number, old, text)
					}
					printed[number] = text
				}
			}
		}
		for i, text := range raw {
			number := i + 1
			text = strings.TrimRight(text, "\r")
			if strings.HasPrefix(text, "#") {
				continue // the collector's own remarks
			}
			got, read := printed[number]
			want := reportLine.FindString(text)
			if want != "" && !understood[number] {
				t.Errorf("%s:%d was not understood: %q", name, number, text)
			}
			if want == "" || strings.Contains(text, "StackAllocators") {
				if read {
					t.Errorf("%s:%d is no report line but was read as %q", name, number, got)
				}
				continue
			}
			total++
			if strings.TrimSpace(got) != strings.TrimSpace(want) &&
				strings.TrimSpace(got) != strings.TrimSpace(text) {
				t.Errorf("%s:%d:\n got %q\nwant %q", name, number, got, want)
			}
		}
	}
	if total < 2000 && len(names) > 0 {
		t.Errorf("only %d report lines found: the test no longer sees the reports", total)
	}
}
