package report

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"
)

// bench_test.go: how fast long logs are read, and in how much memory. The logs are made in memory;
// a gigabyte is the same 16 MiB over and over, so that the disk plays no part.

// chatter is a game's ordinary log: nothing of interest, but the letters of real log lines.
func chatter(b *bytes.Buffer, lines int) {
	for i := range lines {
		switch i % 5 {
		case 0:
			fmt.Fprintf(b, "[%02d:%02d:%02d.%03d] [1] [INFO] Loaded scene Level_%d in %d ms\n",
				i/3600%24, i/60%60, i%60, i%1000, i%17, i%977)
		case 1:
			fmt.Fprintf(b, "Unloading %d unused Assets to reduce memory usage. Loaded Objects now: %d.\n",
				i%113, 770000+i)
		case 2:
			b.WriteString("NullReferenceException: Object reference not set to an instance of an " +
				"object\n  at Game.World.Update () [0x00000] in <00000000000000000000>:0\n")
		case 3:
			fmt.Fprintf(b, "Total: %d.5213 ms (FindLiveObjects: 56.079300 ms CreateObjectMapping: "+
				"117.4505 ms MarkObjects: 291.6732 ms DeleteObjects: 5.3171 ms)\n", i%700)
		case 4:
			b.WriteString("\n")
		}
	}
}

// repeated reads the same piece until limit bytes came.
type repeated struct {
	piece []byte
	at    int
	left  int64
	peak  uint64 // highest heap seen
	reads int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	if r.reads++; r.reads%256 == 0 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		r.peak = max(r.peak, stats.HeapSys-stats.HeapReleased+stats.StackSys)
	}
	n := copy(p[:min(int64(len(p)), r.left)], r.piece[r.at:])
	r.at = (r.at + n) % len(r.piece)
	r.left -= int64(n)
	return n, nil
}

// longLog is a piece of log with a whole report in every megabyte or so.
func longLog(reports int) []byte {
	var b bytes.Buffer
	for range 16 {
		start := b.Len()
		for b.Len()-start < 1<<20 {
			chatter(&b, 1000)
		}
		for range reports {
			b.Write(sampleReport())
		}
	}
	return b.Bytes()
}

func benchmarkRead(b *testing.B, piece []byte, size int64) {
	debug.FreeOSMemory()
	b.SetBytes(size)
	b.ReportAllocs()
	var peak uint64
	before := processorTime(b)
	for b.Loop() {
		source := &repeated{piece: piece, left: size}
		if _, err := Read(source, Options{}); err != nil {
			b.Fatal(err)
		}
		peak = max(peak, source.peak)
	}
	used := processorTime(b) - before
	b.ReportMetric(float64(peak-uint64(len(piece)))/(1<<20), "peak-MiB")
	b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
}

// processorTime is what the process has used of all processors: on a busy machine it tells more
// than the clock.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func BenchmarkReadLogWithReports(b *testing.B)   { benchmarkRead(b, longLog(1), 1<<30) }
func BenchmarkReadLogOfChatter(b *testing.B)     { benchmarkRead(b, longLog(0), 1<<30) }
func BenchmarkReadLogMostlyReports(b *testing.B) { benchmarkRead(b, longLog(100), 1<<28) }

func BenchmarkReadFloodOfWarnings(b *testing.B) {
	var piece bytes.Buffer
	for i := range 40000 {
		fmt.Fprintf(&piece, "02-05 14:%02d:%02d.%03d 25189 25213 W Unity   : Internal: JobTempAlloc "+
			"has allocations that are more than the maximum lifespan of 4 frames old - this is not "+
			"allowed and likely a leak\n02-05 14:%02d:%02d.%03d 25189 25213 W Unity   : To Debug, "+
			"run app with -diag-job-temp-memory-leak-validation cmd line argument. This will output "+
			"the callstacks of the leaked allocations.\n", i/60%60, i%60, i%1000, i/60%60, i%60, i%1000)
	}
	benchmarkRead(b, piece.Bytes(), 1<<28)
}

func BenchmarkReadOneEndlessLine(b *testing.B) {
	piece := bytes.Repeat([]byte("lorem ipsum allocation of nothing "), 4096)
	benchmarkRead(b, piece, 1<<28)
}
