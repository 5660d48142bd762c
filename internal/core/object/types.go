package object

import (
	"unsafe"

	"granary/internal/core/sys"
)

// Flags of a type, set when it is made.
const (
	// FlagSingleOwner says that nobody calls while another call for the type is under way: no locks are taken.
	FlagSingleOwner = 1 << iota
	// FlagDiagnose keeps where objects were made and deleted, fills deleted objects with a pattern, and keeps the last
	// DiagnoseKept deleted objects.
	FlagDiagnose
)

const (
	// DiagnoseKept is how many deleted objects of a type are kept with FlagDiagnose: their slots are used again only
	// after as many others were freed.
	DiagnoseKept = 65536
	// BytesMost is the most that the fields of an object may have.
	BytesMost = 1 << 30
	// chunkBytesMost is what the fields of a chunk have at most, if they are more than one object's.
	chunkBytesMost = 1 << 20
	// FieldsMost is how many entries a layout may have.
	FieldsMost = 1 << 16
	// NameMost is how many bytes of a name are kept.
	NameMost = 127
)

// Type is a list of objects of one kind. It lies in a block of the heap, with its layout behind it.
//
//	slots of all chunks = fresh + alive + tombstones + free + retired + clearing
//	alive = made - deleted
//	quickAfter = reuseAfter, or quickNever while New has to go the long way: fresh slots are left, the fields are
//	             many, or the type is diagnosed
//	care = what an object that is deleted may hold, or be held by, beside its list: careFields, careHandles, and
//	       careRun times the runs in use; 0 lets Delete go the short way
//
// Fields that are not const are written by whoever holds lock; with FlagSingleOwner, by the owner.
type Type struct {
	lock       uint32
	flags      uint32 // const
	first      uint32 // of the list; tombstones are in it
	last       uint32
	freshNext  uint32 // slots never used, of the newest chunk
	freshEnd   uint32
	freeHead   uint32 // free slots, the one that has been free for longest first
	freeTail   uint32 // undefined while none is free
	freeCount  uint32
	quickAfter uint32
	care       uint32
	reuseAfter uint32 // const: as many slots stay free
	moves      uint32 // how often an object got another place in the list; atomic
	retired    uint32
	clearing   uint32 // slots that takeSlot took, on neither list, and clears without the lock: Trim leaves the type alone
	_          uint32

	made       uint64
	deleted    uint64
	tombstones uint64

	stride      uintptr  // const: bytes from one object's fields to the next one's
	bytes       uintptr  // const: of one object's fields
	layout      sys.Addr // const: of Fields
	layoutCount uint32   // const: of the object itself; layouts of elements follow
	newestChunk uint32
	slots       uint32 // const: of a chunk
	id          uint32 // const: types are numbered from 1
	chunks      uint64
	older       sys.Addr // const: the type made before

	runs [runsMost]run // what iterations hold

	name [NameMost + 1]byte // const: ends with a zero
}

const (
	careFields  = 1
	careHandles = 2
	careRun     = 4
	quickNever  = ^uint32(0)
)

const typeBytes = unsafe.Sizeof(Type{})

// typeAt is the type at an address, nil for 0: compilers take what Addr.Pointer returns for never nil.
func (w *World) typeAt(addr sys.Addr) *Type {
	if addr == 0 {
		return nil
	}
	return (*Type)(addr.Pointer())
}

func (t *Type) addr() sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(t))) }

// StrideOf is the distance of the fields of objects of so many bytes.
func StrideOf(bytes uintptr) uintptr {
	if bytes == 0 {
		return fieldAlignment
	}
	return (bytes + fieldAlignment - 1) &^ (fieldAlignment - 1)
}

// fieldAlignment is that of the fields of any object; those of a stride that is a multiple of 16 are aligned to 16.
const fieldAlignment = 8

