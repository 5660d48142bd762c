package heap

// Metric describes a figure, in the manner of runtime/metrics: the name ends with the unit.
type Metric struct {
	Name        string
	Description string
	Cumulative  bool // only grows
	read        func(*Stats) uint64
}

// MetricSample is a figure that ReadMetrics fills in.
type MetricSample struct {
	Name  string
	Value uint64
	OK    bool // there is a metric of that name
}

func count(n int64) uint64 { return uint64(max(n, 0)) }

var metrics = []Metric{
	{"/granary/heap/blocks:objects", "Blocks that are alive.", false,
		func(s *Stats) uint64 { return count(s.LiveBlocks) }},
	{"/granary/heap/blocks:bytes", "Bytes of the blocks that are alive, rounded up to their size classes.", false,
		func(s *Stats) uint64 { return count(s.LiveBytes) }},
	{"/granary/heap/allocs:objects", "Blocks allocated.", true,
		func(s *Stats) uint64 { return s.Mallocs }},
	{"/granary/heap/allocs:bytes", "Bytes asked for in those allocations.", true,
		func(s *Stats) uint64 { return s.AskedBytes }},
	{"/granary/memory/used:bytes", "Memory of spans and large blocks; what a limit counts.", false,
		func(s *Stats) uint64 { return count(s.UsedBytes) }},
	{"/granary/memory/resident:bytes", "Memory used and touched, or free and not given back.", false,
		func(s *Stats) uint64 { return count(s.ResidentBytes) }},
	{"/granary/memory/metadata:bytes", "Memory of the heap's own tables.", false,
		func(s *Stats) uint64 { return count(s.MetadataBytes) }},
	{"/granary/memory/regions:bytes", "Memory of Regions, beside the used and resident memory.", false,
		func(s *Stats) uint64 { return count(s.RegionBytes) }},
	{"/granary/memory/released:bytes", "Memory given back to the system.", true,
		func(s *Stats) uint64 { return s.ReleasedBytes }},
	{"/granary/limit:bytes", "The heap's limit, 0 for none.", false,
		func(s *Stats) uint64 { return count(s.LimitBytes) }},
	{"/granary/limit/failures:events", "Requests that the limit refused.", true,
		func(s *Stats) uint64 { return s.LimitFailures }},
	{"/granary/sweeps:events", "Sweeps for memory to give back.", true,
		func(s *Stats) uint64 { return s.Sweeps }},
}

// Metrics are all figures that ReadMetrics knows.
func Metrics() []Metric { return append([]Metric(nil), metrics...) }

// Value is the figure in a snapshot.
func (m *Metric) Value(s *Stats) uint64 { return m.read(s) }

// ReadMetrics fills in the values of samples by their names, all from one snapshot.
func (h *Heap) ReadMetrics(samples []MetricSample) {
	s := h.Stats()
	for i := range samples {
		samples[i].Value, samples[i].OK = 0, false
		for j := range metrics {
			if metrics[j].Name == samples[i].Name {
				samples[i].Value, samples[i].OK = metrics[j].read(&s), true
			}
		}
	}
}

// Heaps are all heaps that are open, oldest first.
func Heaps() []*Heap { return all() }
