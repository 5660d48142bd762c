package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cases_test.go: the parser against real logs. They are kept apart from the repository; the tests
// are skipped where the folder is missing.

func casesDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "shared", "cases", "unity"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no folder with real logs at " + dir)
	}
	return dir
}

func readCase(t *testing.T, name string) (*Log, []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(casesDir(t), name+".txt"))
	if err != nil {
		t.Skip(err)
	}
	log, err := Read(strings.NewReader(string(raw)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return log, strings.Split(string(raw), "\n")
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
	files, err := filepath.Glob(filepath.Join(casesDir(t), "*.txt"))
	if err != nil || len(files) == 0 {
		t.Skip("no real logs")
	}
	total := 0
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		log, raw := readCase(t, name)
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
	if total < 2000 {
		t.Errorf("only %d report lines found: the test no longer sees the reports", total)
	}
}
