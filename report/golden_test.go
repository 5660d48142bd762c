package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// golden_test.go: summaries of ten real logs, each figure taken from the log by hand (or, for sums,
// by a few words of awk) and not from this package.

// summary lists what a report holds, a line a part.
func summary(r *Report) string {
	var b strings.Builder
	u := r.Usage
	frames, _ := u.Frames()
	threads := int64(0)
	for i := range u.Stacks {
		threads += max(1, u.Stacks[i].Threads.N)
	}
	fmt.Fprintf(&b, "lines %d-%d, %s, %d frames, %d stacks of %d threads\n", u.First, u.Last,
		r.Build(), frames, len(u.Stacks), threads)
	for i := range u.Stacks {
		s := &u.Stacks[i]
		if s.Text == mainStack || strings.HasSuffix(s.Text, "PreloadManager") {
			fmt.Fprintf(&b, "%s: %v, %v, %v, %d\n", s.Text, s.Initial, s.Current, s.Peak, s.Overflow.N)
		}
	}
	if bucket := u.SharedBucket(); bucket != nil {
		header, _ := bucket.Header()
		fmt.Fprintf(&b, "bucket: %v x %v, peak %v, %d rows, failed %d, header %d\n", bucket.Block,
			bucket.Used, bucket.Peak, len(bucket.Rows), bucket.Failed(), header)
	}
	for i := range u.Linears {
		l := &u.Linears[i]
		if l.Text == jobTempName || l.Text == backgroundName {
			fmt.Fprintf(&b, "%s: %v x %d, %d large, %d full\n", l.Text, l.Block, l.Used.N,
				l.TooLarge.N, l.Full.N)
		}
	}
	for _, h := range u.AllHeaps() {
		fmt.Fprintf(&b, "%s: %v x %v, %v, %v\n", strings.TrimPrefix(h.Text, "ALLOC_"), h.Block,
			h.Blocks, h.Peak, h.Large)
	}
	return b.String()
}

