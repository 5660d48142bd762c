package gc

import (
	"math/bits"

	"granary/internal/core/sys"
)

// This file: runs of free blocks. Whether a free block reads as zero is known block by block (Heap.dirt), so that
// neighbours always join, and memory that was never touched stays so.

const (
	freeExact     = 32 // runs of up to that many blocks have a list for each length
	freeLong      = 256
	freeListCount = 61
	freeTries     = 16 // runs of one of the other lists among which the shortest that fits is taken
)

// freeLists are the runs of free blocks by length: 1 to 32 exactly, then in steps of 8, the last list for all longer
// ones. Runs whose first block is dirty stand first in their list: their memory is used before more is touched. Under
// Heap.lock.
type freeLists struct {
	first, last [64]blockRef // by freeList
	filled      uint64       // bit i: list i is not empty
	blocks      uintptr      // in all lists
	dirty       uintptr      // of them, those that need not read as zero
}

// freeList is the list for runs of that many blocks.
func freeList(blocks uintptr) uint {
	if blocks <= freeExact {
		return uint(blocks)
	}
	if blocks >= freeLong {
		return freeListCount - 1
	}
	return uint(freeExact + (blocks-freeExact)/8)
}

// dirtWord is where the bit of a block lies.
func (h *Heap) dirtWord(block blockRef) *uint64 {
	return (*uint64)((h.dirt + sys.Addr(block>>6)*8).Pointer())
}

// isDirty reports whether a block may hold something. It stays what it was while the block was last free.
func (h *Heap) isDirty(block blockRef) bool { return *h.dirtWord(block)>>(block&63)&1 != 0 }

func (h *Heap) setDirty(first blockRef, blocks uintptr) {
	for block := first; block < first+blockRef(blocks); block++ {
		*h.dirtWord(block) |= 1 << (block & 63)
	}
}

func (h *Heap) setClean(first blockRef, blocks uintptr) {
	for block := first; block < first+blockRef(blocks); block++ {
		*h.dirtWord(block) &^= 1 << (block & 63)
	}
}

// countDirty counts the dirty ones of some blocks.
func (h *Heap) countDirty(first blockRef, blocks uintptr) uintptr {
	count := uintptr(0)
	end := first + blockRef(blocks)
	for block := first; block < end; {
		word := *h.dirtWord(block) >> (block & 63)
		step := 64 - block&63
		if step > end-block {
			step = end - block
			word &= 1<<step - 1
		}
		count += uintptr(bits.OnesCount64(word))
		block += step
	}
	return count
}

// linkRun makes free blocks that no list holds, dirty ones among them, a run, and puts it on its list.
func (h *Heap) linkRun(first blockRef, blocks, dirty uintptr, stamp uint64) {
	hd := h.header(first)
	hd.state, hd.flags = stateFree, 0
	hd.blocks, hd.marked, hd.stamp = uint32(blocks), uint32(dirty), stamp
	h.header(first + blockRef(blocks) - 1).markedIn = uint32(first)
	f := &h.free
	list := freeList(blocks)
	if h.isDirty(first) {
		hd.prev, hd.next = 0, f.first[list&63]
		f.first[list&63] = first
		if hd.next != 0 {
			h.header(hd.next).prev = first
		} else {
			f.last[list&63] = first
		}
	} else {
		hd.next, hd.prev = 0, f.last[list&63]
		f.last[list&63] = first
		if hd.prev != 0 {
			h.header(hd.prev).next = first
		} else {
			f.first[list&63] = first
		}
	}
	f.filled |= 1 << list
	h.sorting.passOver(first, blocks)
	f.blocks += blocks
	f.dirty += dirty
}

