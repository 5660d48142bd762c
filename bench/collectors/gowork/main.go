// Command gowork is the collectors' benchmark in Go: the workloads of the folder c, with the same work and the same
// checksums, on Go's own heap (-heap go) or on package managed (-heap managed).
//
//	gowork [-heap go|managed] [-scale PERCENT] WORKLOAD
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime/metrics"
	"time"
)

// outcome is what a workload reports; the names are those of the lines that the runner reads.
type outcome struct {
	checksum    uint64
	collections uint64
	pauseMax    time.Duration
	pauseTotal  time.Duration
}

var workloads = map[string]map[string]func(scale float64) uint64{
	"go": {
		"gcbench": gcbench, "binary_trees": binaryTrees, "linked_list": linkedList, "string_table": stringTable,
		"large_arrays": largeArrays, "weak_objects": weakObjects,
	},
	"managed": {
		"gcbench": onManaged(managedGcbench), "binary_trees": onManaged(managedBinaryTrees),
		"linked_list": onManaged(managedLinkedList), "string_table": onManaged(managedStringTable),
		"large_arrays": onManaged(managedLargeArrays), "weak_objects": onManaged(managedWeakObjects),
	},
}

func main() {
	heap := flag.String("heap", "go", "the heap: go or managed")
	percent := flag.Float64("scale", 100, "the amount of work in percent")
	flag.Parse()
	work := workloads[*heap][flag.Arg(0)]
	if work == nil || *percent <= 0 {
		fmt.Fprintf(os.Stderr, "there is no workload %q for heap %q\n", flag.Arg(0), *heap)
		os.Exit(2)
	}
	began := time.Now()
	checksum := work(*percent / 100)
	took := time.Since(began)
	result := goOutcome()
	if *heap == "managed" {
		result = managedOutcome()
	}
	fmt.Printf("seconds=%.6f\nchecksum=%016x\ncollections=%d\npause_max_us=%d\npause_total_us=%d\n", took.Seconds(),
		checksum, result.collections, result.pauseMax.Microseconds(), result.pauseTotal.Microseconds())
}

// goOutcome reads what the Go runtime says of its collections. A pause is the time for which the world stood.
func goOutcome() outcome {
	samples := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}, {Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(samples)
	result := outcome{collections: samples[0].Value.Uint64()}
	pauses := samples[1].Value.Float64Histogram()
	for i, count := range pauses.Counts {
		if count == 0 {
			continue
		}
		upper := pauses.Buckets[i+1]
		if math.IsInf(upper, 1) {
			upper = pauses.Buckets[i]
		}
		pause := time.Duration(upper * float64(time.Second))
		result.pauseMax = pause
		result.pauseTotal += time.Duration(count) * pause
	}
	return result
}

func scaled(scale float64, count, least int) int { return max(int(float64(count)*scale), least) }

// random is splitmix64.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(limit uint32) int { return int((r.next() >> 32) * uint64(limit) >> 32) }

func mix(value uint64) uint64 {
	r := random(value)
	return r.next()
}

// bit is 1 for true.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
