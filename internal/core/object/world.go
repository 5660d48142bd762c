package object

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// World is all types and objects of a process. It must lie in static storage or outside of the Go heap, zeroed before
// Init; it holds no Go pointer.
//
//	field                    written by
//	nodes, directory         Init
//	indexMask                whoever holds lock; rises only; read by anybody
//	chunkCount, types        whoever holds lock
//	handles of Handle        whoever holds handleLock
//
// Locks are taken in this order: a type's lock, then one of lock and handleLock. No two types' locks are held together
// but by ForkPrepare, which takes all in the order of the list of types. Memory is taken and given back with no lock
// held, but for the table of handles.
type World struct {
	nodes     sys.Addr // const: the node of index 0, which is nobody's
	directory sys.Addr // const: the entry of chunk 0, which is nobody's
	indexMask sys.Addr // of the indexes whose nodes and entries are committed, a power of two of them; atomic

	lock       uint32
	handleLock uint32
	chunkCount uint32 // handed out to types
	chunksMost uint32 // const
	typeCount  uint32
	types      sys.Addr // the newest Type
	reserved   uintptr  // const: bytes from nodes on

	lastHandle  uint64
	handleCount uintptr
	handleRoom  uintptr  // a power of two
	handleTable sys.Addr // handleRoom times a handleEntry
}

const (
	indexesMost   = 1 << 30 // 16 GiB of addresses
	indexesLeast  = 1 << 16
	commitIndexes = indexesLeast // at first: 1 MiB of addresses; then it doubles
)

// Init reserves the table of nodes and the directory, for at most indexes slots, or as many as there are addresses
// for, a power of two in any case. It returns false if not even some ten thousand can be had.
func (w *World) Init(indexes uintptr) bool {
	nodes, directory := w.nodes, w.directory
	// Not more than an eighth of the addresses that the process may have.
	most := uintptr(indexesMost)
	for limit := sys.AddressSpaceLimit() / 8; most > indexesLeast && (most > indexes || most*nodeBytes > limit); {
		most >>= 1
	}
	for ; most >= indexesLeast; most >>= 1 {
		nodesBytes := sys.AlignUp(most*nodeBytes, sys.PageBytes())
		bytes := nodesBytes + sys.AlignUp(most>>chunkShift*entryBytes, sys.PageBytes())
		if start := sys.Reserve(bytes); start != 0 {
			w.nodes, w.directory, w.reserved = start, start+sys.Addr(nodesBytes), bytes
			w.chunksMost = uint32(most >> chunkShift)
			w.chunkCount = 1 // the first is nobody's
			if w.commitLocked() {
				return true
			}
			sys.Release(start, bytes)
			w.nodes, w.directory, w.reserved = nodes, directory, 0
			return false
		}
	}
	return false
}

// IsReady reports whether Init was called with success.
func (w *World) IsReady() bool { return w.reserved != 0 }

// ReadAsNull has Find work before Init, which finds nothing: zero is memory of 16 bytes that stays zero.
func (w *World) ReadAsNull(zero sys.Addr) { w.nodes, w.directory = zero, zero }

// Close gives back all memory of types, fields and tables. Nobody may use anything of the world any more.
func (w *World) Close() {
	for t := w.typeAt(w.types); t != nil; {
		next := w.typeAt(t.older)
		w.closeType(t)
		t = next
	}
	if w.handleTable != 0 {
		free(w.handleTable)
	}
	sys.Release(w.nodes, w.reserved)
	*w = World{}
}

func (w *World) closeType(t *Type) {
	for chunk := t.newestChunk; chunk != 0; {
		e := w.entry(chunk)
		freeIfAny(e.fields)
		freeIfAny(e.side)
		chunk = e.older
	}
	free(t.addr())
}

func freeIfAny(block sys.Addr) {
	if block != 0 {
		free(block)
	}
}

// commitLocked commits as much of the tables again as is committed.
func (w *World) commitLocked() bool {
	from, to := uintptr(0), uintptr(commitIndexes)
	if w.indexMask != 0 {
		from, to = w.mask()+1, (w.mask()+1)*2
	}
	if to > uintptr(w.chunksMost)<<chunkShift {
		return false
	}
	// Pages are larger than what a small piece of the directory has: committing some twice does no harm.
	page := sys.PageBytes()
	entries := w.directory + sys.Addr(from>>chunkShift*entryBytes)&^sys.Addr(page-1)
	end := w.directory + sys.Addr(sys.AlignUp(to>>chunkShift*entryBytes, page))
	if !sys.Commit(w.nodes+sys.Addr(from*nodeBytes), (to-from)*nodeBytes) ||
		!sys.Commit(entries, uintptr(end-entries)) {
		return false
	}
	atomic.StoreUintptr((*uintptr)(&w.indexMask), to-1)
	return true
}

// addChunk makes a chunk for a type. It returns its number, 0 if the tables are full or the system refuses memory for
// them.
func (w *World) addChunk(t *Type, fields, side sys.Addr) uint32 {
	w.lockWorld()
	chunk := w.chunkCount
	if chunk == w.chunksMost || uintptr(chunk)<<chunkShift > w.mask() && !w.commitLocked() {
		sys.Unlock(&w.lock)
		return 0
	}
	e := w.entry(chunk)
	e.fields, e.of, e.side, e.slots = fields, t.addr(), side, t.slots
	w.chunkCount++
	sys.Unlock(&w.lock)
	return chunk
}

func (w *World) lockWorld() {
	if !sys.Lock(&w.lock) {
		reentered()
	}
}
