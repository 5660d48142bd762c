package linear

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"granary/report"
)

func mustSystem(t *testing.T, c SystemConfig) *System {
	t.Helper()
	s, err := NewSystem(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSwitchesSetTheSizes(t *testing.T) {
	var s Settings
	args := []string{"game", "-memorysetup-job-temp-allocator-block-size=4194304", "-batchmode",
		"-memorysetup-job-temp-allocator-block-size-background=262144", "-log-memory-performance-stats",
		"-memorysetup-job-temp-allocator-reduction-small-platforms=131072", "-memorysetup-temp-allocator-size-main=65536",
		"-memorysetup-main-allocator-block-size=1", "-diag-job-temp-memory-leak-validation"}
	if err := s.ApplyArgs(args); err != nil {
		t.Fatal(err)
	}
	want := Settings{JobTempBlock: 4 << 20, BackgroundBlock: 256 << 10, ReducedBlock: 128 << 10, StackMain: 64 << 10,
		LogStats: true, Diagnostics: true}
	if s != want {
		t.Errorf("%+v", s)
	}
	s = Settings{}
	config := "gfx-enable-gfx-jobs=1\r\nmemorysetup-job-temp-allocator-block-size=1048576\r\n" +
		"    \"memorysetup-temp-allocator-size-job-worker=32768\"\n\nmemorysetup-temp-allocator-size-gfx=-1\n"
	if err := s.ApplyBootConfig(config); err != nil {
		t.Fatal(err)
	}
	if s != (Settings{JobTempBlock: 1 << 20, StackJobWorker: 32 << 10, StackGfx: 256 << 10}) {
		t.Errorf("%+v", s)
	}
	for _, bad := range []string{"", "x", "4M", "0", "1073741825", "99999999999999999999", "1.5"} {
		var wrong *ConfigError
		if err := s.ApplyArgs([]string{"-memorysetup-job-temp-allocator-block-size=" + bad}); !errors.As(err, &wrong) {
			t.Errorf("%q gives %v", bad, err)
		}
	}
	if err := s.ApplyBootConfig("a=b\nmemorysetup-temp-allocator-size-main=much"); err == nil ||
		!strings.Contains(err.Error(), "line 2") {
		t.Errorf("a bad line gives %v", err)
	}
}

func TestEverySwitchIsUnderstood(t *testing.T) {
	defaults := DefaultSettings()
	for name := range defaults.sizes() {
		var s Settings
		if known, err := s.Apply("-memorysetup-" + name + "=123456"); !known || err != nil || *s.sizes()[name] != 123456 {
			t.Errorf("%s: %v %v", name, known, err)
		}
	}
}

func TestLittleMemoryReducesTheBlocks(t *testing.T) {
	for _, c := range []struct {
		memory   uint64
		settings Settings
		jobs     uint64
		back     uint64
	}{
		{8 << 30, Settings{}, 2 << 20, 1 << 20},
		{LowMemory, Settings{}, 2 << 20, 1 << 20},
		{LowMemory - 1, Settings{}, 256 << 10, 256 << 10},
		{1 << 30, Settings{JobTempBlock: 8 << 20, BackgroundBlock: 8 << 20, ReducedBlock: 100_000}, 128 << 10, 128 << 10},
	} {
		s := mustSystem(t, SystemConfig{Memory: c.memory, Settings: c.settings})
		for _, a := range []*Allocator{s.OneFrame, s.TwoFrames, s.JobTemp} {
			if got := a.Stats().BlockBytes; got != c.jobs {
				t.Errorf("with %d bytes of memory %s has blocks of %d", c.memory, a.Name(), got)
			}
		}
		if got := s.Background.Stats(); got.BlockBytes != c.back || got.ReservedMost != 64*8*c.back {
			t.Errorf("with %d bytes of memory background blocks have %d", c.memory, got.BlockBytes)
		}
	}
	s := mustSystem(t, SystemConfig{})
	if s.LowMemory() != (s.JobTemp.Stats().BlockBytes == 256<<10) {
		t.Error("the machine's memory is not what decides")
	}
}

// use has a system work for some frames.
func use(t *testing.T, s *System, frames int) {
	t.Helper()
	main, err := s.NewStack("MAIN")
	if err != nil {
		t.Fatal(err)
	}
	for frame := range frames {
		mark := main.Mark()
		mustAlloc(t, main, 1000, 16)
		if frame == 0 {
			mustAlloc(t, main, 3<<20, 16)
			mustAlloc(t, main, 7<<20, 16)
		}
		if err := main.Rewind(mark); err != nil {
			t.Fatal(err)
		}
		p := mustAlloc(t, s.JobTemp, 5000, 16)
		s.NextFrame()
		mustFree(t, s.JobTemp, p)
	}
}

func TestReportIsInUnitysFormat(t *testing.T) {
	var out strings.Builder
	s := mustSystem(t, SystemConfig{Memory: 8 << 30, Settings: Settings{LogStats: true}, Output: &out})
	use(t, s, 3)
	worker, err := s.NewStack("Job.Worker 0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CloseStack(worker); err != nil {
		t.Fatal(err)
	}
	mustFree(t, s.Background, mustAlloc(t, s.Background, 8<<20+1, 16))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(out.String(), "Memory Statistics:\n")
	want := `[ALLOC_TEMP_TLS] TLS Allocator
  StackAllocators : 
    [ALLOC_TEMP_MAIN]
      Peak usage frame count: [0-1.0 KB]: 2 frames, [2.0 MB-4.0 MB]: 1 frames
      Initial Block Size 4.0 MB
      Current Block Size 4.0 MB
      Peak Allocated Bytes 3.0 MB
      Overflow Count 1
    [ALLOC_TEMP_Job.Worker 0]
      Initial Block Size 256.0 KB
      Current Block Size 256.0 KB
      Peak Allocated Bytes 0 B
      Overflow Count 0
[ALLOC_TEMP_JOB_1_FRAME]
  Initial Block Size 2.0 MB
  Used Block Count 0
  Overflow Count (too large) 0
  Overflow Count (full) 0
[ALLOC_TEMP_JOB_2_FRAMES]
  Initial Block Size 2.0 MB
  Used Block Count 0
  Overflow Count (too large) 0
  Overflow Count (full) 0
[ALLOC_TEMP_JOB_4_FRAMES (JobTemp)]
  Initial Block Size 2.0 MB
  Used Block Count 2
  Overflow Count (too large) 0
  Overflow Count (full) 0
[ALLOC_TEMP_JOB_ASYNC (Background)]
  Initial Block Size 1.0 MB
  Used Block Count 0
  Overflow Count (too large) 1
  Overflow Count (full) 0
`
	if !sameLines(block, want) {
		t.Errorf("the report is\n%s\nnot\n%s", block, want)
	}
}

// sameLines compares two reports; which P's block a goroutine finds is not the test's, so the number of blocks that
// job memory took may differ.
func sameLines(got, want string) bool {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(g) != len(w) {
		return false
	}
	for i := range g {
		if g[i] != w[i] && !(strings.HasPrefix(g[i], "  Used Block Count ") && w[i] == "  Used Block Count 2") {
			return false
		}
	}
	return true
}

func TestOurToolsReadTheReport(t *testing.T) {
	var out strings.Builder
	s := mustSystem(t, SystemConfig{Memory: 8 << 30, Settings: Settings{LogStats: true}, Output: &out,
		OnOverdue: func(Overdue) {}})
	use(t, s, 40)
	for range 3 {
		mustAlloc(t, s.JobTemp, 17<<20, 16)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := report.Read(strings.NewReader(out.String()), report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	usage := log.Reports[0].Usage
	if len(log.Reports) != 1 || usage == nil || len(usage.Stacks) != 1 || len(usage.Linears) != 4 || usage.Foreign != 0 {
		t.Fatalf("the log has %d reports: %+v\n%s", len(log.Reports), usage, out.String())
	}
	if frames, _ := usage.Frames(); frames != 40 {
		t.Errorf("the report says %d frames", frames)
	}
	l := usage.Linears[2]
	if l.Name.Text != "ALLOC_TEMP_JOB_4_FRAMES (JobTemp)" || l.TooLarge.N != 3 || l.Block.Bytes != 2<<20 {
		t.Errorf("%+v", l)
	}
	if len(log.Reports[0].Warnings) != 0 {
		t.Errorf("the report is taken for warnings: %+v", log.Reports[0].Warnings)
	}
}

// TestFormatIsThatOfRealReports compares names and numbers with the logs that real programs wrote, where those are at
// hand: every line that our report can have must have been seen there.
func TestFormatIsThatOfRealReports(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 511: "511 B", 512: "0.5 KB", 1 << 10: "1.0 KB", 524287: "512.0 KB",
		1 << 19: "0.5 MB", 2 << 20: "2.0 MB", 1 << 29: "0.50 GB", 1 << 30: "1.00 GB"} {
		if got := formatBytes(n); got != want {
			t.Errorf("%d bytes are %s, not %s", n, got, want)
		}
	}
	files, _ := filepath.Glob(filepath.Join("..", "..", "shared", "cases", "unity", "*.txt"))
	fields := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			fields[withoutValue(line)] = true
		}
	}
	if len(files) == 0 {
		t.Log("there are no real logs at hand")
		return
	}
	var out strings.Builder
	s := mustSystem(t, SystemConfig{Memory: 8 << 30})
	use(t, s, 1)
	if err := s.Report(&out); err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(out.String(), "Memory Statistics:\n")
	for _, line := range strings.Split(block, "\n") {
		if !fields[withoutValue(line)] {
			t.Errorf("no real report has the line %q", line)
		}
	}
}

// withoutValue is a line up to the first digit of its value.
func withoutValue(line string) string {
	line = strings.TrimRight(line, "\r")
	if strings.HasPrefix(strings.TrimSpace(line), "[ALLOC") {
		return line
	}
	if at := strings.IndexAny(line, "0123456789"); at > 0 {
		line = line[:at]
	}
	return line
}
