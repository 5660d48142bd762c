package heap

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/pprof/profile"
)

// TestingSite is a name to be looked for in profiles.
//
//go:noinline
func TestingSite(h *Heap, size int) unsafe.Pointer {
	p, _ := h.Alloc(size)
	return p
}

func parse(t *testing.T, h *Heap) *profile.Profile {
	t.Helper()
	var b bytes.Buffer
	if err := h.WriteProfile(&b); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sum adds up the values of all samples whose innermost function is TestingSite.
func sum(p *profile.Profile) (total [4]int64) {
	for _, s := range p.Sample {
		if len(s.Location) != 0 && s.Location[0].Line[0].Function.Name == "granary/heap.TestingSite" {
			for i, v := range s.Value {
				total[i] += v
			}
		}
	}
	return total
}

func TestTheProfileEstimatesWhatIsThere(t *testing.T) {
	const size, blocks = 1000, 20_000
	h := mustNew(t, WithProfileRate(64<<10))
	var live []unsafe.Pointer
	for range blocks {
		live = append(live, TestingSite(h, size))
	}
	near := func(what string, got, want int64) {
		t.Helper()
		// 305 samples are expected: their number is off by 30 % in one of ten million runs.
		if math.Abs(float64(got)/float64(want)-1) > 0.3 {
			t.Errorf("%s: %d, there are %d", what, got, want)
		}
	}
	got := sum(parse(t, h))
	near("blocks ever", got[0], blocks)
	near("bytes ever", got[1], blocks*size)
	near("blocks alive", got[2], blocks)
	near("bytes alive", got[3], blocks*size)
	for _, p := range live {
		if err := h.Free(p); err != nil {
			t.Fatal(err)
		}
	}
	after := sum(parse(t, h))
	if after[0] != got[0] || after[2] != 0 || after[3] != 0 {
		t.Errorf("after everything was freed: %v, before: %v", after, got)
	}
	mustHold(t, h)
}

func TestLargeBlocksAreInTheProfileAsOftenAsTheirBytes(t *testing.T) {
	h := mustNew(t, WithProfileRate(1<<20))
	for range 200 {
		if err := h.Free(TestingSite(h, 10<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if got := sum(parse(t, h)); got[0] < 199 || got[0] > 201 || got[2] != 0 {
		t.Errorf("200 blocks of 10 times the rate: %v", got)
	}
	off := mustNew(t, WithProfileRate(0))
	TestingSite(off, 10<<20)
	if p := parse(t, off); len(p.Sample) != 0 {
		t.Errorf("a heap without samples has %v", p.Sample)
	}
}

func TestLargeBlocksOfACacheDoNotMakeItsSmallOnesSamples(t *testing.T) {
	const rate, blocks = 1 << 20, 300
	h := mustNew(t, WithProfileRate(rate))
	c, err := h.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range blocks {
		large, err := c.Alloc(rate)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Free(large); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Alloc(16); err != nil {
			t.Fatal(err)
		}
	}
	// A sample of 4800 bytes at this rate comes in one of 200 runs, a third in one of 50 million.
	if n := len(h.samples.live); n > 2 {
		t.Errorf("%d of %d small blocks are samples", n, blocks)
	}
}

func TestReallocKeepsSamplesRight(t *testing.T) {
	h := mustNew(t, WithProfileRate(1))
	TestingSite(h, 1)
	p := TestingSite(h, 50_000)
	p, _ = h.Realloc(p, 60_000) // where it is
	if got := sum(parse(t, h)); got[2] != 1 || got[3] != 60_000 {
		t.Errorf("after it grew: %v", got)
	}
	p, _ = h.Realloc(p, 100) // moves
	if got := sum(parse(t, h)); got[2] != 0 {
		t.Errorf("after it moved: %v", got)
	}
	if err := h.Free(p); err != nil {
		t.Error(err)
	}
}

func TestTheSamplesOfManyStacksAreBounded(t *testing.T) {
	s := newSampler(1)
	for i := range sitesMost + 10 {
		s.sites[siteKey{uintptr(i + 1)}] = &site{}
	}
	s.add(1<<20, 500, 1)
	if len(s.sites) != sitesMost+11 || s.sites[siteKey{}].allocBytes != 500 {
		t.Errorf("%d sites", len(s.sites))
	}
	s.add(2<<20, 600, 1)
	if len(s.sites) != sitesMost+11 || s.sites[siteKey{}].allocBytes != 1100 {
		t.Errorf("%d sites", len(s.sites))
	}
}

// TestManyBytesHaveFewSamplesAndTheRightEstimate lets time pass by hand, a hundredth of a millisecond at a time. In ten
// milliseconds 10 GiB are handed out, and 200 MiB in the ten after them.
func TestManyBytesHaveFewSamplesAndTheRightEstimate(t *testing.T) {
	const millisecond, mib = 1_000_000, 1 << 20
	random := rand.New(rand.NewPCG(1, 2))
	d := distance{}
	d.restart(DefaultProfileRate, random.ExpFloat64(), 0)
	bytes, estimate, samples := [2]float64{}, [2]float64{}, [2]int{}
	for tick := uint64(0); tick < 400_000; tick++ {
		quiet := tick / 1000 % 2
		size := int64(10 * mib)
		if quiet == 1 {
			size = mib / 5
		}
		bytes[quiet] += float64(size)
		for d.left -= size; d.left < 0; {
			over := d.left
			ended := d.restart(DefaultProfileRate, random.ExpFloat64(), tick*millisecond/100)
			estimate[quiet] += float64(ended)
			samples[quiet]++
			d.left += over // what was handed out beyond belongs to the next distance
		}
	}
	for i, name := range []string{"busy", "quiet"} {
		if got := estimate[i] / bytes[i]; got < 0.8 || got > 1.2 {
			t.Errorf("%s: estimated %.2f of the bytes, by %d samples", name, got, samples[i])
		}
	}
	if short := int(bytes[0] / DefaultProfileRate); samples[0] > short/10 {
		t.Errorf("%d samples in the busy half, where short distances would give %d", samples[0], short)
	}
}

func TestRatesThatAskForMoreAreKept(t *testing.T) {
	d := distance{}
	for now := range uint64(10) { // no time at all
		if ended := d.restart(1000, 1, now); now > 0 && ended != 1000 || d.left != 1000 {
			t.Fatal(now, ended, d)
		}
	}
}

func TestGoToolPprofOpensTheProfile(t *testing.T) {
	h := mustNew(t, WithProfileRate(1), WithName("tool"))
	TestingSite(h, 1)
	TestingSite(h, 1<<20)
	var b bytes.Buffer
	if err := h.WriteProfile(&b); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "offheap.pb.gz")
	if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("go", "tool", "pprof", "-top", file).CombinedOutput()
	if err != nil || !strings.Contains(string(output), "granary/heap.TestingSite") ||
		!strings.Contains(string(output), "Type: inuse_space") {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestMetricsHaveUnitsAndValues(t *testing.T) {
	h := mustNew(t, WithLimit(1<<30))
	p, _ := h.Alloc(100)
	var samples []MetricSample
	for _, m := range Metrics() {
		if !strings.Contains(m.Name, ":") || m.Description == "" {
			t.Errorf("%+v", m)
		}
		samples = append(samples, MetricSample{Name: m.Name})
	}
	samples = append(samples, MetricSample{Name: "/granary/none:bytes"})
	h.ReadMetrics(samples)
	values := map[string]uint64{}
	for i, s := range samples {
		if s.OK != (i < len(samples)-1) {
			t.Errorf("%+v", s)
		}
		values[s.Name] = s.Value
	}
	for name, want := range map[string]uint64{
		"/granary/heap/blocks:objects": 1, "/granary/heap/blocks:bytes": uint64(h.UsableSize(p)),
		"/granary/heap/allocs:objects": 1, "/granary/heap/allocs:bytes": 100, "/granary/limit:bytes": 1 << 30,
	} {
		if values[name] != want {
			t.Errorf("%s is %d, want %d", name, values[name], want)
		}
	}
	h.Free(p)
}
