package guard

import (
	"unsafe"

	"granary/internal/core/sys"
)

// This file: the table of the blocks that the system allocator serves. largefree.go has the way of
// a block out of it.

// largeEntry is the record of a block of the system allocator. Its record has class 0, and next
// means: 0 not reached, leakReached, leakScanned (leaks.go).
type largeEntry struct {
	addr sys.Addr // 0: the entry is free
	_    [4 * (1 - sys.Is64Bit)]byte
	record
}

// largeTable is an open hash table by address, with a queue of the freed blocks that still wait.
// All is under Guard.lock.
//
//	an address is in      the block is
//	the table             live, freed, or being freed
//	table and queue       freed; its first bytes are full of the pattern
type largeTable struct {
	entries  sys.Addr
	capacity uintptr // a power of two, 0 before the first block
	count    uintptr

	queue      [largeQueueMost]uintptr // a ring of addresses, oldest at queueFirst
	queueFirst uintptr
	queueCount uintptr
	queueBytes uintptr // asked for
}

const (
	largeEntryBytes     = 40
	largeCapacityFirst  = 4096
	largeQueueMost      = 256
	largeQueueBytesMost = 256 << 20
	largeQueueBlockMost = 64 << 20 // a larger block is given back at once
	largeFillMost       = 1 << 20  // patterns cover so much of a block
	largeSlack          = 16       // canary behind the asked size
	hashFactor          = 0x9e3779b97f4a7c15
)

// The size of an entry is what largeEntryBytes says, or this does not compile.
var _ [largeEntryBytes - unsafe.Sizeof(largeEntry{})]byte
var _ [unsafe.Sizeof(largeEntry{}) - largeEntryBytes]byte

func (t *largeTable) at(index uintptr) *largeEntry {
	return (*largeEntry)((t.entries + sys.Addr(index*largeEntryBytes)).Pointer())
}

func (t *largeTable) home(addr sys.Addr) uintptr {
	return uintptr(uint64(addr)>>4*hashFactor>>32) & (t.capacity - 1)
}

// findLocked is the entry of a block, or nil.
func (t *largeTable) findLocked(addr sys.Addr) *largeEntry {
	if t.count == 0 {
		return nil
	}
	for i := t.home(addr); ; i = (i + 1) & (t.capacity - 1) {
		e := t.at(i)
		if e.addr == addr {
			return e
		}
		if e.addr == 0 {
			return nil
		}
	}
}

// insertLocked is the entry for a block, a new one if it has none; nil if there is no memory.
func (t *largeTable) insertLocked(addr sys.Addr) *largeEntry {
	if t.count*2 >= t.capacity && !t.growLocked() {
		return nil
	}
	i := t.home(addr)
	for t.at(i).addr != 0 && t.at(i).addr != addr {
		i = (i + 1) & (t.capacity - 1)
	}
	e := t.at(i)
	if e.addr == 0 {
		e.addr = addr
		t.count++
	}
	return e
}

func (t *largeTable) growLocked() bool {
	old := *t
	capacity := old.capacity * 2
	if capacity == 0 {
		capacity = largeCapacityFirst
	}
	bytes := sys.AlignUp(capacity*largeEntryBytes, sys.PageBytes())
	memory := sys.Map(bytes)
	if memory == 0 {
		return false
	}
	t.entries, t.capacity = memory, capacity
	for index := uintptr(0); index < old.capacity; index++ {
		from := old.at(index)
		if from.addr == 0 {
			continue
		}
		i := t.home(from.addr)
		for t.at(i).addr != 0 {
			i = (i + 1) & (capacity - 1)
		}
		*t.at(i) = *from
	}
	if old.capacity != 0 {
		sys.Release(old.entries, sys.AlignUp(old.capacity*largeEntryBytes, sys.PageBytes()))
	}
	return true
}

// removeLocked takes an entry out. Those behind it move up, so that no search ends too early.
func (t *largeTable) removeLocked(addr sys.Addr) {
	mask := t.capacity - 1
	hole := t.home(addr)
	for t.at(hole).addr != addr {
		if t.at(hole).addr == 0 {
			return
		}
		hole = (hole + 1) & mask
	}
	for i := (hole + 1) & mask; t.at(i).addr != 0; i = (i + 1) & mask {
		// The entry may move into the hole if its home is not between the hole and itself.
		if home := t.home(t.at(i).addr); (i-home)&mask >= (i-hole)&mask {
			*t.at(hole) = *t.at(i)
			hole = i
		}
	}
	*t.at(hole) = largeEntry{}
	t.count--
}

// containingLocked is the entry of the block that an address lies inside of, or nil.
func (t *largeTable) containingLocked(addr sys.Addr) *largeEntry {
	for i := uintptr(0); i < t.capacity; i++ {
		e := t.at(i)
		if e.addr != 0 && addr > e.addr && uintptr(addr-e.addr) < uintptr(e.asked) {
			return e
		}
	}
	return nil
}

// largeMalloc takes a block from the system allocator. If a signal handler interrupted the guard
// the block stays unknown to it.
func (g *Guard) largeMalloc(size, alignment uintptr, stack uint32) sys.Addr {
	request := size
	if g.patterns {
		request += largeSlack
	}
	block := g.h().SystemAlloc(alignment, request)
	if block == 0 && g.flushLarge(stack) {
		block = g.h().SystemAlloc(alignment, request)
	}
	if block == 0 {
		return 0
	}
	if g.patterns {
		fill(block, filled(size), patternFresh)
		fill(block+sys.Addr(size), largeSlack, patternCanary)
	}
	g.addLarge(block, size, stack)
	return block
}

func (g *Guard) addLarge(block sys.Addr, size uintptr, stack uint32) {
	if !sys.Lock(&g.lock) {
		return
	}
	if e := g.large.insertLocked(block); e != nil {
		e.asked = uint64(size)
		e.allocStack, e.allocThread = stack, sys.ThreadID()
		e.freeStack, e.freeThread, e.next = 0, 0, 0
		e.setStatus(0, stateLive, g.generation)
	}
	sys.Unlock(&g.lock)
}

// filled is how much of a large block the patterns cover.
func filled(size uintptr) uintptr {
	if size > largeFillMost {
		return largeFillMost
	}
	return size
}