// unlinkRun takes a run off its list.
func (h *Heap) unlinkRun(first blockRef) {
	f := &h.free
	hd := h.header(first)
	blocks := uintptr(hd.blocks)
	list := freeList(blocks)
	if hd.prev != 0 {
		h.header(hd.prev).next = hd.next
	} else {
		f.first[list&63] = hd.next
	}
	if hd.next != 0 {
		h.header(hd.next).prev = hd.prev
	} else {
		f.last[list&63] = hd.prev
	}
	if f.first[list&63] == 0 {
		f.filled &^= 1 << list
	}
	hd.state, hd.next, hd.prev = stateNone, 0, 0
	f.blocks -= blocks
	f.dirty -= uintptr(hd.marked)
}

// isFree reports whether a block, which may lie anywhere, belongs to a free run.
func (h *Heap) isFree(block blockRef) bool { return h.ours(block) && *h.indexEntry(block) == 0 }

// giveRun makes blocks free that are on no list, whose index is 0. Free neighbours join them; the time since which the
// whole is free is that of the longest part.
func (h *Heap) giveRun(first blockRef, blocks uintptr) {
	longest, stamp := blocks, uint64(0)
	dirty := h.countDirty(first, blocks)
	if h.isFree(first - 1) {
		before := h.header(first - 1).runFirst()
		more := uintptr(h.header(before).blocks)
		if more > longest {
			longest, stamp = more, h.header(before).stamp
		}
		dirty += uintptr(h.header(before).marked)
		h.unlinkRun(before)
		first = before
		blocks += more
	}
	if after := first + blockRef(blocks); h.isFree(after) {
		more := uintptr(h.header(after).blocks)
		if more > longest {
			stamp = h.header(after).stamp
		}
		dirty += uintptr(h.header(after).marked)
		h.unlinkRun(after)
		blocks += more
	}
	h.linkRun(first, blocks, dirty, stamp)
}

// freeBlocks makes blocks free that were in use.
func (h *Heap) freeBlocks(first blockRef, blocks uintptr) {
	h.header(first).state = stateNone
	h.setIndex(first, blocks, 0)
	h.setDirty(first, blocks)
	h.giveRun(first, blocks)
}

// setIndex has blocks belong to what begins with block to, or to nothing.
func (h *Heap) setIndex(first blockRef, blocks uintptr, to blockRef) {
	for block := first; block < first+blockRef(blocks); block++ {
		*h.indexEntry(block) = to
	}
}

// takeBlocks takes that many free blocks side by side: of a run that has as many, else of the shortest longer one; the
// rest is put back. Their index names the first. It returns 0 if there are none.
func (h *Heap) takeBlocks(blocks uintptr) blockRef {
	first := h.findRun(blocks)
	if first == 0 {
		return 0
	}
	h.splitRun(first, blocks)
	h.setIndex(first, blocks, first)
	return first
}

// splitRun takes a run off its list and puts all but its first blocks back.
func (h *Heap) splitRun(first blockRef, blocks uintptr) {
	hd := h.header(first)
	h.unlinkRun(first)
	if rest := uintptr(hd.blocks) - blocks; rest != 0 {
		h.linkRun(first+blockRef(blocks), rest, uintptr(hd.marked)-h.countDirty(first, blocks), hd.stamp)
	}
}

// findRun looks for the run of which takeBlocks takes.
func (h *Heap) findRun(blocks uintptr) blockRef {
	if blocks == 0 {
		return 0
	}
	list := freeList(blocks)
	for set := h.free.filled >> list << list; set != 0; set &= set - 1 {
		list = uint(bits.TrailingZeros64(set))
		if list <= freeExact {
			first := h.free.first[list&63]
			if uintptr(h.header(first).blocks) >= blocks {
				return first
			}
		}
		if first := h.fitting(h.free.first[list&63], blocks); first != 0 {
			return first
		}
	}
	return 0
}

// fitting is the shortest run with room of the first few in a list that have any.
func (h *Heap) fitting(run blockRef, blocks uintptr) blockRef {
	best := blockRef(0)
	for tries := 0; run != 0 && tries < freeTries; run = h.header(run).next {
		length := h.header(run).blocks
		if uintptr(length) >= blocks {
			tries++
			if best == 0 || length < h.header(best).blocks {
				best = run
			}
		}
	}
	return best
}
