package bench

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// samplePlan has two workloads and a program on four allocators.
func samplePlan() Plan {
	return Plan{
		Items: []Item{
			{Name: "churn"}, {Name: "trees"}, {Name: "perl", Program: &Program{Name: "perl"}},
		},
		Allocators: []Allocator{
			{Name: Glibc}, {Name: "tcmalloc"}, {Name: Baseline}, {Name: Granary},
		},
		Rounds: 3, Scale: 100,
	}
}

// sampleRuns gives every cell three runs around the figures below, in milliseconds and MiB.
func sampleRuns() []Run {
	figures := map[string][4][2]float64{
		"churn": {{400, 20}, {100, 40}, {200, 20}, {100, 10}},
		"trees": {{200, 20}, {200, 20}, {200, 20}, {400, 20}},
		"perl":  {{300, 8}, {300, 8}, {300, 8}, {150, 16}},
	}
	var runs []Run
	for _, item := range samplePlan().Items {
		for i, allocator := range samplePlan().Allocators {
			figure := figures[item.Name][i]
			for round, factor := range []float64{3, 1, 0.5} { // the median is the second
				runs = append(runs, Run{
					Round: round + 1, Item: item.Name, Allocator: allocator.Name, Threads: 2,
					Seconds: figure[0] / 1000 * factor,
					Outcome: Outcome{
						UserSeconds: figure[0] / 1000, PeakRSSKiB: int64(figure[1] * 1024 * factor),
					},
					Checksum: "1",
				})
			}
		}
	}
	return runs
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

func TestMediansAreOfTheMiddle(t *testing.T) {
	if value := median([]float64{9, 1, 5}); value != 5 {
		t.Errorf("of three values: %v", value)
	}
	if value := median([]float64{4, 1, 2, 3}); value != 2.5 {
		t.Errorf("of four values: %v", value)
	}
	if value := median(nil); !math.IsNaN(value) {
		t.Errorf("of nothing: %v", value)
	}
}

func TestGeometricMeansLeaveOutWhatFailed(t *testing.T) {
	if value := geometricMean([]float64{2, 8, math.NaN()}); !near(value, 4) {
		t.Errorf("got %v, want 4", value)
	}
	if value := geometricMean([]float64{math.NaN()}); !math.IsNaN(value) {
		t.Errorf("of nothing: %v", value)
	}
	many := make([]float64, 5000)
	for i := range many {
		many[i] = 1e-300
	}
	if value := geometricMean(many); math.Abs(value/1e-300-1) > 1e-9 {
		t.Errorf("the product of many small ratios was lost: %v", value)
	}
}

func TestRatiosMeansAndWorstCasesComeFromMedians(t *testing.T) {
	results := NewResults(samplePlan(), sampleRuns())
	cell := results.Cell("churn", Granary)
	if !near(cell.Seconds, 0.1) || cell.PeakKiB != 10*1024 || cell.Threads != 2 {
		t.Errorf("the cell is %+v", cell)
	}
	if !near(cell.Spread, 2.5) { // (0.3 - 0.05) / 0.1
		t.Errorf("the spread is %v", cell.Spread)
	}
	if ratio := results.Ratio("trees", Granary, Seconds); !near(ratio, 2) {
		t.Errorf("trees: %v of mimalloc's time", ratio)
	}
	all := func(*Item) bool { return true }
	if mean := results.Mean(Granary, Seconds, all); !near(mean, math.Cbrt(0.5*2*0.5)) {
		t.Errorf("the mean of times is %v", mean)
	}
	if mean := results.Mean(Granary, Peak, all); !near(mean, 1) {
		t.Errorf("the mean of memory is %v", mean)
	}
	if mean := results.Mean(Granary, Seconds, (*Item).IsProgram); !near(mean, 0.5) {
		t.Errorf("the mean of programs is %v", mean)
	}
	worst := results.AgainstBaseline(Glibc, Seconds)[0]
	if worst.Item != "churn" || !near(worst.Ratio, 2) {
		t.Errorf("glibc's worst case is %+v", worst)
	}
}

func TestTheBestPeerIsNeitherGranaryNorTheAllocatorItself(t *testing.T) {
	results := NewResults(samplePlan(), sampleRuns())
	for _, extreme := range results.AgainstBestPeer(Granary, Seconds) {
		if extreme.Item == "churn" && (extreme.Best != "tcmalloc" || !near(extreme.Ratio, 1)) {
			t.Errorf("Granary on churn: %+v", extreme)
		}
	}
	for _, extreme := range results.AgainstBestPeer("tcmalloc", Seconds) {
		if extreme.Item == "churn" && (extreme.Best != Baseline || !near(extreme.Ratio, 0.5)) {
			t.Errorf("tcmalloc on churn: %+v", extreme)
		}
	}
}

func TestOneFailedRunFailsItsCellAndItsRatios(t *testing.T) {
	runs := sampleRuns()
	for i := range runs {
		if runs[i].Item == "trees" && runs[i].Allocator == Granary && runs[i].Round == 2 {
			runs[i].Failure = "killed by signal 11"
		}
	}
	results := NewResults(samplePlan(), runs)
	failures := results.Failures()
	if len(failures) != 1 || failures[0].Item != "trees" || failures[0].Allocator != Granary {
		t.Fatalf("the failures are %+v", failures)
	}
	if !math.IsNaN(results.Ratio("trees", Granary, Seconds)) {
		t.Error("a failed cell has a ratio")
	}
	var missed []string
	for _, goal := range results.Goals() {
		if !goal.Met {
			missed = append(missed, goal.Text)
		}
	}
	if text := strings.Join(missed, "\n"); !strings.Contains(text, "trees must run: killed by") {
		t.Errorf("a crash of Granary is not a missed goal: %s", text)
	}
}

func TestACellThatNeverRanIsAFailure(t *testing.T) {
	results := NewResults(samplePlan(), nil)
	if len(results.Failures()) != 12 {
		t.Errorf("%d of 12 cells failed", len(results.Failures()))
	}
}

func TestABusyMachineIsNoticedByWorkloadsThatHaveOneThreadAndNeverWait(t *testing.T) {
	plan := samplePlan()
	run := func(item string, threads int, processor, wall float64, moments ...Moment) Run {
		return Run{
			Item: item, Allocator: Glibc, Threads: threads, Moments: moments,
			Outcome: Outcome{UserSeconds: processor, WallSeconds: wall},
		}
	}
	quiet := []Run{
		run("churn", 1, 0.97, 1), run("churn", 2, 1, 2), run("trees", 1, 1, 9, Moment{"idle", 1}),
		run("perl", 1, 1, 3),
	}
	if busy := NewResults(plan, quiet).Busy(); busy != "" {
		t.Errorf("a quiet machine: %s", busy)
	}
	busy := NewResults(plan, append(quiet, run("trees", 1, 0.5, 1))).Busy()
	if !strings.Contains(busy, "only 74 % of a core") {
		t.Errorf("a busy machine: %q", busy)
	}
	if busy := NewResults(plan, nil).Busy(); busy != "" {
		t.Errorf("nothing ran: %s", busy)
	}
}

func TestGoalsAreJudged(t *testing.T) {
	goals := NewResults(samplePlan(), sampleRuns()).Goals()
	var text []string
	for _, goal := range goals {
		text = append(text, map[bool]string{true: "met ", false: "missed "}[goal.Met]+goal.Text)
	}
	want := "met time at most 0.85 of mimalloc's: it is 0.79\n" +
		"missed peak memory at most 0.90 of mimalloc's: it is 1.00\n" +
		"missed trees at most 1.25 of the best peer's time: it is 2.00 of glibc's"
	if got := strings.Join(text, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTheCSVHasTheFixedHeaderAndARowACell(t *testing.T) {
	runs := sampleRuns()
	for i := range runs {
		if runs[i].Item == "perl" && runs[i].Allocator == "tcmalloc" {
			runs[i].Failure = "exit status 3"
		}
	}
	var file bytes.Buffer
	if err := WriteCSV(&file, NewResults(samplePlan(), runs)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(file.String()), "\n")
	if lines[0] != "workload,allocator,threads,median_seconds,peak_rss_kib" {
		t.Errorf("the header is %s", lines[0])
	}
	if len(lines) != 13 {
		t.Errorf("%d lines instead of 13", len(lines))
	}
	if lines[4] != "churn,granary,2,0.100000,10240" {
		t.Errorf("line 5 is %s", lines[4])
	}
	if lines[10] != "perl,tcmalloc,1,nan,nan" {
		t.Errorf("line 11 is %s", lines[10])
	}
}

func TestTheRawFileHasEveryRun(t *testing.T) {
	run := sampleRuns()[0]
	run.Moments = []Moment{{"before", 5}, {"idle", 6}}
	run.Failure = "exit status 1: a, \"quoted\" text"
	var file bytes.Buffer
	if err := WriteRaw(&file, []Run{run}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(file.String()), "\n")
	want := `1,churn,glibc,2,1.200000,0.000000,0.400000,0.000000,61440,0,1,before=5;idle=6,` +
		`"exit status 1: a, ""quoted"" text"`
	if len(lines) != 2 || lines[1] != want {
		t.Errorf("got\n%s\nwant\n%s", lines[len(lines)-1], want)
	}
}

func TestTheReportSaysGoodAndBadAndHowToRepeatIt(t *testing.T) {
	plan := samplePlan()
	plan.Items[0].Summary = "blocks come and go."
	runs := sampleRuns()
	for i := range runs {
		if runs[i].Item == "churn" {
			runs[i].Moments = []Moment{{"idle", 2048}}
		}
		if runs[i].Item == "perl" && runs[i].Allocator == Glibc {
			runs[i].Failure = "checksum 1 differs"
		}
	}
	var page strings.Builder
	err := WriteReport(&page, NewResults(plan, runs), Occasion{
		Date: "2030-01-02", Machine: "Two Cores", Command: "make bench", RawFile: "x-raw.csv",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"2030-01-02", "Two Cores", "`make bench`", "`x-raw.csv`",
		"Goal met: time", "Goal missed: peak memory",
		"worst cases against the best peer: trees 2.00 of glibc's",
		"best cases against the best peer: perl 0.50 of tcmalloc's",
		"| churn | 0.400 (2.00) | 0.100 (0.50) | 0.200 | 0.100 (0.50) |",
		"| perl | FAILED |", "perl on glibc: checksum 1 differs",
		"| churn, idle | 2.0 | 2.0 | 2.0 | 2.0 |", "`churn` (workload, 2 threads): blocks come",
		"| time, worst case | 2.00 churn |",
	} {
		if !strings.Contains(page.String(), words) {
			t.Errorf("the report does not say %q:\n%s", words, page.String())
		}
	}
}
