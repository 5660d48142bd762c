package guard

import (
	"sync/atomic"

	"granary/internal/core/heap"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// record is what the guard knows of a block.
//
//	state     the block is                       the fields are written by
//	none      in its span, never handed out      nobody: zero
//	live      the program's                      Malloc, Realloc
//	freed     in the quarantine                  the holder of the lock
//	reusable  in its span, and was freed once    Malloc, which has the block
//
// A record whose class is not that of its span is left from an earlier use of the granule and
// counts as none. next links the quarantine; in a reusable block it is the serial of its span, in a
// live one 0, but while leaks are counted, when it links the blocks that are reachable and still to
// be looked at.
type record struct {
	asked       uint64
	allocStack  uint32
	freeStack   uint32
	allocThread uint32
	freeThread  uint32
	next        uint32 // blockRef
	status      uint32 // class, state, generation; atomic
}

const (
	recordBytes  = 32
	recordsBytes = space.GranuleBytes // of a granule: 2048 records, for blocks of 32 bytes
)

const (
	stateNone     = 0
	stateLive     = 1
	stateFreed    = 2
	stateReusable = 3
)

const (
	statusStateShift      = 8
	statusGenerationShift = 16
	generationMask        = 0xffff
)

// blockRef names a block by its distance from the range's base in units of 16 bytes. 0 is none: the
// range begins with memory of its own.
type blockRef uint32

const blockRefUnit = 16

func (g *Guard) refOf(block sys.Addr) uint32 {
	return uint32(uintptr(block-g.h().Base) / blockRefUnit)
}

func (g *Guard) blockOf(ref uint32) sys.Addr {
	return g.h().Base + sys.Addr(uintptr(ref)*blockRefUnit)
}

// record is the record of the block at a place whose granule has records.
func (g *Guard) record(place heap.Place) *record {
	at := g.shadow + sys.Addr(place.First*recordsBytes+place.Index*recordBytes)
	return (*record)(at.Pointer())
}

// hasRecords reports whether the records of a granule may be touched.
func (g *Guard) hasRecords(granule uintptr) bool {
	return granule < atomic.LoadUintptr(&g.committed)
}

// commitRecords makes it so. It returns false if there is no memory, or a signal handler
// interrupted the guard.
func (g *Guard) commitRecords(granule uintptr) bool {
	if g.hasRecords(granule) {
		return true
	}
	if granule >= g.granules || !sys.Lock(&g.lock) {
		return false
	}
	upTo := sys.AlignUp(granule+1, shadowGrowth)
	if upTo > g.granules {
		upTo = g.granules
	}
	if g.committed < upTo {
		from := g.shadow + sys.Addr(g.committed*recordsBytes)
		if sys.Commit(from, (upTo-g.committed)*recordsBytes) {
			atomic.StoreUintptr(&g.committed, upTo)
		}
	}
	sys.Unlock(&g.lock)
	return g.hasRecords(granule)
}

func (r *record) class() uintptr { return uintptr(atomic.LoadUint32(&r.status) & 0xff) }

func (r *record) state() uint32 { return atomic.LoadUint32(&r.status) >> statusStateShift & 0xff }

func (r *record) generation() uint32 {
	return atomic.LoadUint32(&r.status) >> statusGenerationShift
}

// setStatus comes last when a record is written: who sees the state sees the other fields too.
func (r *record) setStatus(class uintptr, state, generation uint32) {
	status := uint32(class) | state<<statusStateShift |
		(generation&generationMask)<<statusGenerationShift
	atomic.StoreUint32(&r.status, status)
}
