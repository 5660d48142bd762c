package gc

import "granary/internal/core/sys"

// This file: objects whose size changes where they are.

// Resize makes the object at an address serve for bytes, where it is. It returns false, and changes nothing, if the
// address is not the start of an object, if there is no room, or if the object would waste more than half of its
// memory: then the caller allocates another one, copies, and frees this one. What an object of a kind that is cleared
// gains reads as zero.
func (h *Heap) Resize(addr sys.Addr, bytes uintptr) bool {
	block, granule := h.startAt(addr)
	if block == 0 || bytes > requestMost {
		return false
	}
	hd := h.header(block)
	size := bytes + h.extra(uint32(hd.kind))
	small := hd.state == stateSmall
	if small && (size > hd.bytes || size < hd.bytes/2 || h.isDead(hd, granule)) || !small && size <= SmallMaxBytes ||
		!sys.Lock(&h.lock) {
		return false
	}
	if bytes < hd.bytes {
		h.shadeWords(hd, addr+sys.Addr(bytes&^(sys.WordBytes-1)), hd.bytes-bytes&^(sys.WordBytes-1))
	}
	done := small || h.resizeLarge(block, hd, sys.AlignUp(size, GranuleBytes))
	if done && h.kind(uint32(hd.kind)).clear {
		sys.Clear(addr+sys.Addr(bytes), hd.bytes-bytes)
	}
	sys.Unlock(&h.lock)
	return done
}

// resizeLarge gives a large object that many bytes: it gives blocks at its end back, or takes free ones behind it.
func (h *Heap) resizeLarge(block blockRef, hd *header, bytes uintptr) bool {
	blocks, was := (bytes+BlockBytes-1)>>blockShift, uintptr(hd.blocks)
	end := block + blockRef(was)
	switch {
	case blocks < was:
		h.freeTail(block, hd, blocks)
	case blocks > was:
		if !h.isFree(end) || uintptr(h.header(end).blocks) < blocks-was {
			return false
		}
		h.splitRun(end, blocks-was)
		h.setIndex(end, blocks-was, block)
		hd.blocks = uint32(blocks)
		h.counts.large += blocks - was
	}
	if hd.marks[0] != 0 {
		h.sortedAlready(block, hd, hd.bytes-bytes)
	}
	if bytes > hd.bytes {
		h.pace.allocated += bytes - hd.bytes
		if h.kind(uint32(hd.kind)).clear {
			h.clearGained(block, hd.bytes, was, bytes)
		}
	} else {
		h.pace.freed += hd.bytes - bytes
	}
	hd.bytes = bytes
	hd.descriptor = h.kind(uint32(hd.kind)).describe(bytes)
	return true
}

// clearGained clears an object from one offset to another; its blocks from one number on were free.
func (h *Heap) clearGained(block blockRef, from, was, to uintptr) {
	end := was << blockShift
	if end > to {
		end = to
	}
	sys.Clear(h.blockAddr(block)+sys.Addr(from), end-from)
	if to > end {
		h.clearDirty(block+blockRef(was), to-end)
	}
}

// freeTail gives all but the first blocks of a large object back.
func (h *Heap) freeTail(block blockRef, hd *header, blocks uintptr) {
	more := uintptr(hd.blocks) - blocks
	hd.blocks = uint32(blocks)
	h.counts.large -= more
	h.freeBlocks(block+blockRef(blocks), more)
}
