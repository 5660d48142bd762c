package bench

// Tests of the runner on a small benchmark of its own: a folder with workloads that behave badly,
// and two allocators, one of which is a library that does nothing.

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onOther is C source: whether the program runs on the library that is not libc.
const onOther = `#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int on_other(void) { return strstr(getenv("LD_PRELOAD"), "libc.so") == NULL; }
static void done(int sum) { printf("seconds=0.5\nchecksum=%d\nthreads=1\n", sum); }
`

// badLayout makes a benchmark of the given workloads; a body becomes the main function.
func badLayout(t *testing.T, bodies map[string]string) Layout {
	t.Helper()
	root := t.TempDir()
	layout := Layout{Source: filepath.Join(root, "bench"), Build: filepath.Join(root, "build")}
	touch(t, filepath.Join(layout.Source, "workloads", "bench.h"))
	for name, body := range bodies {
		text := "// " + name + ": a workload of a test\n\n" + onOther +
			"int main(void) { (void)on_other; (void)done; " + body + " return 0; }\n"
		path := touch(t, filepath.Join(layout.Source, "workloads", name+".c"))
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	source, err := os.ReadFile(filepath.Join("measure", "measure.c"))
	if err != nil {
		t.Fatal(err)
	}
	measure := touch(t, filepath.Join(layout.Source, "measure", "measure.c"))
	if err := os.WriteFile(measure, source, 0o644); err != nil {
		t.Fatal(err)
	}
	return layout
}

// twoAllocators are glibc and a library with nothing in it.
func twoAllocators(t *testing.T) []Allocator {
	t.Helper()
	found, err := FindAllocators([]string{Glibc}, SystemPlaces(""))
	if err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(t.TempDir(), "libother.so")
	command := exec.Command("gcc", "-shared", "-o", library, "-x", "c", os.DevNull)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, output)
	}
	return append(found, Allocator{Name: "other", Library: library})
}

func badPlan(t *testing.T, layout Layout) Plan {
	t.Helper()
	items, err := Items(layout)
	if err != nil {
		t.Fatal(err)
	}
	items, err = Select(items, "^bad_")
	if err != nil {
		t.Fatal(err)
	}
	return Plan{Items: items, Allocators: twoAllocators(t), Rounds: 2, Scale: 100}
}

func TestBadRunsAreReportedAndNotDropped(t *testing.T) {
	layout := badLayout(t, map[string]string{
		"bad_crash":    `if (on_other()) raise(SIGSEGV); done(1);`,
		"bad_exit":     `if (on_other()) { fprintf(stderr, "no memory"); return 3; } done(1);`,
		"bad_sum":      `done(on_other() ? 2 : 1);`,
		"bad_output":   `if (on_other()) printf("hello\n"); done(1);`,
		"bad_not_here": `done(1);`,
	})
	plan := badPlan(t, layout)
	var progress strings.Builder
	runs, err := Execute(context.Background(), layout, plan, &progress)
	if err != nil {
		t.Fatal(err)
	}
	results := NewResults(plan, runs)
	for item, reason := range map[string]string{
		"bad_crash":  "killed by signal 11",
		"bad_exit":   "exit status 3: no memory",
		"bad_sum":    "checksum 2 differs from 1",
		"bad_output": "unexpected output",
	} {
		if failure := results.Cell(item, "other").Failure; !strings.Contains(failure, reason) {
			t.Errorf("%s: the failure is %q, want %q", item, failure, reason)
		}
		if cell := results.Cell(item, Glibc); cell.Failure != "" || cell.Seconds != 0.5 {
			t.Errorf("%s on glibc: %+v", item, cell)
		}
	}
	if len(results.Failures()) != 4 {
		t.Errorf("%d failures instead of 4", len(results.Failures()))
	}
	if !strings.Contains(progress.String(), "FAILED on other: killed by signal 11") {
		t.Errorf("the progress does not show the crash:\n%s", progress.String())
	}
	// Five items: each twice on glibc; on the other twice if good and once if bad.
	if len(runs) != 5*2+2+4 {
		t.Errorf("%d runs", len(runs))
	}
}

func TestAFailureMakesTheBenchmarkFailAfterItHasWrittenItsFiles(t *testing.T) {
	layout := badLayout(t, map[string]string{
		"bad_always": `fprintf(stderr, "broken"); return 1;`, "bad_not_here": `done(7);`,
	})
	csvFile := filepath.Join(layout.Build, "medians.csv")
	var output, progress strings.Builder
	err := Main(context.Background(), layout, Options{
		Runs: 1, Scale: 100, Only: "^bad_", Allocators: []string{Glibc}, CSV: csvFile,
	}, &output, &progress)
	if !errors.Is(err, ErrFailures) {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(output.String(), "bad_always on glibc: exit status 1: broken") {
		t.Errorf("the failure is not listed:\n%s", output.String())
	}
	text, err := os.ReadFile(csvFile)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "bad_not_here,glibc,1,0.500000,") {
		t.Errorf("the file is\n%s", text)
	}
	if _, err := os.Stat(layout.Report()); err == nil {
		t.Error("a part of a benchmark replaced the report")
	}
}

