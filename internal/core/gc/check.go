package gc

import "granary/internal/core/sys"

// Check walks the whole heap and returns "" or what is wrong: the space, every block against its header and the index,
// the lists of free blocks and of blocks to sweep, every chain of free objects, and what belongs to finalization and
// marking. Nobody else may use the heap meanwhile.
func (h *Heap) Check() string {
	if wrong := h.Space.Check(); wrong != "" {
		return wrong
	}
	var seen blockCounts
	if wrong := h.checkBlocks(&seen); wrong != "" {
		return wrong
	}
	if wrong := h.checkFree(&seen); wrong != "" {
		return wrong
	}
	if wrong := h.checkUnswept(&seen); wrong != "" {
		return wrong
	}
	if wrong := h.checkChains(); wrong != "" {
		return wrong
	}
	if wrong := h.CheckMarks(); wrong != "" {
		return wrong
	}
	return h.CheckFinalization()
}

// blockCounts is what a walk over all blocks finds.
type blockCounts struct {
	small, large, free, dirty, runs, unswept uintptr
}

func (h *Heap) checkBlocks(seen *blockCounts) string {
	wasFree := false
	limit := h.blockLimit()
	for block := firstBlock; block < limit; {
		if !h.ours(block) {
			if block&(blocksPerSpaceGranule-1) != 0 || h.header(block).state != stateNone {
				return "gc: a block that is not the heap's has a state"
			}
			block += blocksPerSpaceGranule
			wasFree = false
			continue
		}
		hd := h.header(block)
		wrong := "gc: a block of the heap has no state"
		switch hd.state {
		case stateSmall:
			seen.small++
			wrong = h.checkSmall(block, hd)
			if hd.epoch != h.marking.epoch && h.isSorted(block) {
				seen.unswept++
			}
		case stateLarge:
			seen.large += uintptr(hd.blocks)
			wrong = h.checkLarge(block, hd)
		case stateFree:
			seen.free += uintptr(hd.blocks)
			seen.dirty += uintptr(hd.marked)
			seen.runs++
			wrong = h.checkFreeRun(block, hd)
			if wasFree {
				return "gc: two runs of free blocks lie side by side"
			}
		}
		if wrong != "" {
			return wrong
		}
		if hd.state != stateFree && h.marking.active == 0 && h.isSorted(block) && h.isStale(hd) {
			return "gc: a block has marks of an earlier collection"
		}
		if next := h.blockAfter(block); block < h.sorting.next && next > h.sorting.next && hd.state != stateLarge {
			return "gc: sorting goes on inside of a run"
		}
		wasFree = hd.state == stateFree
		block = h.blockAfter(block)
	}
	switch {
	case seen.small+seen.large+seen.free != h.counts.blocks:
		return "gc: the blocks taken of the space are not those in use and those that are free"
	case seen.large != h.counts.large:
		return "gc: the blocks of large objects are miscounted"
	}
	return ""
}

// isSorted reports whether a block is not one that is to be sorted.
func (h *Heap) isSorted(block blockRef) bool { return h.sorting.on == 0 || block < h.sorting.next }

// isRooted reports whether MarkUncollectable looks at a block.
func (h *Heap) isRooted(block blockRef) bool { return *h.rootedWord(block)>>(block&63)&1 != 0 }

// belong reports whether the index of blocks names the block.
func (h *Heap) belong(first blockRef, blocks uintptr, to blockRef) bool {
	for block := first; block < first+blockRef(blocks); block++ {
		if !h.ours(block) || *h.indexEntry(block) != to {
			return false
		}
	}
	return true
}

