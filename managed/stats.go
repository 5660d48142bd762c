package managed

import (
	"fmt"
	"io"
	"math/bits"
	"slices"
	"text/tabwriter"
	"time"

	core "granary/internal/core/gc"
)

// pauses counts how long mutators stood. Under Heap.pausesMu.
type pauses struct {
	buckets          [pauseBuckets]uint64
	number           uint64
	total, most      time.Duration
	waited           time.Duration
	incremental      uint64 // collections
	last             Collection
	survived, before float64 // bytes, in all collections
}

// Pauses are counted in buckets: four for each doubling of nanoseconds.
const (
	pauseSteps   = 2 // log2 of buckets a doubling
	pauseBuckets = 64 << pauseSteps
)

func pauseBucket(pause time.Duration) int {
	n := uint64(max(pause, 1<<pauseSteps))
	doubling := bits.Len64(n) - 1
	return doubling<<pauseSteps | int(n>>(doubling-pauseSteps)&(1<<pauseSteps-1))
}

// pauseLimit is the longest pause of a bucket.
func pauseLimit(bucket int) time.Duration {
	doubling, step := bucket>>pauseSteps, bucket&(1<<pauseSteps-1)
	if doubling < pauseSteps {
		return 0
	}
	return time.Duration((1<<pauseSteps+step+1)<<(doubling-pauseSteps)) - 1
}

func (p *pauses) add(pause, waited time.Duration) {
	p.buckets[pauseBucket(pause)]++
	p.number++
	p.total += pause
	p.waited += waited
	p.most = max(p.most, pause)
}

func (p *pauses) count(c *Collection) {
	if c.Incremental {
		p.incremental++
	}
	p.last = *c
	p.survived += float64(c.LiveBytes)
	p.before += float64(max(c.BeforeBytes, c.LiveBytes))
}

// percentile is a time that so many percent of the pauses did not exceed.
func (p *pauses) percentile(percent float64) time.Duration {
	rest := uint64(float64(p.number) * percent / 100)
	for bucket, count := range p.buckets {
		if count > rest {
			return min(pauseLimit(bucket), p.most)
		}
		rest -= count
	}
	return p.most
}

// PauseStats are how long mutators stood, since the heap was made.
type PauseStats struct {
	Number       uint64        `json:"number"`
	Total        time.Duration `json:"total"`
	Waited       time.Duration `json:"waited"` // of Total: until all mutators had come to a safepoint
	Median       time.Duration `json:"median"`
	Percentile90 time.Duration `json:"percentile90"`
	Percentile99 time.Duration `json:"percentile99"`
	Longest      time.Duration `json:"longest"`
	Buckets      []PauseBucket `json:"buckets,omitempty"` // those that are not empty
}

// PauseBucket counts pauses that are longer than those of the bucket before, and not longer than Most.
type PauseBucket struct {
	Most   time.Duration `json:"most"`
	Number uint64        `json:"number"`
}

func (p *pauses) stats() PauseStats {
	s := PauseStats{
		Number: p.number, Total: p.total, Waited: p.waited, Longest: p.most,
		Median: p.percentile(50), Percentile90: p.percentile(90), Percentile99: p.percentile(99),
	}
	for bucket, count := range p.buckets {
		if count != 0 {
			s.Buckets = append(s.Buckets, PauseBucket{pauseLimit(bucket), count})
		}
	}
	return s
}

// Stats are the figures of a heap at one moment. Bytes alive are those that the last collection found.
type Stats struct {
	Name          string `json:"name,omitempty"`
	HeapBytes     int64  `json:"heapBytes"` // blocks: what a limit counts
	UsedBytes     int64  `json:"usedBytes"` // of them, not free
	FreeBytes     int64  `json:"freeBytes"`
	ResidentBytes int64  `json:"residentBytes"` // blocks whose memory has not gone back to the system, and tables
	LargeBytes    int64  `json:"largeBytes"`    // blocks of objects over 2 KiB
	UnsweptBytes  int64  `json:"unsweptBytes"`  // blocks that the last collection left to be swept
	MetadataBytes int64  `json:"metadataBytes"`
	ReleasedBytes uint64 `json:"releasedBytes"` // since the start
	LimitBytes    int64  `json:"limitBytes,omitempty"`

	LiveBytes      int64   `json:"liveBytes"`
	PlainBytes     int64   `json:"plainBytes"`     // of them, in objects without addresses
	SinceBytes     int64   `json:"sinceBytes"`     // allocated since the last collection, less what was freed
	TargetBytes    int64   `json:"targetBytes"`    // SinceBytes at which the next is due
	AllocatedBytes uint64  `json:"allocatedBytes"` // since the start
	FreedBytes     uint64  `json:"freedBytes"`     // of them, with Free
	Fragmentation  float64 `json:"fragmentation"`  // share of the used blocks that holds nothing alive

	Collections uint64     `json:"collections"`
	Incremental uint64     `json:"incremental"` // of them, in slices
	Survival    float64    `json:"survival"`    // share of the bytes before a collection that was alive after it
	Last        Collection `json:"last"`
	Pauses      PauseStats `json:"pauses"`
	Marking     bool       `json:"marking"` // a collection is going on in slices

	Mutators         int          `json:"mutators"`
	Handles          [4]int64     `json:"handles"` // by kind
	Finalizers       uint64       `json:"finalizers"`
	FinalizersReady  uint64       `json:"finalizersReady"`
	FinalizersRun    uint64       `json:"finalizersRun"`
	Cycles           uint64       `json:"cycles"` // times that a finalizer was found in a cycle: see Topological
	Links            uint64       `json:"links"`  // weak references
	LinksCleared     uint64       `json:"linksCleared"`
	Wrappers         WrapperStats `json:"wrappers"`
	Kinds            []KindStats  `json:"kinds,omitempty"`
	BlacklistedBytes int64        `json:"blacklistedBytes"` // always 0: the range lies where no integer is likely
}

