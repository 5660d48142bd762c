package heap

import (
	"fmt"
	"log/slog"

	core "granary/internal/core/heap"
)

// Stats are the figures of a heap at one moment; other goroutines may go on meanwhile, so that sums can be off by what
// they did.
type Stats struct {
	Name       string `json:"name,omitempty"`
	LiveBlocks int64  `json:"liveBlocks"`
	LiveBytes  int64  `json:"liveBytes"` // as blocks are, rounded up to their class
	Mallocs    uint64 `json:"mallocs"`   // since the start
	AskedBytes uint64 `json:"askedBytes"`

	UsedBytes     int64  `json:"usedBytes"`     // of spans and large blocks: what a limit counts
	ResidentBytes int64  `json:"residentBytes"` // used and touched, or free and not given back
	PeakBytes     int64  `json:"peakBytes"`     // the most that was used or free and not given back
	MetadataBytes int64  `json:"metadataBytes"`
	RegionBytes   int64  `json:"regionBytes,omitempty"` // of Regions, beside all those; a limit counts them too
	ReleasedBytes uint64 `json:"releasedBytes"`         // since the start
	Sweeps        uint64 `json:"sweeps"`

	LimitBytes    int64  `json:"limitBytes,omitempty"`
	LimitFailures uint64 `json:"limitFailures,omitempty"`
	Overflows     uint64 `json:"overflows,omitempty"` // small blocks for which the range was full
	Caches        int    `json:"caches"`

	Classes []ClassStats `json:"classes,omitempty"` // those that were ever used
	Tags    []TagStats   `json:"tags,omitempty"`
}

// ClassStats are the figures of a size class.
type ClassStats struct {
	BlockBytes int    `json:"blockBytes"`
	Live       int64  `json:"live"`
	Peak       int64  `json:"peak"`
	Cached     int64  `json:"cached"` // free, in caches and in the shared pool
	Spans      int64  `json:"spans"`
	Mallocs    uint64 `json:"mallocs"`
}

// Stats reads the figures. It is the zero Stats for a heap that was closed.
func (h *Heap) Stats() Stats {
	if h.enter() != nil {
		return Stats{Name: h.options.name}
	}
	defer h.leave()
	var all core.AllStats
	h.core.ReadStats(&all)
	s := Stats{
		Name:          h.options.name,
		Mallocs:       all.NormalMallocs,
		AskedBytes:    all.NormalBytes,
		UsedBytes:     int64(h.core.UsedBytes()),
		ResidentBytes: int64(all.ResidentBytes),
		PeakBytes:     int64(all.ResidentPeakBytes),
		MetadataBytes: int64(all.MetadataBytes),
		RegionBytes:   h.regionBytes.Load(),
		ReleasedBytes: all.ReleasedBytes,
		Sweeps:        all.Sweeps,
		LimitBytes:    int64(all.LimitBytes),
		LimitFailures: all.LimitFailures,
		Overflows:     all.OverflowMallocs,
		Caches:        int(all.ThreadCaches),
	}
	s.LiveBlocks = int64(all.NormalMallocs+all.OverflowMallocs) - int64(all.NormalFrees)
	s.LiveBytes = int64(all.NormalLiveBytes)
	for i := range all.Classes {
		s.addClass(&all.Classes[i])
	}
	if h.debug != nil {
		s.LiveBlocks, s.LiveBytes = 0, 0
		for _, leak := range h.debug.leaks() {
			s.LiveBlocks += leak.Blocks
			s.LiveBytes += leak.Bytes
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, tag := range h.tags {
		s.Tags = append(s.Tags, tag.Stats())
	}
	return s
}

func (s *Stats) addClass(c *core.ClassStats) {
	if c.SpansTaken == 0 {
		return
	}
	s.LiveBlocks += int64(c.Blocks)
	s.LiveBytes += int64(c.Blocks) * int64(c.BlockBytes)
	s.Mallocs += c.Mallocs
	s.AskedBytes += c.AskedBytes
	s.Classes = append(s.Classes, ClassStats{
		BlockBytes: int(c.BlockBytes), Live: int64(c.Blocks), Peak: int64(c.BlocksPeak),
		Cached: int64(c.BlocksCached), Spans: int64(c.Spans), Mallocs: c.Mallocs,
	})
}

func (s Stats) String() string {
	return fmt.Sprintf("%d blocks, %d bytes alive; %d bytes resident, at most %d; %d allocations",
		s.LiveBlocks, s.LiveBytes, s.ResidentBytes, s.PeakBytes, s.Mallocs)
}

// LogValue has the main figures.
func (s Stats) LogValue() slog.Value {
	return slog.GroupValue(slog.String("name", s.Name), slog.Int64("liveBlocks", s.LiveBlocks),
		slog.Int64("liveBytes", s.LiveBytes), slog.Int64("residentBytes", s.ResidentBytes),
		slog.Uint64("mallocs", s.Mallocs))
}
