package prometheus

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"granary/heap"
)

func TestTheCollectorPassesTheLintAndHasTheFigures(t *testing.T) {
	for range 2 { // two heaps of one name are added up
		h, err := heap.New(heap.WithName("orders"))
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		if _, err := h.Tag("index").Alloc(100); err != nil {
			t.Fatal(err)
		}
	}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(NewCollector())
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
	want := `
# HELP granary_heap_allocs_objects_total Blocks allocated.
# TYPE granary_heap_allocs_objects_total counter
granary_heap_allocs_objects_total{heap="orders"} 2
# HELP granary_heap_blocks_bytes Bytes of the blocks that are alive, rounded up to their size classes.
# TYPE granary_heap_blocks_bytes gauge
granary_heap_blocks_bytes{heap="orders"} 224
# HELP granary_tag_blocks Blocks of a tag that are alive.
# TYPE granary_tag_blocks gauge
granary_tag_blocks{heap="orders",tag="index"} 2
# HELP granary_class_blocks Blocks of a size class that are alive.
# TYPE granary_class_blocks gauge
granary_class_blocks{class="112",heap="orders"} 2
`
	err = testutil.GatherAndCompare(registry, strings.NewReader(want), "granary_heap_allocs_objects_total",
		"granary_heap_blocks_bytes", "granary_tag_blocks", "granary_class_blocks")
	if err != nil {
		t.Error(err)
	}
}
