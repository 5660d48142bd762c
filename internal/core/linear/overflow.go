package linear

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// This file: which blocks of the native heap the allocator's users have. The heap serves what the pool cannot, the
// caller of the core asks it; here is noted what came of it, so that it is freed there and nothing else is.

// shard is a part of the table, by a hash of the address: open addressing, at most three quarters full.
//
//	entry.at    the entry
//	0           was never used
//	1           was used: a search goes on
//	an address  is a block of the heap
//
// Equation (Check): count = entries that are addresses; filled = entries that are not 0.
type shard struct {
	lock     uint32
	_        uint32
	table    sys.Addr
	capacity uintptr // entries, a power of two, or 0
	count    uintptr
	filled   uintptr
	_        [24]byte
}

type entry struct {
	at    uintptr
	bytes uintptr
	frame uint32
	site  uint32
	old   uint32 // 1: counted as overdue
	_     uint32
}

const (
	shardCount  = 8
	shardMask   = shardCount - 1
	entryBytes  = unsafe.Sizeof(entry{})
	entryGone   = 1
	tableLeast  = 256
	hashFactor  = 0x9e3779b97f4a7c15
	hashShift   = 40
	hashToShard = 60
)

func hash(at uintptr) uintptr { return at >> 4 * hashFactor }

func (a *Allocator) shardOf(at uintptr) *shard { return &a.shards[hash(at)>>hashToShard&shardMask] }

func (s *shard) entry(index uintptr) *entry {
	return (*entry)((s.table + sys.Addr(index&(s.capacity-1)*entryBytes)).Pointer())
}

// Why the native heap has to serve a request.
const (
	Full     = iota // the pool has no block, or there was no memory for one
	TooLarge        // no block may grow that much
)

// CountOverflow counts a request that goes to the native heap.
func (a *Allocator) CountOverflow(why int) {
	if why == TooLarge {
		atomic.AddUint64(&a.tooLarge, 1)
	} else {
		atomic.AddUint64(&a.full, 1)
	}
}

// AddOverflow notes a block of the native heap that a user gets. It returns false if there is no memory to do so; the
// caller gives the block back then.
func (a *Allocator) AddOverflow(p sys.Addr, bytes uintptr, site uint32) bool {
	s := a.shardOf(uintptr(p))
	for {
		if !sys.Lock(&s.lock) {
			return false
		}
		if s.filled < s.capacity/4*3 {
			break
		}
		capacity := uintptr(tableLeast)
		for capacity < s.count*4 {
			capacity *= 2
		}
		sys.Unlock(&s.lock)
		if !s.enlarge(capacity) {
			return false
		}
	}
	at := hash(uintptr(p)) >> 8
	for s.entry(at).at > entryGone {
		at++
	}
	e := s.entry(at)
	if e.at == 0 {
		s.filled++
	}
	s.count++
	*e = entry{at: uintptr(p), bytes: bytes, frame: a.Frame(), site: site}
	sys.Unlock(&s.lock)
	atomic.AddInt64(&a.overflows, 1)
	return true
}

// enlarge gives the shard a table of so many entries, unless somebody else did so meanwhile. No lock is held while the
// system works.
func (s *shard) enlarge(capacity uintptr) bool {
	table := sys.Map(capacity * entryBytes)
	if table == 0 {
		return false
	}
	if !sys.Lock(&s.lock) {
		sys.Release(table, capacity*entryBytes)
		return false
	}
	old := shard{table: s.table, capacity: s.capacity}
	if s.count < capacity/2 && s.filled >= s.capacity/4*3 {
		s.table, s.capacity, s.filled = table, capacity, 0
		for i := uintptr(0); i < old.capacity; i++ {
			if e := old.entry(i); e.at > entryGone {
				at := hash(e.at) >> 8
				for s.entry(at).at != 0 {
					at++
				}
				*s.entry(at) = *e
				s.filled++
			}
		}
	} else {
		old.table, old.capacity = table, capacity // not needed any more
	}
	sys.Unlock(&s.lock)
	old.drop()
	return true
}

// drop gives the memory of a table back.
func (s *shard) drop() {
	if s.capacity != 0 {
		sys.Release(s.table, s.capacity*entryBytes)
		s.table, s.capacity = 0, 0
	}
}

// freeOverflow forgets a block of the native heap.
func (a *Allocator) freeOverflow(p sys.Addr) int {
	s := a.shardOf(uintptr(p))
	if p <= entryGone || !sys.Lock(&s.lock) {
		return a.misuse(Foreign)
	}
	frame, found := uint32(0), false
	if s.capacity != 0 {
		for at := hash(uintptr(p)) >> 8; !found && s.entry(at).at != 0; at++ {
			if e := s.entry(at); e.at == uintptr(p) {
				e.at = entryGone
				s.count--
				frame, found = e.frame, true
			}
		}
	}
	sys.Unlock(&s.lock)
	if !found {
		return a.misuse(Foreign)
	}
	a.noteAge(frame)
	atomic.AddInt64(&a.overflows, -1)
	return Overflow
}

// TakeOverflow takes a block of the native heap out of the table, 0 if the cursor finds none any more.
func (a *Allocator) TakeOverflow(c *Cursor) sys.Addr {
	c.block = BlocksMost
	for a.nextOverflow(c, false) {
		if a.freeOverflow(c.At) == Overflow {
			return c.At
		}
	}
	return 0
}

// nextOverflow is Next for blocks of the native heap.
func (a *Allocator) nextOverflow(c *Cursor, old bool) bool {
	for ; c.shard < shardCount; c.shard, c.slot = c.shard+1, 0 {
		s := &a.shards[c.shard&shardMask]
		if !sys.Lock(&s.lock) {
			continue
		}
		for c.slot < s.capacity {
			e := s.entry(c.slot)
			c.slot++
			if e.at > entryGone && (!old || a.isOld(e.frame)) {
				c.At, c.Site, c.Frame = sys.Addr(e.at), e.site, e.frame
				sys.Unlock(&s.lock)
				return true
			}
		}
		sys.Unlock(&s.lock)
	}
	return false
}

// countOverdueOverflow is countOverdue for a shard.
func (a *Allocator) countOverdueOverflow(s *shard) {
	if atomic.LoadInt64(&a.overflows) == 0 || !sys.Lock(&s.lock) {
		return
	}
	for i := uintptr(0); s.count != 0 && i < s.capacity; i++ {
		if e := s.entry(i); e.at > entryGone && e.old == 0 && a.isOld(e.frame) {
			e.old = 1
			atomic.AddUint64(&a.overdue, 1)
		}
	}
	sys.Unlock(&s.lock)
}
