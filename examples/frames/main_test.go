package main

import (
	"strings"
	"testing"

	"granary/report"
)

// play runs the game and returns its log.
func play(t *testing.T, args ...string) string {
	t.Helper()
	var out strings.Builder
	if err := run(args, &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// compare is what granary compare says of a short and a long run.
func compare(t *testing.T, switches ...string) *report.Comparison {
	t.Helper()
	var logs []report.NamedLog
	for _, frames := range []string{"100", "400"} {
		text := play(t, append([]string{"-frames", frames}, switches...)...)
		log, err := report.Read(strings.NewReader(text), report.Options{})
		if err != nil {
			t.Fatal(err)
		}
		logs = append(logs, report.NamedLog{Name: frames, Log: log})
	}
	c, err := report.Compare(logs, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Runs[0].Frames != 100 || c.Runs[1].Frames != 400 {
		t.Errorf("the reports say %d and %d frames", c.Runs[0].Frames, c.Runs[1].Frames)
	}
	return c
}

const (
	blockSwitch = "-memorysetup-job-temp-allocator-block-size="
	jobTemp     = "ALLOC_TEMP_JOB_4_FRAMES (JobTemp)"
)

func TestABlockThatIsTooSmallShowsAsGrowth(t *testing.T) {
	c := compare(t)
	if len(c.Counters) != 1 || c.Counters[0].Name != jobTemp || c.Counters[0].Trend != report.Growing ||
		!strings.Contains(c.Counters[0].Verdict, "try memorysetup-job-temp-allocator-block-size=131072") {
		t.Errorf("the comparison says %+v", c.Counters)
	}
}

func TestLoadingShowsAsAWatermark(t *testing.T) {
	c := compare(t, blockSwitch+"262144")
	if len(c.Counters) != 1 || c.Counters[0].Name != jobTemp || c.Counters[0].Trend != report.Steady {
		t.Errorf("the comparison says %+v", c.Counters)
	}
}

func TestBlocksForTheLoadingLeaveNothingToSay(t *testing.T) {
	if c := compare(t, blockSwitch+"1048576"); len(c.Counters) != 0 {
		t.Errorf("the comparison says %+v", c.Counters)
	}
}

func TestALeakIsFoundWithItsPlace(t *testing.T) {
	text := play(t, "-frames", "300", "-leak", "-diag-job-temp-memory-leak-validation", blockSwitch+"1048576")
	if count := strings.Count(text, "allocations are older than 4 frames"); count != 1 {
		t.Errorf("the leak is told %d times", count)
	}
	for _, want := range []string{"1 allocations are older than 4 frames (frame 5), made at", ".(*worker).do",
		"3 became older than 4 frames, 0 of them freed late, 3 not freed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the log does not say %q:\n%s", want, text)
		}
	}
}

func TestBadArgumentsAreErrors(t *testing.T) {
	var out strings.Builder
	for _, args := range [][]string{{"-frames", "x"}, {blockSwitch + "many"}} {
		if err := run(args, &out); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