func (h *Heap) checkSmall(block blockRef, hd *header) string {
	info := h.kind(uint32(hd.kind))
	granules := uintptr(hd.granules)
	switch {
	case granules == 0 || granules > smallMaxGranules || granulesOf(classFor(granules)) != granules:
		return "gc: a small block has a size that no class has"
	case uintptr(hd.objects) != granulesPerBlock/granules || hd.bytes != granules<<granuleShift || hd.blocks != 1 ||
		uintptr(hd.reciprocal) != 1<<16/granules+1:
		return "gc: a small block's numbers do not go together"
	case uint32(hd.kind) >= h.kindCount || hd.flags != info.flags() || hd.descriptor != info.describe(hd.bytes):
		return "gc: a small block does not look like its kind"
	case !h.belong(block, 1, block):
		return "gc: the index does not name a small block"
	}
	var starts [4]uint64
	for granule := uintptr(0); granule < granules*uintptr(hd.objects); granule += granules {
		starts[granule>>6&3] |= 1 << (granule & 63)
	}
	for word := range starts {
		if (hd.marks[word]|hd.grey[word])&^starts[word] != 0 {
			return "gc: a mark lies where no object begins"
		}
	}
	if info.uncollectable && !h.isRooted(block) {
		return "gc: a block of uncollectable objects is not known as such"
	}
	if info.uncollectable && h.marking.active == 0 && h.isSorted(block) && hd.marked != hd.countMarks() {
		return "gc: the uncollectable objects of a block are miscounted"
	}
	return ""
}

func (h *Heap) checkLarge(block blockRef, hd *header) string {
	info := h.kind(uint32(hd.kind))
	blocks := (hd.bytes + BlockBytes - 1) >> blockShift
	switch {
	case uint32(hd.kind) >= h.kindCount || uintptr(hd.blocks) != blocks || hd.bytes <= SmallMaxBytes ||
		hd.bytes&(GranuleBytes-1) != 0 || hd.objects != 1:
		return "gc: a large object's numbers do not go together"
	case (hd.flags&^flagIgnoreOffPage != info.flags() || hd.descriptor != info.describe(hd.bytes)) && !hd.isFreed():
		return "gc: a large object does not look like its kind"
	case (hd.marks[0]|hd.grey[0])&^1 != 0 || hd.marks[1]|hd.marks[2]|hd.marks[3] != 0:
		return "gc: a mark of a large object lies where it does not begin"
	case info.uncollectable && hd.flags&flagUncollectable != 0 && (hd.marks[0] != 1 || !h.isRooted(block)):
		return "gc: an uncollectable large object is not in use"
	case !h.belong(block, blocks, block):
		return "gc: the index of a large object's blocks does not name the first"
	}
	return ""
}

// isFreed reports whether a large object was freed in a collection and waits for the next.
func (hd *header) isFreed() bool {
	return hd.flags&(flagPointerFree|flagUncollectable) == flagPointerFree && hd.descriptor == 0
}

func (h *Heap) checkFreeRun(block blockRef, hd *header) string {
	blocks := uintptr(hd.blocks)
	if blocks == 0 || !h.belong(block, blocks, 0) {
		return "gc: the index of free blocks names something"
	}
	if h.countDirty(block, blocks) != uintptr(hd.marked) {
		return "gc: the dirty blocks of a free run are miscounted"
	}
	if h.header(block+blockRef(blocks)-1).runFirst() != block {
		return "gc: the last block of a free run does not know the first"
	}
	return ""
}

// checkFree walks the lists of free runs.
func (h *Heap) checkFree(seen *blockCounts) string {
	var blocks, runs uintptr
	for list := uint(0); list < 64; list++ {
		first := h.free.first[list&63]
		if (first != 0) != (h.free.filled>>list&1 != 0) {
			return "gc: the mask of free lists does not match the lists"
		}
		before := blockRef(0)
		for run := first; run != 0; run = h.header(run).next {
			hd := h.header(run)
			if hd.state != stateFree || hd.prev != before || freeList(uintptr(hd.blocks)) != list || runs > seen.runs {
				return "gc: a free run is on the wrong list"
			}
			blocks += uintptr(hd.blocks)
			runs++
			before = run
		}
		if before != h.free.last[list&63] && first != 0 {
			return "gc: a free list ends elsewhere than it says"
		}
	}
	if blocks != seen.free || runs != seen.runs || blocks != h.free.blocks || seen.dirty != h.free.dirty {
		return "gc: the free blocks are miscounted"
	}
	return ""
}

