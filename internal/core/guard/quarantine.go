package guard

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// quarantine is the queue of freed blocks, linked through their records, oldest first.
//
//	head ... cursor ... tail
//
// cursor is the block that patrol looks at next, from offset on; 0: the oldest. Everything is under
// Guard.lock.
type quarantine struct {
	head, tail, cursor uint32
	count              uint32
	bytes              uintptr
	offset             uintptr
}

const (
	quarantineMost      = 4096
	quarantineBytesMost = 16 << 20
	patrolBytes         = 512 // what a malloc looks at
)

// pushLocked puts a freed block, already filled, at the end of the queue, and takes off what is too
// much. It fills f if one of those was written to.
func (g *Guard) pushLocked(place heap.Place, f *Finding) {
	q := &g.quarantine
	ref := g.refOf(place.Start)
	g.record(place).next = 0
	if q.tail != 0 {
		g.record(g.h().Locate(g.blockOf(q.tail))).next = ref
	} else {
		q.head = ref
	}
	q.tail = ref
	q.count++
	q.bytes += heap.ClassBytes(place.Class)
	for q.count > quarantineMost || q.bytes > quarantineBytesMost {
		if !g.popLocked(f) {
			return
		}
	}
}

// emptyQuarantine gives all blocks back to their spans, when memory is short. It returns false if none went back.
func (g *Guard) emptyQuarantine(stack uint32) bool {
	if g.quarantine.count == 0 || !sys.Lock(&g.lock) {
		return false
	}
	var f Finding
	before := g.quarantine.count
	for g.quarantine.count != 0 && g.popLocked(&f) {
	}
	emptied := g.quarantine.count < before
	sys.Unlock(&g.lock)
	if f.What != FoundNothing {
		f.Call, f.NowStack = CallMalloc, stack
		g.report(&f)
	}
	return emptied
}

// QuarantineBytes is the size of the blocks that wait in the quarantine.
func (g *Guard) QuarantineBytes() uintptr { return g.quarantine.bytes }

// popLocked gives the oldest block back to its span. It returns false if a misuse was found or the
// heap could not take it.
func (g *Guard) popLocked(f *Finding) bool {
	q := &g.quarantine
	block := g.blockOf(q.head)
	place := g.h().Locate(block)
	r := g.record(place)
	if !checkFreed(r, place, f) {
		return false
	}
	next := r.next
	r.next = place.Serial
	r.setStatus(place.Class, stateReusable, r.generation())
	if !g.h().PutBlock(place.Class, block) {
		r.next = next
		r.setStatus(place.Class, stateFreed, r.generation())
		return false
	}
	if q.cursor == q.head {
		q.cursor, q.offset = next, 0
	}
	q.head = next
	if next == 0 {
		q.tail = 0
	}
	q.count--
	q.bytes -= heap.ClassBytes(place.Class)
	return true
}

// checkFreed looks whether a freed block is still full of the pattern.
func checkFreed(r *record, place heap.Place, f *Finding) bool {
	bytes := heap.ClassBytes(place.Class)
	at := mismatch(place.Start, bytes, patternFreed)
	if at == bytes {
		return true
	}
	f.describe(r, place)
	f.What, f.Offset = FoundWrittenFreed, at
	return false
}

// checkReuse looks at a block that is being handed out again. zero says that its memory went back
// to the system meanwhile.
func (g *Guard) checkReuse(r *record, place heap.Place, zero bool, stack uint32) {
	// A run that became a span anew since the block was freed holds what others left, or nothing.
	if zero || r.class() != place.Class || r.state() != stateReusable || r.next != place.Serial {
		return
	}
	var f Finding
	if !checkFreed(r, place, &f) {
		f.Call, f.NowStack = CallMalloc, stack
		g.report(&f)
	}
}

// patrol looks at the next bytes of the quarantine, so that a write to any of them is found before
// long.
func (g *Guard) patrol(stack uint32) {
	if g.quarantine.count == 0 || !sys.Lock(&g.lock) {
		return
	}
	var f Finding
	g.patrolLocked(&f)
	sys.Unlock(&g.lock)
	if f.What != FoundNothing {
		f.Call, f.NowStack = CallMalloc, stack
		g.report(&f)
	}
}

func (g *Guard) patrolLocked(f *Finding) {
	q := &g.quarantine
	if q.cursor == 0 {
		q.cursor, q.offset = q.head, 0
	}
	if q.cursor == 0 {
		return
	}
	place := g.h().Locate(g.blockOf(q.cursor))
	r := g.record(place)
	left := heap.ClassBytes(place.Class) - q.offset
	bytes := left
	if bytes > patrolBytes {
		bytes = patrolBytes
	}
	at := mismatch(place.Start+sys.Addr(q.offset), bytes, patternFreed)
	if at != bytes {
		f.describe(r, place)
		f.What, f.Offset = FoundWrittenFreed, q.offset+at
	}
	q.offset += bytes
	if bytes == left {
		q.cursor, q.offset = r.next, 0
	}
}
