// Package prometheus gives the figures of Granary's heaps to Prometheus. It is a module of its own, so that programs
// without Prometheus do not depend on it.
//
//	prometheus.MustRegister(granaryprom.NewCollector())
package prometheus

import (
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"granary/heap"
)

// collector reads one snapshot of every heap that is open at each collection.
type collector struct {
	metrics   []heap.Metric
	heaps     []*prometheus.Desc // of metrics
	tagBlocks *prometheus.Desc
	tagBytes  *prometheus.Desc
	classLive *prometheus.Desc
}

// NewCollector makes a collector of all heaps. Their names become the label "heap", empty for heaps without one. Heaps
// that share a name are added up.
func NewCollector() prometheus.Collector {
	c := &collector{
		metrics: heap.Metrics(),
		tagBlocks: prometheus.NewDesc("granary_tag_blocks", "Blocks of a tag that are alive.",
			[]string{"heap", "tag"}, nil),
		tagBytes: prometheus.NewDesc("granary_tag_bytes", "Bytes of the blocks of a tag that are alive.",
			[]string{"heap", "tag"}, nil),
		classLive: prometheus.NewDesc("granary_class_blocks", "Blocks of a size class that are alive.",
			[]string{"heap", "class"}, nil),
	}
	for _, m := range c.metrics {
		c.heaps = append(c.heaps, prometheus.NewDesc(nameOf(&m), m.Description, []string{"heap"}, nil))
	}
	return c
}

// nameOf makes granary_heap_allocs_objects_total of /granary/heap/allocs:objects.
func nameOf(m *heap.Metric) string {
	name := strings.NewReplacer("/", "_", ":", "_").Replace(strings.TrimPrefix(m.Name, "/"))
	if m.Cumulative {
		name += "_total"
	}
	return name
}

// Describe sends what there can be.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range c.heaps {
		ch <- desc
	}
	ch <- c.tagBlocks
	ch <- c.tagBytes
	ch <- c.classLive
}

// labels are those of a figure beside its heap.
type labels struct {
	desc        *prometheus.Desc
	heap, other string
}

// Collect sends what there is.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	totals := map[string][]float64{}
	others := map[labels]float64{}
	for _, h := range heap.Heaps() {
		s := h.Stats()
		total := totals[s.Name]
		if total == nil {
			total = make([]float64, len(c.metrics))
			totals[s.Name] = total
		}
		for i := range c.metrics {
			total[i] += float64(c.metrics[i].Value(&s))
		}
		for _, tag := range s.Tags {
			others[labels{c.tagBlocks, s.Name, tag.Name}] += float64(tag.Blocks)
			others[labels{c.tagBytes, s.Name, tag.Name}] += float64(tag.Bytes)
		}
		for _, class := range s.Classes {
			others[labels{c.classLive, s.Name, strconv.Itoa(class.BlockBytes)}] += float64(class.Live)
		}
	}
	for name, total := range totals {
		for i, desc := range c.heaps {
			kind := prometheus.GaugeValue
			if c.metrics[i].Cumulative {
				kind = prometheus.CounterValue
			}
			ch <- prometheus.MustNewConstMetric(desc, kind, total[i], name)
		}
	}
	for l, value := range others {
		ch <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, value, l.heap, l.other)
	}
}
