package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzz_test.go: whatever a file holds, reading it ends, stays within its bounds, and what was read
// can be judged and written in every form.

// addSeeds adds the logs of the other tests, and the real ones where they are there.
func addSeeds(f *testing.F) {
	seeds := []string{"", sampleText, strings.ReplaceAll(sampleText, "\n", "\r\n"), evilLog,
		decorate(sampleText, decorations["docker compose"]), commaDecimals(sampleText),
		strings.ReplaceAll(sampleText, "\n", `\n`), "\x1f\x8b\x08\x00", "\xff\xfea\x00\n\x00",
		"(\xb5/\xfd", `##utp:{"type":"MemoryLeaks","memoryLabels":[{"A":1},{"B":2}]}`, nativeSample}
	for _, c := range complaints {
		seeds = append(seeds, c.log)
	}
	files, _ := filepath.Glob(filepath.Join(casesDir, "*.txt"))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		seeds = append(seeds, string(raw))
	}
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
}

// FuzzParse reads, checks and judges.
func FuzzParse(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		log, _ := Read(bytes.NewReader(raw), Options{Benign: []string{"a"}})
		if log == nil {
			t.Fatal("no log")
		}
		checkLog(t, log)
		for _, finding := range Analyze(log, Question{Budget: 1 << 30}) {
			if finding.Title == "" || finding.Meaning == "" {
				t.Fatalf("a finding without words: %+v", finding)
			}
		}
	})
}

// FuzzRender writes what was read in every form.
func FuzzRender(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		log, _ := Read(bytes.NewReader(raw), Options{})
		v := View{Name: "fuzz", Log: log, Findings: Analyze(log, Question{}), All: true}
		short := v
		short.All = false
		for _, write := range []func() error{
			func() error { return WriteText(io.Discard, v) },
			func() error { return WriteText(io.Discard, short) },
			func() error { return WritePaste(io.Discard, v) },
			func() error { return WriteMarkdown(io.Discard, v) },
			func() error { return WriteJSON(io.Discard, []View{v}) },
			func() error { return WriteHTML(io.Discard, []View{v}) },
		} {
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		if c, err := Compare([]NamedLog{{"a", log}, {"b", log}}, len(raw)%2 == 0); err == nil {
			if err := WriteComparison(io.Discard, c, "text", 0, true); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkLog walks a log and fails on what must never be.
func checkLog(t *testing.T, log *Log) {
	t.Helper()
	if len(log.Reports) > reportsMax {
		t.Fatalf("%d reports kept", len(log.Reports))
	}
	inside := func(what string, line int) {
		if line < 0 || line > log.Facts.Lines {
			t.Fatalf("%s is in line %d of %d", what, line, log.Facts.Lines)
		}
	}
	for i := range log.Reports {
		r := &log.Reports[i]
		if r.empty() {
			t.Fatal("an empty report was kept")
		}
		for _, w := range r.Warnings {
			inside("a warning", w.First.Line)
			inside("a warning", w.Last.Line)
			if w.Count < 1 || w.SizeMin > w.SizeMax || w.AgeMin > w.AgeMax {
				t.Fatalf("a warning makes no sense: %+v", w)
			}
		}
		if r.Usage == nil {
			continue
		}
		u := r.Usage
		inside("a report", u.First)
		inside("a report", u.Last)
		if u.First > u.Last || u.First == 0 {
			t.Fatalf("a report from line %d to %d", u.First, u.Last)
		}
		for number := range reprint(u) {
			inside("a value", number)
			if number < u.First || number > u.Last {
				t.Fatalf("a value in line %d of a report in %d-%d", number, u.First, u.Last)
			}
		}
		for _, part := range u.Parts() {
			if part.Used < 0 || part.Taken < part.Used {
				t.Fatalf("a part makes no sense: %+v", part)
			}
		}
	}
}
