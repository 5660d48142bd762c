package heap

import (
	"sync/atomic"

	"granary/internal/core/space"
)

// ClassStats are the figures of one class; see granary_class_stats in granary.h, whose layout this is.
type ClassStats struct {
	BlockBytes, SpanBytes        uint32
	Mallocs, AskedBytes          uint64
	Blocks, BlocksPeak           uint64
	BlocksCached                 uint64
	BatchesIn, BatchesOut        uint64
	Spans, SpansPeak, SpansTaken uint64
}

// AllStats are the figures of a heap; see granary_stats in granary.h, whose layout this is.
type AllStats struct {
	Version, ClassCount              uint32
	Classes                          [ClassCount]ClassStats
	RangeBytes, UsedPeakBytes        uint64
	SpanBytes                        uint64
	ResidentBytes, ResidentPeakBytes uint64
	MetadataBytes                    uint64
	SpansReleased, ReleasedBytes     uint64
	Sweeps                           uint64
	ThreadCaches, ThreadCachesPeak   uint64
	NormalMallocs, NormalFrees       uint64
	NormalBytes, NormalLiveBytes     uint64
	OverflowMallocs, LimitFailures   uint64
	LimitBytes                       uint64
}

// StatsVersion is the version of that layout.
const StatsVersion = 1

// ReadStats fills stats. Other threads may allocate meanwhile: each value is exact for some moment.
func (h *Heap) ReadStats(stats *AllStats) {
	*stats = AllStats{Version: StatsVersion, ClassCount: ClassCount}
	for class := uintptr(1); class <= ClassCount; class++ {
		h.readClass(class, &stats.Classes[class-1])
		stats.SpanBytes += stats.Classes[class-1].Spans * uint64(stats.Classes[class-1].SpanBytes)
	}
	sp := h.Stats()
	stats.RangeBytes = uint64(sp.Range)
	stats.UsedPeakBytes = uint64(sp.HeldPeak)
	stats.ResidentBytes = h.residentBytes(uint64(sp.Dirty))
	stats.ResidentPeakBytes = uint64(sp.HeldPeak)
	stats.MetadataBytes = uint64(sp.Meta)
	stats.SpansReleased, stats.ReleasedBytes = sp.ReleasedRuns, sp.ReleasedBytes
	stats.Sweeps = h.sweeps
	stats.ThreadCaches, stats.ThreadCachesPeak = uint64(h.cacheCount), uint64(h.cachesPeak)
	stats.NormalMallocs = atomic.LoadUint64(&h.lost.mallocs)
	stats.NormalFrees = atomic.LoadUint64(&h.lost.frees)
	stats.NormalBytes = atomic.LoadUint64(&h.lost.bytes)
	live := atomic.LoadInt64(&h.lost.live)
	for c := h.firstCache(); c != 0; c = c.header().next {
		n := &c.header().normal
		stats.NormalMallocs += n.mallocs
		stats.NormalFrees += n.frees
		stats.NormalBytes += n.bytes
		live += n.live
	}
	if live > 0 {
		stats.NormalLiveBytes = uint64(live)
	}
	stats.OverflowMallocs = atomic.LoadUint64(&h.overflows)
	stats.LimitFailures = atomic.LoadUint64(&h.limitFailures)
	stats.LimitBytes = uint64(h.limit)
}

func (h *Heap) readClass(class uintptr, stats *ClassStats) {
	info := &classTable[class&63]
	ctl := &h.classes[class&63]
	stats.BlockBytes, stats.SpanBytes = info.bytes, info.spanBytes
	stats.BlocksCached = uint64(ctl.waiting()) * uint64(info.batch)
	for c := h.firstCache(); c != 0; c = c.header().next {
		b := c.classBin(class)
		stats.Mallocs += b.mallocs
		stats.AskedBytes += b.asked
		stats.BlocksCached += uint64(b.count())
	}
	if ctl.out > stats.BlocksCached {
		stats.Blocks = ctl.out - stats.BlocksCached
	}
	stats.BlocksPeak = ctl.outPeak
	for i := range ctl.depots {
		stats.BatchesIn += ctl.depots[i].in
		stats.BatchesOut += ctl.depots[i].out
	}
	stats.Spans, stats.SpansPeak = uint64(ctl.spans), uint64(ctl.spansPeak)
	stats.SpansTaken = ctl.spansTaken
}

// residentBytes is the memory of the range that may be in use or not given back: the touched part of each span, blocks
// of the normal tier, and the dirty runs. Free pages inside of a span that the sweep gave back still count.
func (h *Heap) residentBytes(dirty uint64) uint64 {
	total := dirty
	for g := uintptr(space.First); g < h.Frontier(); {
		ref := space.Ref(g)
		if s := h.normalRun(ref); s.class == classNormal {
			total += uint64(s.bytes)
		}
		if class := classOf(uintptr(h.OwnerOf(h.Addr(ref)))); class != 0 {
			s := h.span(ref)
			touched := s.fresh
			if s.zeroFrom > touched {
				touched = s.zeroFrom
			}
			total += uint64(touched) * uint64(classTable[class&63].bytes)
		}
		g += h.Granules(ref)
	}
	return total
}

// NormalRuns counts the blocks of the normal tier that lie in runs of the range, and their bytes.
func (h *Heap) NormalRuns() (blocks, bytes uint64) {
	for g := uintptr(space.First); g < h.Frontier(); g += h.Granules(space.Ref(g)) {
		if run := h.normalRun(space.Ref(g)); run.class == classNormal {
			blocks++
			bytes += uint64(run.bytes)
		}
	}
	return blocks, bytes
}
