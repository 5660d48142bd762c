package linear

import (
	"granary/internal/core/space"
)

// Check walks every block, worker and table and returns "" or what is wrong. Nobody else may use the allocator
// meanwhile.
func (a *Allocator) Check() string {
	var used uint32
	var reserved uint64
	for i := uint32(0); i < BlocksMost; i++ {
		b := a.block(i)
		isFree := a.free>>i&1 != 0
		if i >= a.most && (isFree || b.bytes != 0 || b.open != 0) {
			return "linear: there are more blocks than may be"
		}
		if i < a.most && !isFree {
			used++
		}
		reserved += uint64(b.bytes)
		if what := a.checkMemory(i, b); what != "" {
			return what
		}
		if what := a.checkBlock(i, b, isFree || i >= a.most); what != "" {
			return what
		}
	}
	if used != a.used || a.usedPeak < used || a.usedPeak > a.most {
		return "linear: the blocks in use are miscounted"
	}
	if reserved != a.reserved || reserved > uint64(a.most)*uint64(a.requestMost) {
		return "linear: the reserved bytes are miscounted"
	}
	for i := uint32(0); i < a.workersMade; i++ {
		if w := a.WorkerAt(uintptr(i)); w.holds != 0 &&
			(w.used == 0 && i >= a.prepared || a.block(w.holds-1).owner != i+1) {
			return "linear: a worker has a block that is not its own"
		}
	}
	return a.checkOverflows()
}

// checkMemory looks at a block's run.
func (a *Allocator) checkMemory(index uint32, b *block) string {
	if b.bytes == 0 {
		return ""
	}
	s := a.runs()
	if b.bytes&(b.bytes-1) != 0 || b.bytes < a.blockBytes || b.bytes > a.requestMost {
		return "linear: a block has a size that none may have"
	}
	if s.Bytes(b.ref) != b.bytes || uintptr(s.Addr(b.ref)) != b.start || b.touched > b.bytes {
		return "linear: a block is not its run"
	}
	for g := space.Ref(0); g < space.Ref(b.bytes>>space.GranuleShift); g++ {
		if *a.ownerWord(s, b.ref+g) != uintptr(a.addr())+uintptr(index)+1 || s.OwnerOf(s.Addr(b.ref+g)) != 0 {
			return "linear: a granule does not name its block"
		}
	}
	return ""
}

// checkBlock compares the counts of a block with its state.
func (a *Allocator) checkBlock(index uint32, b *block, isFree bool) string {
	if isFree {
		if b.open != 0 || b.segments != 0 || b.owner != 0 || b.usedUpTo != 0 {
			return "linear: a free block is not clear"
		}
		return ""
	}
	if b.segments == 0 || b.segments > segmentCount {
		return "linear: a taken block has no segment, or too many"
	}
	open := int32(0)
	for j := uint32(0); j < b.segments; j++ {
		s := b.at(j)
		isOpen := b.owner != 0 && j == b.segments-1
		if s.left < 0 || s.start > b.usedUpTo || j > 0 && s.start < b.at(j-1).start {
			return "linear: a segment has a wrong count or a wrong place"
		}
		if isOpen != (s.left > bias/2) {
			return "linear: a segment is open where none may be, or the last one is not"
		}
		if s.left > 0 {
			open++
		}
	}
	if b.owner != 0 {
		open++
		if what := a.checkCurrent(index, b); what != "" {
			return what
		}
	}
	if open != b.open || open == 0 {
		return "linear: a block miscounts its segments"
	}
	return ""
}

// checkCurrent compares a block with its worker.
func (a *Allocator) checkCurrent(index uint32, b *block) string {
	w := a.WorkerAt(uintptr(b.owner - 1))
	s := b.last()
	if w.holds != index+1 || w.start != b.start+s.start || w.end != b.start+b.bytes || b.usedUpTo != b.bytes {
		return "linear: a worker and its block differ"
	}
	if w.next < w.start || w.next > w.end || w.next&unitMask != 0 {
		return "linear: a worker is outside of its segment"
	}
	if a.alive(b, s) < 0 {
		return "linear: more was freed of a segment than it had"
	}
	return a.checkTags(b)
}

// checkTags counts the allocations that a diagnosed block's table holds.
func (a *Allocator) checkTags(b *block) string {
	if b.tags == 0 {
		return ""
	}
	alive := int64(0)
	for offset := uintptr(0); offset < b.bytes; offset += unit {
		if *b.tag(offset)&tagState == tagAlive {
			alive++
		}
		if *b.tag(offset) != 0 && offset >= a.end(b) {
			return "linear: a place is marked that was not handed out"
		}
	}
	for j := uint32(0); j < b.segments; j++ {
		alive -= a.alive(b, b.at(j))
	}
	if alive != 0 {
		return "linear: a table does not hold what its block counts"
	}
	return ""
}

// checkOverflows looks at the table of the heap's blocks.
func (a *Allocator) checkOverflows() string {
	total := int64(0)
	for i := uint32(0); i < shardCount; i++ {
		s := &a.shards[i&shardMask]
		count, filled := uintptr(0), uintptr(0)
		for j := uintptr(0); j < s.capacity; j++ {
			if e := s.entry(j); e.at != 0 {
				filled++
				if e.at > entryGone {
					count++
					if a.shardOf(e.at) != s {
						return "linear: an overflow is in the wrong part of the table"
					}
				}
			}
		}
		if count != s.count || filled != s.filled || filled > s.capacity/4*3 {
			return "linear: the overflows are miscounted"
		}
		total += int64(count)
	}
	if total != a.overflows {
		return "linear: the overflows are miscounted"
	}
	return ""
}

// Check looks at a stack as Allocator.Check does.
func (s *Stack) Check() string {
	if s.end != s.base+s.most || s.next < s.base || s.next > s.end || s.framePeak < s.base || s.framePeak > s.end {
		return "linear: a stack is out of its bounds"
	}
	frames := uint64(0)
	for i := uint(0); i < BinCount; i++ {
		frames += s.bins[i&(BinCount-1)]
	}
	if frames != uint64(s.frame) {
		return "linear: a stack miscounts its frames"
	}
	return ""
}