func TestALibraryThatCannotBePreloadedIsRefused(t *testing.T) {
	layout := badLayout(t, map[string]string{"bad_not_here": `done(7);`})
	plan := badPlan(t, layout)
	plan.Allocators[1].Library = touch(t, filepath.Join(t.TempDir(), "libtext.so"))
	var progress strings.Builder
	_, err := Execute(context.Background(), layout, plan, &progress)
	if err == nil || !strings.Contains(err.Error(), "the loader does not preload") {
		t.Errorf("got %v", err)
	}
}

func TestOnlyChangedSourcesAreCompiled(t *testing.T) {
	layout := badLayout(t, map[string]string{"bad_one": `done(1);`, "bad_two": `done(2);`})
	items := badPlan(t, layout).Items
	build := func() map[string]os.FileInfo {
		if err := Build(context.Background(), layout, items); err != nil {
			t.Fatal(err)
		}
		infos := map[string]os.FileInfo{}
		for _, item := range items {
			info, err := os.Stat(layout.binary(item.Name))
			if err != nil {
				t.Fatal(err)
			}
			infos[item.Name] = info
		}
		return infos
	}
	first := build()
	source := items[0].Source
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, append(text, "/* changed */\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	second := build()
	if os.SameFile(first["bad_one"], second["bad_one"]) {
		t.Error("the changed workload was not compiled")
	}
	if !os.SameFile(first["bad_two"], second["bad_two"]) {
		t.Error("the unchanged workload was compiled again")
	}
}

func TestASourceThatDoesNotCompileStopsTheBenchmarkWithTheCompilersWords(t *testing.T) {
	layout := badLayout(t, map[string]string{"bad_source": `this is no C;`})
	err := Build(context.Background(), layout, badPlan(t, layout).Items)
	if err == nil || !strings.Contains(err.Error(), "bad_source.c:") {
		t.Errorf("got %v", err)
	}
}

func TestAWorkloadWithoutAnExplanationIsRefused(t *testing.T) {
	path := touch(t, filepath.Join(t.TempDir(), "silent.c"))
	if _, err := sourceSummary(path); err == nil {
		t.Error("it was accepted")
	}
}

// newTestMeasurer compiles measure.c into a folder of the test.
func newTestMeasurer(t *testing.T) *Measurer {
	t.Helper()
	layout := badLayout(t, nil)
	if err := Build(context.Background(), layout, nil); err != nil {
		t.Fatal(err)
	}
	measurer, cleanUp, err := newMeasurer(layout, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cleanUp)
	return measurer
}

func TestPeakMemoryDoesNotIncludeTheRunners(t *testing.T) {
	measurer := newTestMeasurer(t)
	ballast := make([]byte, 64<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	outcome, err := measurer.Measure(context.Background(), "", Command{Arguments: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if outcome.PeakRSSKiB < 200 || outcome.PeakRSSKiB > 16<<10 {
		t.Errorf("true needed %d KiB beside a runner of %d", outcome.PeakRSSKiB, len(ballast)>>10)
	}
}

func TestACommandThatHangsIsEndedAndReported(t *testing.T) {
	measurer := newTestMeasurer(t)
	ctx, cancel := context.WithCancel(context.Background())
	// cat waits for input that never comes: the read end of a pipe that stays open.
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	running, err := measurer.Start(ctx, "", Command{
		Arguments: []string{"cat"}, Input: "/proc/self/fd/" + itoa(reader.Fd()),
	})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	outcome, err := running.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(outcome.Failure(), "did not finish") {
		t.Errorf("the failure is %q", outcome.Failure())
	}
}

func TestTheEnvironmentOfTheShellIsNotPassedOn(t *testing.T) {
	t.Setenv("MALLOC_ARENA_MAX", "1")
	measurer := newTestMeasurer(t)
	measurer.Environment = []string{"GIVEN=yes"}
	outcome, err := measurer.Measure(context.Background(), "", Command{Arguments: []string{"env"}})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(outcome.OutputFile)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "MALLOC_ARENA_MAX") {
		t.Errorf("the shell's variable was passed on:\n%s", text)
	}
	if !strings.Contains(string(text), "GIVEN=yes") {
		t.Errorf("what was given is not there:\n%s", text)
	}
}
