package object

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// Ref names one life of one slot: the index in the low half, the generation of that life in the high half. 0 is Null.
// It may be any number: one that names nothing reads as Null.
type Ref uint64

func makeRef(index, generation uint32) Ref { return Ref(uint64(generation)<<32 | uint64(index)) }

func (r Ref) index() uint32 { return uint32(r) }

func (r Ref) generation() uint32 { return uint32(r >> 32) }

// isLife reports whether the generation is one that an object can have.
func (r Ref) isLife() bool { return r>>32&1 != 0 }

// node is what is known of a slot beside the fields.
//
//	state      generation   count          next, prev               owner
//	fresh      0            0              0                        the type: from freshNext to freshEnd
//	alive      odd          1 + variables  neighbours in the list   the list
//	tombstone  even         variables      neighbours in the list   the variables; the list until Delete is done
//	free       even         0              next free slot           the type: from freeHead to freeTail
//	retired    0            0              0                        nobody, for ever
//
// A variable is a counted one, or an iteration that stands at the object; one that holds a run of slots counts in those
// that were deleted meanwhile only. Generations of a slot rise by one as it comes to life and as it is deleted, so the
// one of a life never comes again: a slot whose last generation is used up is retired. All fields are written by
// whoever holds the type's lock; the generation is read by anybody.
type node struct {
	generation uint32
	count      uint32
	next       uint32
	prev       uint32
}

const (
	nodeBytes = 16
	nodeShift = 4
	// countMost is a count that cannot be counted on: the object is kept for ever.
	countMost = ^uint32(0)
)

func (n *node) isAlive() bool { return n.generation&1 != 0 }

func (w *World) node(index uint32) *node {
	return (*node)((w.nodes + sys.Addr(index)<<nodeShift).Pointer())
}

// entry is a chunk: slots of one type side by side. Its nodes are those from its number shifted by chunkShift on.
type entry struct {
	fields sys.Addr // slots times stride bytes of the heap; 0 after Trim; atomic
	of     sys.Addr // const: the Type
	side   sys.Addr // a handle a slot, and a site a slot with FlagDiagnose; 0 while not needed; atomic
	older  uint32   // const: the chunk that the type got before, 0 for none
	slots  uint32   // const: how many there are, at most chunkSlots
}

// site is where a slot's last object was made and deleted, as numbers of stacks. Written by New and Delete.
type site struct {
	made    uint32
	deleted uint32
}

const (
	chunkShift = 9
	chunkSlots = 1 << chunkShift
	entryBytes = 32
	entryShift = 5

	handleBytes     = 8
	siteBytes       = 8
	sideHandleBytes = chunkSlots * handleBytes
	sideBytes       = sideHandleBytes + chunkSlots*siteBytes // with FlagDiagnose
)

func (w *World) entry(chunk uint32) *entry {
	return (*entry)((w.directory + sys.Addr(chunk)<<entryShift).Pointer())
}

func (w *World) entryOf(index uint32) *entry { return w.entry(index >> chunkShift) }

func slotOf(index uint32) uintptr { return uintptr(index & (chunkSlots - 1)) }

// mask is that of the indexes in use.
func (w *World) mask() uintptr { return atomic.LoadUintptr((*uintptr)(&w.indexMask)) }

// IsAlive reports whether there is such an object. It may be called by anybody at any time.
func (w *World) IsAlive(ref Ref) bool {
	if uintptr(ref.index()) > w.mask() {
		return false
	}
	return ref.isLife() && atomic.LoadUint32(&w.node(ref.index()).generation) == ref.generation()
}

// TypeOf returns the type that the slot of a reference belongs to, nil if the reference names no slot.
func (w *World) TypeOf(ref Ref) *Type {
	if uintptr(ref.index()) > w.mask() || !ref.isLife() {
		return nil
	}
	return w.typeAt(w.entryOf(ref.index()).of)
}

// placeLocked returns the node of an object that has a place in the list, alive or not; nil if it has none any more.
func (w *World) placeLocked(ref Ref) *node {
	n := w.node(ref.index())
	switch n.generation - ref.generation() {
	case 0:
		return n
	case 1:
		if n.count != 0 {
			return n
		}
	}
	return nil
}

// FieldsOf returns where the fields of a slot lie, whatever its state; 0 if they have no memory now.
func (w *World) FieldsOf(ref Ref) sys.Addr {
	t := w.TypeOf(ref)
	if t == nil {
		return 0
	}
	return w.fields(t, ref.index())
}

func (w *World) fields(t *Type, index uint32) sys.Addr {
	fields := w.entryOf(index).fields
	if fields == 0 {
		return 0
	}
	return fields + sys.Addr(slotOf(index)*t.stride)
}

func (w *World) site(index uint32) *site {
	return (*site)((w.entryOf(index).side + sys.Addr(sideHandleBytes+slotOf(index)*siteBytes)).Pointer())
}

// Compile-time proofs that the shifts are those of the structures: a negative constant does not compile.
const (
	_ = nodeBytes - unsafe.Sizeof(node{})
	_ = unsafe.Sizeof(node{}) - 1<<nodeShift
	_ = entryBytes - unsafe.Sizeof(entry{})
	_ = unsafe.Sizeof(entry{}) - 1<<entryShift
)
