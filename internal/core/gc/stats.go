package gc

import "granary/internal/core/sys"

// counts are figures for reports. Under Heap.lock.
type counts struct {
	collections uint64
	allocated   uint64  // bytes handed out until the last collection
	freed       uint64  // of them, freed explicitly
	before      uintptr // bytes alive or allocated since as the last collection began
	blocks      uintptr // taken of the space
	large       uintptr // of them, in large objects
	released    uint64  // bytes of free blocks that went back to the system
	unswept     uintptr // that wait to be swept
	scanned     uintptr // bytes of objects with addresses that the last collection left alive
	plain       uintptr // of those without
}

// Stats are the figures of a heap as a whole, in bytes but where the name says otherwise. What a cache holds counts as
// allocated.
type Stats struct {
	RangeBytes     uint64 // of addresses reserved
	LimitBytes     uint64 // what blocks may take, 0: the range
	HeapBytes      uint64 // blocks
	FreeBytes      uint64 // free blocks
	FreeDirtyBytes uint64 // of them, those whose memory has not gone back to the system
	LargeBytes     uint64 // blocks of large objects
	UnsweptBytes   uint64 // blocks that wait to be swept
	MetaBytes      uint64 // tables
	ReleasedBytes  uint64 // of free blocks, given back to the system since the start

	Collections    uint64
	LiveBytes      uint64 // that the last collection left alive
	LivePlainBytes uint64 // of them, in objects that hold no addresses
	BeforeBytes    uint64 // alive or allocated since as it began: LiveBytes/BeforeBytes is what survived
	SinceBytes     uint64 // allocated since, less what was freed
	TargetBytes    uint64 // that SinceBytes must reach for the next
	AllocatedBytes uint64 // since the start
	FreedBytes     uint64 // of them, freed explicitly
}

// ReadStats fills stats.
func (h *Heap) ReadStats(stats *Stats) {
	*stats = Stats{}
	if !sys.Lock(&h.lock) {
		return
	}
	sp := h.Stats()
	n, p := &h.counts, &h.pace
	stats.RangeBytes, stats.LimitBytes = uint64(sp.Range), uint64(h.limit)
	stats.HeapBytes = uint64(n.blocks) << blockShift
	stats.FreeBytes = uint64(h.free.blocks) << blockShift
	stats.FreeDirtyBytes = uint64(h.free.dirty) << blockShift
	stats.LargeBytes = uint64(n.large) << blockShift
	stats.UnsweptBytes = uint64(n.unswept) << blockShift
	stats.MetaBytes = uint64(sp.Meta) + uint64(h.tablesUpTo)*(headerBytes+1<<indexShift)
	stats.ReleasedBytes = n.released + sp.ReleasedBytes
	stats.Collections = n.collections
	stats.LiveBytes, stats.LivePlainBytes = uint64(n.scanned+n.plain), uint64(n.plain)
	stats.BeforeBytes = uint64(n.before)
	stats.SinceBytes, stats.TargetBytes = uint64(p.since()), uint64(p.target)
	stats.AllocatedBytes = n.allocated + uint64(p.allocated)
	stats.FreedBytes = n.freed + uint64(p.freed)
	sys.Unlock(&h.lock)
}

// ClassStats are the figures of the small objects of one size and kind.
type ClassStats struct {
	ObjectBytes   uint64
	Blocks        uint64
	Objects       uint64 // that the blocks have room for
	Live          uint64 // of them, those that the last collection found alive
	UnsweptBlocks uint64
}

// KindStats are the figures of one kind.
type KindStats struct {
	Classes      [classCount]ClassStats // by size, ascending
	LargeObjects uint64
	LargeBytes   uint64 // of those objects
	LargeBlocks  uint64
	LiveBytes    uint64 // that the last collection found alive
}

// ReadKind fills stats with the figures of a kind. It walks over all blocks, with the heap locked.
func (h *Heap) ReadKind(kind uint32, stats *KindStats) {
	*stats = KindStats{}
	for class := uintptr(0); class < classCount; class++ {
		stats.Classes[class].ObjectBytes = uint64(granulesOf(class)) << granuleShift
	}
	if !sys.Lock(&h.lock) {
		return
	}
	limit := h.blockLimit()
	for block := firstBlock; block < limit; block = h.blockAfter(block) {
		hd := h.header(block)
		if uint32(hd.kind) != kind {
			continue
		}
		switch hd.state {
		case stateLarge:
			stats.LargeObjects++
			stats.LargeBytes += uint64(hd.bytes)
			stats.LargeBlocks += uint64(hd.blocks)
			if !h.isStale(hd) {
				stats.LiveBytes += uint64(hd.marks[0]&1) * uint64(hd.bytes)
			}
		case stateSmall:
			class := &stats.Classes[classFor(uintptr(hd.granules))&(classCount-1)]
			live := uint64(0)
			if !h.isStale(hd) {
				live = uint64(hd.countMarks())
			}
			class.Blocks++
			class.Objects += uint64(hd.objects)
			class.Live += live
			if hd.epoch != h.marking.epoch {
				class.UnsweptBlocks++
			}
			stats.LiveBytes += live * uint64(hd.bytes)
		}
	}
	sys.Unlock(&h.lock)
}
