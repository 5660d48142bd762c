package gc

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// States of a block, in the header of the first block of what it belongs to.
const (
	stateNone  = iota // not the first block of anything
	stateFree         // of a run of free blocks
	stateSmall        // holds objects of one size
	stateLarge        // of a large object
)

// Flags of a block.
const (
	flagPointerFree   = 1 << iota // objects are not scanned
	flagUncollectable             // objects are roots until they are freed
	flagIgnoreOffPage             // only addresses in the first block keep the large object alive
	flagHasDisclaim               // the kind's procedure looks at each dead object
)

const (
	headerBytes = 128
	headerShift = 7
)

// header describes one small block, one large object or one run of free blocks.
//
//	state        fields in use
//	stateSmall   all but stamp; blocks is 1; next links the list of blocks to sweep, or those of one refill
//	stateLarge   bytes, blocks, descriptor, marked (0 or 1), bit 0 of marks and grey, stamp, epoch, markedIn
//	stateFree    blocks, marked, next and prev (the list of free runs), stamp; runFirst in the header of its last block
//
// Headers of blocks inside of a large object or a free run are not written: they need no memory if they never were.
//
// The first 64 bytes are what an address lookup and a scan read, the second 64 what marking writes.
type header struct {
	state      uint8
	flags      uint8
	kind       uint8
	_          uint8
	granules   uint16  // small: per object
	objects    uint16  // small: in the block
	reciprocal uint32  // small: (granule * reciprocal) >> 16 is the index of the object that holds it
	blocks     uint32  // large and free: in the run
	bytes      uintptr // of one object, granules or the large object's size in bytes rounded up to granules
	descriptor uintptr // what an object holds; see mark_descriptor.go
	next, prev blockRef
	queueNext  blockRef // 0, or the block is in a marker's queue or being scanned: the next one, or endOfQueue
	markedIn   uint32   // the full collection that marks are of; in the last block of a free run: its first
	epoch      uint32   // the collection after which it was swept or sorted; differs from the heap's: to be so
	marked     uint32   // objects marked as the last collection ended; free: blocks that need not read as zero
	stamp      uint64   // free: since when, nanoseconds; large: the next byte to be scanned

	marks [4]uint64 // a bit a granule, set at the start of a marked object
	grey  [4]uint64 // found, and not scanned yet; may be marked already, if it is scanned again
}

// isStale reports whether the marks of a block are of an earlier full collection, and count as cleared: neither this
// one nor the program has marked anything there. Those of uncollectable objects say that they are in use.
func (h *Heap) isStale(hd *header) bool {
	return atomic.LoadUint32(&hd.markedIn) != h.marking.full && hd.flags&flagUncollectable == 0
}

// freshen clears marks that are stale. Many may call it for one block at a time.
func (h *Heap) freshen(hd *header) {
	full := h.marking.full
	for spins := 1; ; spins++ {
		is := atomic.LoadUint32(&hd.markedIn)
		if is == full {
			return
		}
		if is != beingFreshened && atomic.CompareAndSwapUint32(&hd.markedIn, is, beingFreshened) {
			break
		}
		if spins%spinsPerYield == 0 {
			sys.Yield()
		}
		sys.Relax()
	}
	if hd.flags&flagUncollectable == 0 {
		hd.marks[0], hd.marks[1], hd.marks[2], hd.marks[3] = 0, 0, 0, 0
	}
	atomic.StoreUint32(&hd.markedIn, full)
}

// beingFreshened is markedIn while somebody clears the marks.
const beingFreshened = ^uint32(0)

// runFirst is the first block of the free run that ends with this one.
func (hd *header) runFirst() blockRef { return blockRef(hd.markedIn) }

// header is the header of a block.
func (h *Heap) header(block blockRef) *header {
	return (*header)((h.headers + sys.Addr(block)<<headerShift).Pointer())
}

// indexEntry is where a block's entry in the index lies.
func (h *Heap) indexEntry(block blockRef) *blockRef {
	return (*blockRef)((h.index + sys.Addr(block)*4).Pointer())
}

// blockAddr is the first byte of a block.
func (h *Heap) blockAddr(block blockRef) sys.Addr { return h.Base + sys.Addr(block)<<blockShift }
