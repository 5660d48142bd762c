package linear

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: the table that a block has when the allocator diagnoses: a word for each 16 bytes, which says whether an
// allocation begins there and where it was made.
//
//	tag             at this place
//	0               no allocation begins
//	site<<2 | 1     one is alive
//	site<<2 | 2     one was freed; until the block is cleared

const (
	tagBytes   = 4
	tagAlive   = 1
	tagFreed   = 2
	tagState   = 3
	siteShift  = 2
	tagsBlocks = unit / tagBytes // a block has that many times the bytes of its tags
)

// makeTags makes the table of a block, large enough for all that the block may become: others read it at any time
// (Next), so it stays where it is. It returns false if there is no memory.
func (a *Allocator) makeTags(b *block) bool {
	tags := sys.Map(a.requestMost / tagsBlocks)
	if tags == 0 {
		return false
	}
	atomic.StoreUintptr((*uintptr)(&b.tags), uintptr(tags))
	return true
}

func (a *Allocator) dropTags(b *block) {
	if b.tags != 0 {
		sys.Release(b.tags, a.requestMost/tagsBlocks)
		b.tags = 0
	}
}

func (b *block) tag(offset uintptr) *uint32 {
	return (*uint32)((b.tags + sys.Addr(offset/unit*tagBytes)).Pointer())
}

func (b *block) setTag(offset uintptr, site uint32) {
	if b.tags != 0 {
		atomic.StoreUint32(b.tag(offset), site<<siteShift|tagAlive)
	}
}

// dropTag marks an allocation as freed, or says what is wrong with it.
func (b *block) dropTag(offset uintptr) int {
	word := b.tag(offset)
	for {
		tag := atomic.LoadUint32(word)
		switch tag & tagState {
		case tagFreed:
			return Twice
		case tagAlive:
			if atomic.CompareAndSwapUint32(word, tag, tag&^tagState|tagFreed) {
				return Freed
			}
		default:
			return Foreign
		}
	}
}

// clearTags forgets what was in a part of a block.
func (a *Allocator) clearTags(b *block, from, to uintptr) {
	for offset := from; offset < to; offset += unit {
		if word := b.tag(offset); atomic.LoadUint32(word) != 0 {
			atomic.StoreUint32(word, 0)
		}
	}
}

// Cursor goes through allocations that are alive: with Diagnose all, without it those that the native heap serves.
// Zero begins. What is freed or made meanwhile may be found or not.
type Cursor struct {
	Site  uint32   // where the allocation was made, as AllocReady was told
	At    sys.Addr // the allocation
	Frame uint32   // of which it is

	block  uint32
	offset uintptr
	shard  uint32
	slot   uintptr
}

// Next goes to the next allocation, with old set to the next that is older than the maximum age. It returns false at
// the end.
func (a *Allocator) Next(c *Cursor, old bool) bool {
	for ; c.block < BlocksMost; c.block, c.offset = c.block+1, 0 {
		b := a.block(c.block)
		if atomic.LoadUintptr((*uintptr)(&b.tags)) == 0 || atomic.LoadInt32(&b.open) == 0 {
			continue
		}
		for end := a.end(b); c.offset < end; {
			offset := c.offset
			c.offset += unit
			tag := atomic.LoadUint32(b.tag(offset))
			if tag&tagState != tagAlive {
				continue
			}
			c.At = sys.Addr(atomic.LoadUintptr(&b.start) + offset)
			c.Site = tag >> siteShift
			s := b.findSegment(c.At)
			if s == nil {
				continue
			}
			if c.Frame = atomic.LoadUint32(&s.frame); !old || a.isOld(c.Frame) {
				return true
			}
		}
	}
	return a.nextOverflow(c, old)
}

// end is the offset behind the last allocation of a block.
func (a *Allocator) end(b *block) uintptr {
	if owner := atomic.LoadUint32(&b.owner); owner != 0 {
		next := atomic.LoadUintptr(&a.WorkerAt(uintptr(owner-1) & (WorkersMost - 1)).next)
		if used := next - atomic.LoadUintptr(&b.start); used <= atomic.LoadUintptr(&b.bytes) {
			return used
		}
	}
	return atomic.LoadUintptr(&b.usedUpTo)
}