// KindStats are the figures of the objects of a kind.
type KindStats struct {
	Name         string       `json:"name"`
	LiveBytes    int64        `json:"liveBytes"`
	LargeObjects int64        `json:"largeObjects,omitempty"`
	LargeBytes   int64        `json:"largeBytes,omitempty"`
	Classes      []ClassStats `json:"classes,omitempty"` // those that have blocks
}

// ClassStats are the figures of the objects of a kind and size.
type ClassStats struct {
	ObjectBytes int   `json:"objectBytes"`
	Blocks      int64 `json:"blocks"`
	Objects     int64 `json:"objects"` // that the blocks have room for
	Live        int64 `json:"live"`
	Unswept     int64 `json:"unswept"` // blocks
}

// Stats reads the figures. It looks at every block, so it takes about a millisecond for 100 MB. It is nearly empty for
// a heap that was closed.
func (h *Heap) Stats() Stats {
	s := Stats{Name: h.options.name}
	h.collecting.Lock()
	defer h.collecting.Unlock()
	if !h.usable() {
		return s
	}
	var all core.Stats
	h.core.ReadStats(&all)
	s.HeapBytes, s.FreeBytes = int64(all.HeapBytes), int64(all.FreeBytes)
	s.UsedBytes = s.HeapBytes - s.FreeBytes
	s.MetadataBytes = int64(all.MetaBytes)
	s.ResidentBytes = s.UsedBytes + int64(all.FreeDirtyBytes) + s.MetadataBytes
	s.LargeBytes, s.UnsweptBytes = int64(all.LargeBytes), int64(all.UnsweptBytes)
	s.ReleasedBytes, s.LimitBytes = all.ReleasedBytes, int64(all.LimitBytes)
	s.LiveBytes, s.PlainBytes = int64(all.LiveBytes), int64(all.LivePlainBytes)
	s.SinceBytes, s.TargetBytes = int64(all.SinceBytes), int64(all.TargetBytes)
	s.AllocatedBytes, s.FreedBytes = all.AllocatedBytes, all.FreedBytes
	s.Collections, s.Marking = all.Collections, h.cycle.active
	h.addKinds(&s)
	h.addRest(&s)
	return s
}

