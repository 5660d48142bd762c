package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// compare_test.go: loading told from play, and a change of settings judged.

// jobRun is a report of so many frames with the counts of JobTemp and Background.
func jobRun(frames, jobFull, jobLarge, backgroundLarge int) string {
	return frameCount(frames) +
		fmt.Sprintf("[ALLOC_TEMP_JOB_4_FRAMES (JobTemp)]\n  Initial Block Size "+
			"2.0 MB\n  Used Block Count 1\n  Overflow Count (too large) %d\n  Overflow Count (full) %d\n"+
			"[ALLOC_TEMP_JOB_ASYNC (Background)]\n  Initial Block Size 1.0 MB\n  Used Block Count 1\n  "+
			"Overflow Count (too large) %d\n  Overflow Count (full) 0\n", jobLarge, jobFull, backgroundLarge)
}

func compareLogs(t *testing.T, baseline bool, logs ...string) *Comparison {
	t.Helper()
	var named []NamedLog
	for i, log := range logs {
		named = append(named, NamedLog{fmt.Sprintf("%c.log", 'a'+i), readText(t, log)})
	}
	c, err := Compare(named, baseline)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *Comparison) counter(t *testing.T, name, event string) Counter {
	t.Helper()
	for _, counter := range c.Counters {
		if counter.Name == name && counter.Event == event {
			return counter
		}
	}
	t.Fatalf("no count of %s, %s in %+v", name, event, c.Counters)
	return Counter{}
}

func TestCountsThatStayAreLoadingAndCountsThatGrowArePlay(t *testing.T) {
	// Given long run first: the order of the files must not matter.
	c := compareLogs(t, false, jobRun(220000, 4_400_500, 74, 44), jobRun(110000, 2_200_500, 10, 44))
	if c.Runs[0].Name != "b.log" || c.Runs[0].Frames != 110000 {
		t.Errorf("the runs are not ordered by length: %+v", c.Runs)
	}
	for _, test := range []struct {
		name, event string
		trend       Trend
		says        string
	}{
		{backgroundName, "too large", Steady, "leave it"},
		{jobTempName, "too large", Uneven, "a harmless rate"},
		{jobTempName, "pool full", Growing,
			"grows by 20 a frame; try memorysetup-job-temp-allocator-block-size=4194304"},
	} {
		got := c.counter(t, test.name, test.event)
		if got.Trend != test.trend || !strings.Contains(got.Verdict, test.says) {
			t.Errorf("%s, %s: %s, %q; want %s, %q", test.name, test.event, got.Trend, got.Verdict,
				test.trend, test.says)
		}
	}
	if rate := c.counter(t, jobTempName, "pool full").PerFrame; rate != 20 {
		t.Errorf("rate %v a frame, want 20", rate)
	}
}

func TestRunsOfOneLengthTellNothing(t *testing.T) {
	c := compareLogs(t, false, jobRun(1000, 5000, 0, 0), jobRun(1100, 9000, 0, 0))
	if got := c.counter(t, jobTempName, "pool full"); got.Trend != Unclear {
		t.Errorf("trend %s, want unclear", got.Trend)
	}
	if len(c.Notes) == 0 || !strings.Contains(c.Notes[0], "equally long") {
		t.Errorf("notes %q", c.Notes)
	}
	c = compareLogs(t, false, jobRun(0, 5000, 0, 0), jobRun(1100, 9000, 0, 0))
	if got := c.counter(t, jobTempName, "pool full"); got.Trend != Unclear ||
		!strings.Contains(got.Verdict, "unknown") {
		t.Errorf("trend %s, %q", got.Trend, got.Verdict)
	}
}

func TestACountThatOneReportLacksIsNotCompared(t *testing.T) {
	c := compareLogs(t, false, frameCount(100)+"[ALLOC_TEMP_JOB_1_FRAME]\n  Used Block Count 1\n",
		jobRun(5000, 3, 0, 0))
	if got := c.counter(t, jobTempName, "pool full"); got.Trend != Unclear || !got.Missing[0] {
		t.Errorf("%+v", got)
	}
}

func TestABaselineTellsWhetherAChangeHelped(t *testing.T) {
	before := sampleText
	after := strings.ReplaceAll(strings.ReplaceAll(before, "(full) 240500", "(full) 0"),
		"Initial Block Size 2.0 MB", "Initial Block Size 4.0 MB")
	after = strings.ReplaceAll(after, "Overflow Count 41000", "Overflow Count 90000")
	c := compareLogs(t, true, before, after)
	if got := c.counter(t, jobTempName, "pool full"); got.Verdict != "gone" || got.Trend != Falling {
		t.Errorf("the cured overflow: %+v", got)
	}
	if got := c.counter(t, "scratch memory of the loading thread", "ran over"); !strings.HasPrefix(
		got.Verdict, "worse: 4.1 a frame before, 9 a frame after") {
		t.Errorf("the overflow that became worse: %+v", got)
	}
	if got := c.counter(t, "ALLOC_BUCKET", "pool full"); !strings.HasPrefix(got.Verdict,
		"about the same") {
		t.Errorf("the unchanged one: %+v", got)
	}
	if len(c.Changes) != 3 || c.Changes[2].Before.String() != "2.0 MB" ||
		c.Changes[2].After.String() != "4.0 MB" {
		t.Errorf("changed blocks: %+v", c.Changes)
	}
	var text, markdown, object strings.Builder
	for format, b := range map[string]*strings.Builder{"text": &text, "markdown": &markdown,
		"json": &object} {
		if err := WriteComparison(b, c, format, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(text.String(), "job memory (TempJob): block 2.0 MB -> 4.0 MB") ||
		!strings.Contains(text.String(), "(128 MB more)") {
		t.Errorf("text:\n%s", text.String())
	}
	if !strings.Contains(markdown.String(), "| a.log | 10,000 |") {
		t.Errorf("markdown:\n%s", markdown.String())
	}
	var read map[string]any
	if err := json.Unmarshal([]byte(object.String()), &read); err != nil ||
		read["schema"] != "granary.compare/1" {
		t.Errorf("json: %v", err)
	}
}

func TestAFileWithoutAReportCannotBeComparedAndSaysWhy(t *testing.T) {
	logs := []NamedLog{{"short.log", readText(t, sampleText)}, {"long.log",
		readText(t, "Initialize engine version: 6000.1.2f1 (x)\n")}}
	_, err := Compare(logs, false)
	if err == nil || !strings.Contains(err.Error(), "long.log") || !strings.Contains(err.Error(),
		"Unity 6") {
		t.Errorf("error %v", err)
	}
	if _, err := Compare(logs[:1], false); err == nil {
		t.Error("one report was compared with itself")
	}
}
