package heap_test

import (
	"fmt"
	"strings"

	"granary/heap"
)

// main can begin with: defer heap.ReportLeaks(os.Stderr)
func ExampleReportLeaks() {
	h := must(heap.New(heap.WithName("rooms")))
	defer h.Close()
	must(h.Alloc(100))
	var report strings.Builder
	blocks, err := heap.ReportLeaks(&report)
	fmt.Println(blocks > 0, err, strings.Contains(report.String(), "leak"))
	// Output: true <nil> true
}

func ExampleMetrics() {
	h := must(heap.New(heap.WithName("rooms")))
	defer h.Close()
	must(h.Alloc(100))
	stats := h.Stats() // one snapshot for all figures
	for _, m := range heap.Metrics() {
		if m.Name == "/granary/heap/blocks:objects" {
			fmt.Println(m.Value(&stats), m.Cumulative)
		}
	}
	// Output: 1 false
}

func ExampleHeaps() {
	h := must(heap.New(heap.WithName("rooms"), heap.WithTags("walls", "doors")))
	defer h.Close()
	must(h.Tag("doors").Alloc(100))
	for _, open := range heap.Heaps() {
		for _, tag := range open.Stats().Tags {
			fmt.Println(open.Name(), tag.Name, tag.Blocks)
		}
	}
	// Output:
	// rooms walls 0
	// rooms doors 1
}

// A program that has nothing to do gives memory back that has been free for a second.
func ExampleIdle() {
	h := must(heap.New(heap.WithTicker(false)))
	defer h.Close()
	b := must(h.Bytes(1 << 20))
	h.FreeBytes(b)
	heap.Idle()
	fmt.Println(h.Trim().Bytes >= 1<<20) // at once
	// Output: true
}

func ExampleAvailableMemory() {
	h := must(heap.New(heap.WithMemoryShare(0.5)))
	defer h.Close()
	half := heap.AvailableMemory() / 2
	fmt.Println(uint64(h.Stats().LimitBytes) <= half+1<<16)
	// Output: true
}

func ExampleMisuseError() {
	h := must(heap.New(heap.WithDebug(true)))
	defer h.Close()
	p := must(heap.Make[point](h))
	fmt.Println(heap.Free(h, p))
	misuse, ok := heap.Free(h, p).(*heap.MisuseError)
	fmt.Println(ok, misuse.Kind, len(misuse.FreedAt) > 0)
	// Output:
	// <nil>
	// true block was already freed true
}
