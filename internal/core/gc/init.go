package gc

import (
	"sync/atomic"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: the beginning and the end of a heap, and its tables.

const (
	spaceRecordBytes = 64
	ownerBlocks      = 1 // owner value of the space's granules that are heap blocks
	indexShift       = 2
	tableStep        = 1024 // blocks: the tables are committed for that many at least

	// requestMost is far more than any range, and leaves room for sums.
	requestMost = 1 << 46
)

// Init prepares a heap over a range of at most rangeBytes; limit is the most that its blocks may take, in bytes, 0 for
// what the range holds. It returns false, and the heap must not be used, if the system refuses address space or memory.
func (h *Heap) Init(rangeBytes uintptr, mode uint32, limit uintptr) bool {
	if !h.Space.Init(rangeBytes, spaceRecordBytes) {
		return false
	}
	h.mode, h.limit = mode, limit
	h.rounding = GranuleBytes - 1
	if mode&ModeInterior != 0 {
		h.rounding = GranuleBytes
	}
	blocks := h.Stats().Range >> blockShift
	dirtBytes := sys.AlignUp(blocks/8, sys.PageBytes())
	indexBytes := sys.AlignUp(blocks<<indexShift, sys.PageBytes())
	h.tableBytes = 2*dirtBytes + indexBytes + blocks<<headerShift
	h.tables = sys.Reserve(h.tableBytes)
	if h.tables == 0 || !sys.Commit(h.tables, 2*dirtBytes) {
		h.Destroy()
		return false
	}
	h.dirt = h.tables
	h.rooted = h.dirt + sys.Addr(dirtBytes)
	h.index = h.rooted + sys.Addr(dirtBytes)
	h.headers = h.index + sys.Addr(indexBytes)
	h.start()
	return true
}

// start sets what a heap without blocks begins with.
func (h *Heap) start() {
	h.startKinds()
	h.startPace()
	h.marking.epoch, h.marking.full = 1, 1
	h.fillStarts()
}

// Destroy gives all memory and addresses back. No address of the heap may be used afterwards, and no cache.
func (h *Heap) Destroy() {
	if h.tables != 0 {
		sys.Release(h.tables, h.tableBytes)
	}
	h.Space.Destroy()
	*h = Heap{}
}

// growTables commits index and headers of the blocks before end, and perhaps more. It returns false if the system
// refuses.
func (h *Heap) growTables(end uintptr) bool {
	if end <= h.tablesUpTo {
		return true
	}
	most := h.Stats().Range >> blockShift
	upTo := sys.AlignUp(end+h.tablesUpTo/8, tableStep)
	if upTo > most {
		upTo = most
	}
	from := h.tablesUpTo
	if !sys.Commit(h.index+sys.Addr(from<<indexShift), sys.AlignUp((upTo-from)<<indexShift, sys.PageBytes())) ||
		!sys.Commit(h.headers+sys.Addr(from<<headerShift), (upTo-from)<<headerShift) {
		return false
	}
	h.tablesUpTo = upTo
	return true
}

// expandLocked takes blocks from the space: as many as are needed side by side, or more in proportion to the heap, but
// no more than may be allocated before the next collection, and no more while blocks are to be sorted, which makes
// others free. It returns false if the limit, the range or the system do not allow it.
func (h *Heap) expandLocked(need uintptr) bool {
	want := h.counts.blocks / 8
	if left := h.pace.left() >> blockShift; left != 0 && want > left {
		want = left
	}
	if want < need || h.sorting.on != 0 {
		want = need
	}
	needed := (need + blocksPerSpaceGranule - 1) / blocksPerSpaceGranule
	granules := (want + blocksPerSpaceGranule - 1) / blocksPerSpaceGranule
	if h.limit != 0 {
		room := uintptr(0)
		if used := h.counts.blocks << blockShift; used < h.limit {
			room = (h.limit - used) / space.GranuleBytes
		}
		if needed > room {
			return false
		}
		if granules > room {
			granules = room
		}
	}
	if granules > h.Stats().Range>>space.GranuleShift {
		return false
	}
	ref := h.Take(uint32(granules), 1)
	if ref == 0 && granules > needed {
		granules = needed
		ref = h.Take(uint32(granules), 1)
	}
	if ref == 0 {
		return false
	}
	first, blocks := blockRef(ref)*blocksPerSpaceGranule, granules*blocksPerSpaceGranule
	end := uintptr(first) + blocks
	if !h.growTables(end) {
		h.Give(ref)
		return false
	}
	h.SetOwner(ref, ownerBlocks)
	if !h.Run(ref).Zero {
		h.setDirty(first, blocks)
	}
	h.counts.blocks += blocks
	h.giveRun(first, blocks)
	if end<<blockShift > h.highest {
		atomic.StoreUintptr(&h.highest, end<<blockShift)
	}
	return true
}

// ours reports whether a block belongs to the heap, and not to the tables that the space holds as well.
func (h *Heap) ours(block blockRef) bool {
	granule := uintptr(block) / blocksPerSpaceGranule
	return granule < h.Committed() && h.OwnerWord(granule).Word16() == ownerBlocks
}