func (h *Heap) addKinds(s *Stats) {
	h.typesMu.Lock()
	kinds := []Kind{PointerFree, Conservative, Uncollectable, PointerFreeUncollectable}
	for kind := range h.types.names {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	h.typesMu.Unlock()
	live := int64(0)
	for _, kind := range kinds {
		var k core.KindStats
		h.core.ReadKind(uint32(kind), &k)
		live += int64(k.LiveBytes)
		stats := KindStats{
			LiveBytes: int64(k.LiveBytes), LargeObjects: int64(k.LargeObjects), LargeBytes: int64(k.LargeBytes),
		}
		for i := range k.Classes {
			if c := &k.Classes[i]; c.Blocks != 0 {
				stats.Classes = append(stats.Classes, ClassStats{
					ObjectBytes: int(c.ObjectBytes), Blocks: int64(c.Blocks), Objects: int64(c.Objects),
					Live: int64(c.Live), Unswept: int64(c.UnsweptBlocks),
				})
			}
		}
		if stats.Classes != nil || stats.LargeObjects != 0 {
			h.typesMu.Lock()
			stats.Name = h.kindNameLocked(kind)
			h.typesMu.Unlock()
			s.Kinds = append(s.Kinds, stats)
		}
	}
	if s.UsedBytes > 0 {
		s.Fragmentation = max(0, 1-float64(live)/float64(s.UsedBytes))
	}
}

func (h *Heap) addRest(s *Stats) {
	var f core.FinalizationStats
	h.core.ReadFinalization(&f)
	s.Finalizers, s.FinalizersReady, s.Cycles = f.Finalizers, f.Ready, f.Cycles
	s.Links, s.LinksCleared = f.ShortLinks+f.LongLinks, f.ClearedLinks
	h.finalMu.Lock()
	s.FinalizersRun = h.finalizers.run
	h.finalMu.Unlock()
	strong, weak := h.handles.counts(), h.weak.counts()
	for kind := range s.Handles {
		s.Handles[kind] = strong[kind] + weak[kind]
	}
	h.world.mu.Lock()
	s.Mutators = len(h.world.mutators) - len(h.world.idle)
	h.world.mu.Unlock()
	s.Wrappers = h.wrappers.stats()
	h.pausesMu.Lock()
	defer h.pausesMu.Unlock()
	s.Incremental, s.Last, s.Pauses = h.pauses.incremental, h.pauses.last, h.pauses.stats()
	if h.pauses.before > 0 {
		s.Survival = h.pauses.survived / h.pauses.before
	}
}

func (s Stats) String() string {
	return fmt.Sprintf("%d bytes alive in %d of heap; %d collections, longest pause %v, 99 %% of pauses up to %v",
		s.LiveBytes, s.HeapBytes, s.Collections, s.Pauses.Longest, s.Pauses.Percentile99)
}

// WriteReport writes the figures for people to read.
func (h *Heap) WriteReport(w io.Writer) error {
	s := h.Stats()
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	row := func(what string, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\t\n", what, fmt.Sprintf(format, args...))
	}
	name := s.Name
	if name == "" {
		name = "without a name"
	}
	fmt.Fprintf(w, "Managed heap %s\n", name)
	row("heap", "%s", kib(s.HeapBytes))
	row("used", "%s", kib(s.UsedBytes))
	row("alive at the last collection", "%s", kib(s.LiveBytes))
	row("of it without addresses", "%s", kib(s.PlainBytes))
	row("allocated since", "%s of %s", kib(s.SinceBytes), kib(s.TargetBytes))
	row("used but not alive", "%.1f %%", 100*s.Fragmentation)
	row("unswept", "%s", kib(s.UnsweptBytes))
	row("resident", "%s", kib(s.ResidentBytes))
	row("tables", "%s", kib(s.MetadataBytes))
	row("given back so far", "%s", kib(int64(s.ReleasedBytes)))
	if s.LimitBytes != 0 {
		row("limit", "%s", kib(s.LimitBytes))
	}
	row("black-listed", "%s", kib(s.BlacklistedBytes))
	row("collections", "%d, %d in slices", s.Collections, s.Incremental)
	row("survival", "%.1f %%", 100*s.Survival)
	row("pauses", "%d, %v in all", s.Pauses.Number, s.Pauses.Total.Round(time.Microsecond))
	row("median, 90 %, 99 %, longest", "%v, %v, %v, %v", s.Pauses.Median.Round(time.Microsecond),
		s.Pauses.Percentile90.Round(time.Microsecond), s.Pauses.Percentile99.Round(time.Microsecond),
		s.Pauses.Longest.Round(time.Microsecond))
	row("mutators", "%d", s.Mutators)
	row("handles", "%d normal, %d weak, %d pinned", s.Handles[Normal], s.Handles[WeakShort]+s.Handles[WeakLong],
		s.Handles[Pinned])
	row("finalizers", "%d, %d ready, %d run", s.Finalizers, s.FinalizersReady, s.FinalizersRun)
	row("weak references", "%d, %d cleared", s.Links, s.LinksCleared)
	row("wrappers of native objects", "%d, %d of destroyed ones", s.Wrappers.Alive, s.Wrappers.Destroyed)
	if err := t.Flush(); err != nil {
		return err
	}
	return s.writeKinds(w)
}

func (s *Stats) writeKinds(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "kind\tbytes an object\tblocks\troom for\talive\tunswept blocks\t\n")
	for _, k := range s.Kinds {
		for _, c := range k.Classes {
			fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t\n", k.Name, c.ObjectBytes, c.Blocks, c.Objects, c.Live, c.Unswept)
		}
		if k.LargeObjects != 0 {
			fmt.Fprintf(t, "%s\tlarge: %s\t\t%d\t\t\t\n", k.Name, kib(k.LargeBytes), k.LargeObjects)
		}
	}
	return t.Flush()
}

func kib(bytes int64) string { return fmt.Sprintf("%d KiB", (bytes+1023)/1024) }