// NewType makes a type whose objects have so many bytes of fields, and what there is to let go of in them:
// total Fields, of which the first count are the object's, the others those of elements. It returns nil if
// there is no memory, or if CheckLayout finds fault.
func (w *World) NewType(bytes uintptr, fields sys.Addr, count, total, flags uint32) *Type {
	if bytes > BytesMost || !CheckLayout(fields, count, total, bytes) {
		return nil
	}
	memory := allocate(sys.AlignUp(typeBytes, 16) + uintptr(total)*fieldBytes)
	if memory == 0 {
		return nil
	}
	t := w.typeAt(memory)
	t.flags, t.bytes, t.stride = flags, bytes, StrideOf(bytes)
	t.layout, t.layoutCount = memory+sys.Addr(sys.AlignUp(typeBytes, 16)), count
	if total != 0 {
		sys.Copy(t.layout, fields, uintptr(total)*fieldBytes)
	}
	t.slots = chunkSlots
	for t.slots > 1 && uintptr(t.slots)*t.stride > chunkBytesMost {
		t.slots >>= 1
	}
	t.quickAfter = quickNever // until the first chunk's slots were all used once
	if count != 0 || flags&FlagDiagnose != 0 {
		t.care = careFields
	}
	if flags&FlagDiagnose != 0 {
		t.reuseAfter = DiagnoseKept
	}
	w.lockWorld()
	w.typeCount++
	t.id, t.older, w.types = w.typeCount, w.types, memory
	sys.Unlock(&w.lock)
	return t
}

// SetNameByte sets one byte of the type's name; those beyond NameMost are left out. It is called before the type is
// used.
func (t *Type) SetNameByte(at uintptr, value byte) {
	if at < NameMost {
		t.name[at&NameMost] = value
	}
}

// SetReuseDistance has slots used again only after at least so many others were freed. It is called before the
// type is used; FlagDiagnose has DiagnoseKept at least.
func (t *Type) SetReuseDistance(slots uint32) {
	if slots > t.reuseAfter {
		t.reuseAfter = slots
	}
}

// ID is the number of the type.
func (t *Type) ID() uint32 { return t.id }

// Stride is the distance of its objects' fields in bytes.
func (t *Type) Stride() uintptr { return t.stride }

// IsDiagnosed reports whether the type has FlagDiagnose.
func (t *Type) IsDiagnosed() bool { return t.flags&FlagDiagnose != 0 }

// IsSingleOwner reports whether the type has FlagSingleOwner.
func (t *Type) IsSingleOwner() bool { return t.flags&FlagSingleOwner != 0 }

// Name is the address of the name, which ends with a zero.
func (t *Type) Name() sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(&t.name))) }

// Types is the newest type, nil if there is none; t.Older the one before t. The list only grows, at this end.
func (w *World) Types() *Type {
	w.lockWorld()
	newest := w.types
	sys.Unlock(&w.lock)
	return w.typeAt(newest)
}

// Older is the type that was made before, nil if there is none.
func (t *Type) Older() *Type {
	if t.older == 0 {
		return nil
	}
	return (*Type)(t.older.Pointer())
}

// alive is how many objects there are. The lock is held.
func (t *Type) alive() uint64 { return t.made - t.deleted }

func (t *Type) enter() {
	if t.flags&FlagSingleOwner == 0 {
		t.lockSlow()
	}
}

// lockSlow takes the lock. It is a function of its own so that enter is small enough to be part of its callers.
func (t *Type) lockSlow() {
	if !sys.Lock(&t.lock) {
		reentered()
	}
}

func (t *Type) leave() {
	if t.flags&FlagSingleOwner == 0 {
		unlock(&t.lock)
	}
}

// Stats are the figures of a type at one moment.
type Stats struct {
	Alive      uint64 // objects
	Unreleased uint64 // deleted, but variables still hold them
	Made       uint64 // objects made in all
	Slots      uint64 // objects there is memory for, alive or not
	Free       uint64 // slots that the next objects get
	Retired    uint64 // slots that will never be used again
	Bytes      uint64 // of the heap, for the fields
}

// Read fills s.
func (w *World) Read(t *Type, s *Stats) {
	t.enter()
	s.Alive, s.Unreleased, s.Made = t.alive(), t.tombstones, t.made
	s.Slots, s.Retired = t.chunks*uint64(t.slots), uint64(t.retired)
	s.Free = uint64(t.freeCount) + uint64(t.freshEnd-t.freshNext)
	s.Bytes = 0
	for chunk := t.newestChunk; chunk != 0; chunk = w.entry(chunk).older {
		if w.entry(chunk).fields != 0 {
			s.Bytes += uint64(uintptr(t.slots) * t.stride)
		}
	}
	t.leave()
}

// Count is the number of objects alive.
func (t *Type) Count() uint64 {
	t.enter()
	alive := t.alive()
	t.leave()
	return alive
}

// Unreleased is the number of objects that are deleted but still held.
func (t *Type) Unreleased() uint64 {
	t.enter()
	tombstones := t.tombstones
	t.leave()
	return tombstones
}
