package bench

// A tiny run of the real benchmark: every workload and every program works and computes the same
// everywhere.

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func itoa(number uintptr) string { return strconv.FormatUint(uint64(number), 10) }

// testLayout is the checkout's, with the build folder that the environment names.
func testLayout(t *testing.T) Layout {
	t.Helper()
	layout, err := FindLayout(".")
	if err != nil {
		t.Fatal(err)
	}
	if build := os.Getenv("GRANARY_BUILD"); build != "" {
		layout.Build = filepath.Join(build, "bench")
	}
	return layout
}

func TestTheBenchmarkIsAsBroadAsItSaysAndEveryFileExplainsItself(t *testing.T) {
	items, err := Items(testLayout(t))
	if err != nil {
		t.Fatal(err)
	}
	programs := 0
	for _, item := range items {
		if item.IsProgram() {
			programs++
		}
		if len(item.Summary) < 20 {
			t.Errorf("%s says only %q", item.Name, item.Summary)
		}
	}
	if len(items)-programs < 18 || programs < 7 {
		t.Errorf("%d workloads and %d programs", len(items)-programs, programs)
	}
}

func TestSelectingByNameRefusesWhatMatchesNothing(t *testing.T) {
	items := []Item{{Name: "churn_small"}, {Name: "perl"}}
	selected, err := Select(items, "^churn")
	if err != nil || len(selected) != 1 || selected[0].Name != "churn_small" {
		t.Errorf("selected %v, %v", selected, err)
	}
	for _, only := range []string{"nothing", "("} {
		if _, err := Select(items, only); err == nil {
			t.Errorf("%q was accepted", only)
		}
	}
}

func TestEveryWorkloadAndProgramComputesTheSameOnGlibcAndGranary(t *testing.T) {
	layout := testLayout(t)
	items, err := Items(layout)
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckPrograms(items); err != nil {
		t.Fatal(err)
	}
	names := []string{Glibc}
	if _, err := os.Stat(layout.GranaryLibrary()); err == nil {
		names = append(names, Granary)
	} else {
		t.Logf("%s is not built: only glibc is tested", layout.GranaryLibrary())
	}
	allocators, err := FindAllocators(names, SystemPlaces(layout.GranaryLibrary()))
	if err != nil {
		t.Fatal(err)
	}
	plan := Plan{Items: items, Allocators: allocators, Rounds: 1, Scale: 1}
	var progress strings.Builder
	runs, err := Execute(context.Background(), layout, plan, &progress)
	if err != nil {
		t.Fatal(err)
	}
	results := NewResults(plan, runs)
	for _, failure := range results.Failures() {
		t.Errorf("%s on %s: %s", failure.Item, failure.Allocator, failure.Failure)
	}
	for _, run := range runs {
		if run.Failure == "" && (run.Outcome.PeakRSSKiB <= 0 || run.Checksum == "") {
			t.Errorf("%s on %s measured nothing: %+v", run.Item, run.Allocator, run)
		}
	}
}