var goldenSummaries = map[string][]string{
	"001": {`lines 8-253, release player, 357807 frames, 30 stacks of 39 threads
ALLOC_TEMP_MAIN: 4.0 MB, 4.0 MB, 2.3 MB, 0
ALLOC_TEMP_Loading.PreloadManager: 256.0 KB, 368.0 KB, 350.1 KB, 4
bucket: 4.0 MB x 1, peak 3.5 MB, 0 rows, failed 0, header 0
ALLOC_TEMP_JOB_4_FRAMES (JobTemp): 2.0 MB x 4, 0 large, 0 full
ALLOC_TEMP_JOB_ASYNC (Background): 1.0 MB x 3, 0 large, 0 full
DEFAULT_MAIN: 16.0 MB x 2, 22.2 MB, 0 B
DEFAULT_THREAD: 16.0 MB x 1, 20.2 MB, 16.0 MB
GFX_MAIN: 16.0 MB x 1, 8.7 MB, 0 B
GFX_THREAD: 16.0 MB x 1, 6.0 MB, 0 B
CACHEOBJECTS_MAIN: 4.0 MB x 5, 30.6 MB, 12.6 MB
CACHEOBJECTS_THREAD: 4.0 MB x 2, 4.3 MB, 0 B
TYPETREE_MAIN: 2.0 MB x 1, 11.9 KB, 0 B
TYPETREE_THREAD: 2.0 MB x 1, 5.4 KB, 0 B
`},
	"005": {`lines 8-319, release player, 221799 frames, 36 stacks of 51 threads
ALLOC_TEMP_MAIN: 4.0 MB, 7.3 MB, 6.9 MB, 481
ALLOC_TEMP_Loading.PreloadManager: 256.0 KB, 452.0 KB, 418.8 KB, 952
bucket: 4.0 MB x 1, peak 4.0 MB, 8 rows, failed 76465499, header 0
ALLOC_TEMP_JOB_4_FRAMES (JobTemp): 2.0 MB x 1, 74 large, 0 full
ALLOC_TEMP_JOB_ASYNC (Background): 1.0 MB x 1, 44 large, 0 full
DEFAULT_MAIN: 16.0 MB x 17, 425.0 MB, 201.7 MB
DEFAULT_THREAD: 16.0 MB x 7, 0.51 GB, 495.1 MB
GFX_MAIN: 16.0 MB x 2, 21.8 MB, 0 B
GFX_THREAD: 16.0 MB x 6, 85.0 MB, 0 B
CACHEOBJECTS_MAIN: 4.0 MB x 23, 181.8 MB, 127.2 MB
CACHEOBJECTS_THREAD: 4.0 MB x 84, 329.2 MB, 45.7 MB
TYPETREE_MAIN: 2.0 MB x 1, 188.0 KB, 0 B
TYPETREE_THREAD: 2.0 MB x 1, 55.3 KB, 0 B
`},
	"007": {`lines 10-411, release player, 8540 frames, 54 stacks of 99 threads
ALLOC_TEMP_MAIN: 4.0 MB, 5.6 MB, 5.6 MB, 3
ALLOC_TEMP_Loading.PreloadManager: 256.0 KB, 256.0 KB, 3.6 KB, 4
bucket: 4.0 MB x 1, peak 4.0 MB, 8 rows, failed 334645, header 0
ALLOC_TEMP_JOB_4_FRAMES (JobTemp): 2.0 MB x 1, 2 large, 0 full
ALLOC_TEMP_JOB_ASYNC (Background): 1.0 MB x 1, 0 large, 0 full
DEFAULT_MAIN: 16.0 MB x 12, 205.5 MB, 47.2 MB
DEFAULT_THREAD: 16.0 MB x 2, 16.9 MB, 0 B
GFX_MAIN: 16.0 MB x 2, 472.4 MB, 469.0 MB
GFX_THREAD: 16.0 MB x 1, 6.2 KB, 0 B
CACHEOBJECTS_MAIN: 4.0 MB x 5, 17.6 MB, 2.0 MB
CACHEOBJECTS_THREAD: 4.0 MB x 1, 0.6 MB, 0 B
TYPETREE_MAIN: 2.0 MB x 1, 49.9 KB, 0 B
TYPETREE_THREAD: 2.0 MB x 0, 0 B, 0 B
`},
	"009": {`lines 10-337, development player, 17067 frames, 36 stacks of 48 threads
ALLOC_TEMP_MAIN: 4.0 MB, 8.0 MB, 8.0 MB, 14
ALLOC_TEMP_Loading.PreloadManager: 256.0 KB, 0.5 MB, 504.5 KB, 183562
bucket: 4.0 MB x 1, peak 2.2 MB, 8 rows, failed 9648783, header 32
ALLOC_TEMP_JOB_4_FRAMES (JobTemp): 2.0 MB x 1, 0 large, 0 full
ALLOC_TEMP_JOB_ASYNC (Background): 1.0 MB x 1, 2 large, 0 full
MEMORYPROFILER: 1.0 MB x 53, 50.2 MB, 0 B
PROFILER: 16.0 MB x 3, 33.3 MB, 0 B
DEFAULT_MAIN: 16.0 MB x 44, 0.57 GB, 88.0 MB
DEFAULT_THREAD: 16.0 MB x 12, 216.5 MB, 88.0 MB
GFX_MAIN: 16.0 MB x 34, 484.7 MB, 0 B
GFX_THREAD: 16.0 MB x 46, 0.70 GB, 42.7 MB
CACHEOBJECTS_MAIN: 4.0 MB x 16, 84.0 MB, 23.4 MB
CACHEOBJECTS_THREAD: 4.0 MB x 514, 2.00 GB, 308.1 MB
TYPETREE_MAIN: 2.0 MB x 1, 9.6 KB, 0 B
TYPETREE_THREAD: 2.0 MB x 1, 1.1 MB, 0 B
`},
	// Cut in the bucket table, behind the job memory and in front of it.
	"012": {`lines 4-70, release player, 25973 frames, 6 stacks of 6 threads
ALLOC_TEMP_MAIN: 4.0 MB, 8.0 MB, 7.8 MB, 29631
ALLOC_TEMP_Loading.PreloadManager: 256.0 KB, 0.5 MB, 511.9 KB, 32755
bucket: unknown x unknown, peak unknown, 5 rows, failed 725994, header 0
ALLOC_TEMP_JOB_4_FRAMES (JobTemp): 2.0 MB x 5, 0 large, 0 full
DEFAULT_MAIN: 16.0 MB x 8, 140.7 MB, 63.3 MB
DEFAULT_THREAD: 16.0 MB x 6, 103.5 MB, 64.0 MB
`},
	// Cut at both ends; the first heap has no name, its place tells it.
	"014": {`lines 4-38, release player, 38896 frames, 0 stacks of 0 threads
bucket: 4.0 MB x 1, peak 4.0 MB, 3 rows, failed 464378, header 0
ALLOC_TEMP_JOB_4_FRAMES (JobTemp): 2.0 MB x 17, 0 large, 0 full
ALLOC_TEMP_JOB_ASYNC (Background): 1.0 MB x 24, 0 large, 0 full
DEFAULT_THREAD: 16.0 MB x 6, 89.2 MB, 64.0 MB
`},
	// The two copies of the bucket table are cut differently; together they are whole.
	"019": {`lines 4-66, release player, 355 frames, 7 stacks of 7 threads
bucket: 4.0 MB x 1, peak 4.0 MB, 8 rows, failed 35414439, header 0
CACHEOBJECTS_MAIN: 4.0 MB x 389, 1.43 GB, 406.6 MB
CACHEOBJECTS_THREAD: 4.0 MB x 1, 1.3 MB, 0 B
`},
	// Android logcat: the histogram is spread over three records.
	"023": {`lines 5-35, development player, 310 frames, 3 stacks of 3 threads
bucket: 4.0 MB x 1, peak 0.9 MB, 0 rows, failed 0, header 0
MEMORYPROFILER: unknown x unknown, unknown, 0 B
DEFAULT_MAIN: 16.0 MB x 3, 44.3 MB, 8.0 MB
DEFAULT_THREAD: unknown x unknown, unknown, unknown
`},
	"027": {`lines 6-75, build unknown, 4 frames, 13 stacks of 13 threads
ALLOC_TEMP_MAIN: 4.0 MB, 4.0 MB, 2.1 MB, 0
ALLOC_TEMP_Loading.PreloadManager: 256.0 KB, 256.0 KB, 125.1 KB, 4
`},
	// Five snippets of the manual; the last two cannot be told apart from one report.
	"047": {`lines 5-17, development player, 0 frames, 0 stacks of 0 threads
bucket: 4.0 MB x 1, peak 2.0 MB, 8 rows, failed 261434, header 40
`, `lines 19-36, build unknown, 8284 frames, 0 stacks of 0 threads
bucket: 4.0 MB x 1, peak 3.3 MB, 0 rows, failed 0, header 0
DEFAULT_MAIN: 16.0 MB x 2, 53.3 MB, 40.2 MB
DEFAULT_THREAD: 16.0 MB x 2, 78.3 MB, 47.3 MB
`, `lines 38-43, build unknown, 498 frames, 0 stacks of 0 threads
DEFAULT_MAIN: 16.0 MB x 2, 54.2 MB, 40.2 MB
`, `lines 45-63, build unknown, 1227 frames, 2 stacks of 2 threads
ALLOC_TEMP_MAIN: 4.0 MB, 4.0 MB, 2.7 MB, 0
ALLOC_TEMP_JOB_4_FRAMES (JobTemp): 0.5 MB x 64, 0 large, 50408 full
`},
}

func TestSummariesOfTenRealLogsAreThoseWrittenDownByHand(t *testing.T) {
	there := realLogs(t)
	for name, want := range goldenSummaries {
		if !slices.Contains(there, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			log, _, _ := readCase(t, name)
			reports, _ := log.usages()
			if len(reports) != len(want) {
				t.Fatalf("got %d reports, want %d", len(reports), len(want))
			}
			for i := range reports {
				if got := summary(reports[i]); got != want[i] {
					t.Errorf("report %d:\n%s\nwant\n%s", i+1, got, want[i])
				}
			}
		})
	}
}

func TestHistogramsOfOneReportAgreeOnTheNumberOfFrames(t *testing.T) {
	there := realLogs(t)
	for _, name := range []string{"001", "003", "005", "007", "009"} {
		if !slices.Contains(there, name) {
			continue
		}
		log, _, _ := readCase(t, name)
		for i := range log.Reports {
			if frames, exact := log.Reports[i].Usage.Frames(); frames == 0 || !exact {
				t.Errorf("%s: %d frames, agreed: %v", name, frames, exact)
			}
		}
	}
}
