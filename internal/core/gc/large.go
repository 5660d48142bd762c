package gc

import "granary/internal/core/sys"

// This file: objects of more than half a block, which have blocks of their own.

// Flags of an allocation.
const (
	// FlagIgnoreOffPage has only addresses in the first block of a large object keep it alive.
	FlagIgnoreOffPage = 1 << iota
	// FlagExpand has the heap grow where a collection would be due.
	FlagExpand
)

// allocLarge is an allocation of that many bytes, whole granules.
func (h *Heap) allocLarge(bytes uintptr, kind, flags uint32) (object sys.Addr, need uint32) {
	blocks := (bytes + BlockBytes - 1) >> blockShift
	info := h.kind(kind)
	if !sys.Lock(&h.lock) {
		return 0, NeedMemory
	}
	first, need := h.obtainBlocks(blocks, flags)
	if need != NeedNothing {
		sys.Unlock(&h.lock)
		return 0, need
	}
	// Until it is cleared the object holds somebody's old words: nobody looks into it.
	hd := h.header(first)
	*hd = header{
		state: stateLarge, flags: info.flags() | flagPointerFree, kind: uint8(kind), objects: 1,
		blocks: uint32(blocks), bytes: bytes, epoch: h.marking.epoch, markedIn: h.marking.full,
	}
	if flags&FlagIgnoreOffPage != 0 {
		hd.flags |= flagIgnoreOffPage
	}
	if info.uncollectable {
		h.noteRooted(first)
	}
	if info.uncollectable || h.marking.active != 0 {
		hd.marks[0], hd.marked = 1, 1
	}
	h.counts.large += blocks
	h.pace.allocated += bytes
	// From here on the address alone keeps the object alive.
	object = sys.Opaque(h.blockAddr(first))
	sys.Unlock(&h.lock)

	if info.clear {
		h.clearDirty(first, bytes)
	}
	hd.descriptor = info.describe(bytes)
	if info.flags()&flagPointerFree == 0 {
		hd.flags &^= flagPointerFree
	}
	return object, NeedNothing
}

// clearDirty sets the first bytes of blocks that were just taken to zero.
func (h *Heap) clearDirty(first blockRef, bytes uintptr) {
	blocks := blockRef((bytes + BlockBytes - 1) >> blockShift)
	for from := blockRef(0); from < blocks; from++ {
		to := from
		for to < blocks && h.isDirty(first+to) {
			to++
		}
		if to == from {
			continue
		}
		end := uintptr(to) << blockShift
		if end > bytes {
			end = bytes
		}
		sys.Clear(h.blockAddr(first+from), end-uintptr(from)<<blockShift)
		from = to
	}
}

// freeLarge gives a large object's blocks back. Heap.lock is held.
func (h *Heap) freeLarge(first blockRef) {
	blocks := uintptr(h.header(first).blocks)
	h.counts.large -= blocks
	h.freeBlocks(first, blocks)
}
