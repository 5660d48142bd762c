package report

import (
	_ "embed"
	"strings"
	"testing"
)

// sample_test.go: a report of the tests' own making, with every kind of section.

//go:embed testdata/sample.txt
var sampleText string

func sampleReport() []byte { return []byte(sampleText) }

// readText reads a log that must come without an error.
func readText(t *testing.T, text string) *Log {
	t.Helper()
	log, err := Read(strings.NewReader(text), Options{})
	if err != nil {
		t.Fatalf("reading %.80q: %v", text, err)
	}
	return log
}

// onlyUsage is the block of a log that must hold exactly one.
func onlyUsage(t *testing.T, log *Log) *Usage {
	t.Helper()
	reports, _ := log.usages()
	if len(reports) != 1 {
		t.Fatalf("got %d reports, want 1", len(reports))
	}
	return reports[0].Usage
}