// checkUnswept walks the lists of blocks to be swept.
func (h *Heap) checkUnswept(seen *blockCounts) string {
	if h.marking.active != 0 {
		return "" // the marks mean something else meanwhile, and nobody takes of the lists
	}
	count := uintptr(0)
	for kind := uint32(0); kind < kindMost; kind++ {
		for class := uintptr(0); class < classCount; class++ {
			for block := *h.reclaimList(kind, class); block != 0; block = h.header(block).next {
				hd := h.header(block)
				if hd.state != stateSmall || uint32(hd.kind) != kind || uintptr(hd.granules) != granulesOf(class) ||
					hd.epoch == h.marking.epoch {
					return "gc: a block that waits to be swept is not what its list holds"
				}
				if count++; count > seen.unswept {
					return "gc: the lists of blocks to be swept go round"
				}
			}
		}
	}
	if count != seen.unswept || count != h.counts.unswept {
		return "gc: a block has not been swept, and is on no list"
	}
	return ""
}

// checkChains walks all chains. An object that it has seen gets a grey bit until the end, by which it is known again:
// between two slices of a collection those mean something, and objects that are twice in chains are not found.
func (h *Heap) checkChains() string {
	wrong := ""
	for round := 0; round < 2; round++ {
		for kind := uint32(0); kind < kindMost; kind++ {
			for class := uintptr(0); class < classCount; class++ {
				shared := h.sharedChain(kind, class)
				count, found := h.checkChain(shared.head, kind, class, round == 0)
				if found == "" && count != shared.count {
					found = "gc: a chain that no cache has is miscounted"
				}
				if wrong == "" {
					wrong = found
				}
			}
		}
		for c := h.caches; c != 0; c = c.state().next {
			for slot := uintptr(0); slot < cachedKinds<<classShift; slot++ {
				_, found := h.checkChain(*c.head(slot), uint32(slot>>classShift), slot&(classCount-1), round == 0)
				if wrong == "" {
					wrong = found
				}
			}
		}
		if h.marking.active != 0 {
			return wrong
		}
	}
	return wrong
}

// checkChain walks one chain; first says that its objects get their bits, else they lose them.
func (h *Heap) checkChain(head sys.Addr, kind uint32, class uintptr, first bool) (count uintptr, wrong string) {
	bytes := granulesOf(class) << granuleShift
	for object := head; object != 0; object = nextInChain(object, class) {
		p, ok := h.locate(uintptr(object - h.Base))
		if !ok || h.startOf(p) != object {
			return count, "gc: a chain holds an address that is no object's"
		}
		hd := h.header(p.block)
		bit := uint64(1) << (p.granule & 63)
		grey := &hd.grey[p.granule>>6&3]
		if h.marking.active == 0 {
			if (*grey&bit != 0) == first {
				return count, "gc: an object is twice in chains"
			}
			*grey ^= bit
		}
		info := h.kind(kind)
		marked := hd.marks[p.granule>>6&3]&bit != 0
		switch {
		case uint32(hd.kind) != kind || hd.bytes != bytes:
			return count, "gc: a chain holds an object of another kind or size"
		case info.uncollectable && marked:
			return count, "gc: an uncollectable object in use is in a chain"
		case h.isDead(hd, p.granule) && first:
			return count, "gc: an object in a chain waits to be swept"
		}
		if info.clear && first {
			for offset := uintptr(sys.WordBytes); offset < bytes; offset += sys.WordBytes {
				if (object + sys.Addr(offset)).Word() != 0 {
					return count, "gc: an object in a chain does not read as zero"
				}
			}
		}
		count++
	}
	return count, ""
}
