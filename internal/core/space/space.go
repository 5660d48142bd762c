package space

import (
	"granary/internal/core/sys"
	"sync/atomic"
)

const (
	// GranuleBytes is the unit of the range.
	GranuleBytes = 64 << 10
	// GranuleShift turns an offset into a granule's index.
	GranuleShift = 16
	// First is the first granule that a run may have; those before it belong to the space.
	First = 4

	// BaseAlign is the alignment of the range, and so the largest that runs can have: a huge page.
	BaseAlign = 2 << 20

	// OwnerBytes is the size of a granule's entry in the owner table.
	OwnerBytes = 2

	commitLeast    = 1 << 20
	commitMost     = 16 << 20
	leastRange     = 16 << 20
	metaGranules   = 4
	ageBytes       = 4
	mostGranules   = 1 << (13 + 5*sys.Is64Bit) // 16 GiB, and 512 MiB where addresses have 32 bits
	ownersBytes    = mostGranules * OwnerBytes // of the table, whatever the range: see OwnerWord
	agesBytes      = mostGranules * ageBytes
	limitShareBits = 2 // of a limited address space the range takes at most a quarter
)

// States of a run, in the record of its first granule.
const (
	stateNone      = iota // not the first granule of a run
	stateUsed             // an owner's
	stateDirty            // free; at least one granule does not read as zero
	stateClean            // free; reads as zero
	stateReleasing        // free, on no list: the release sweep is dropping its memory
)

// Ref names a run by the index of its first granule. 0 is no run.
type Ref uint32

// Run is the head of every record.
//
//	state      owner of the fields
//	used       whoever took the run; Next, Prev and Stamp are his to use
//	otherwise  the space, under its lock
//
// head is set in the record of the last granule of a run, whatever its state.
type Run struct {
	Next, Prev Ref    // neighbours in the list of the owner
	Stamp      uint64 // the owner's
	Granules   uint32 // in the run
	head       Ref    // of the run that ends here
	dirty      uint32 // free: granules that do not read as zero
	state      uint8
	Zero       bool  // the memory reads as zero as the run is handed out
	given      uint8 // 1: a run that was given back began at this granule; the sweep counts those
	_          uint8
}

// Space is the range. It must lie outside of the Go heap or in static storage; it holds no Go pointer.
//
// Equations (Check):
//
//	granules below frontier = used + free ones + the first few, which are the space's
//	dirtyGranules = granules of free runs whose age is not 0
//	frontier <= committed <= total
type Space struct {
	Base sys.Addr // const: the first granule

	committed     uintptr // granules that may be touched; only grows; read without a lock
	total         uintptr // granules in the range; const but for GiveTail, then what is committed
	records       sys.Addr
	recordBytes   uintptr  // const
	reserved      sys.Addr // const: what Destroy needs
	reservedBytes uintptr
	_             [sys.LineBytes]byte // what every free reads is in no line with what whoever takes a run writes

	lock     uint32
	growLock uint32
	frontier uintptr // first granule never used; under lock

	free [2]bins // of dirty and of clean runs; under lock

	metaNext    sys.Addr // next free byte for tables; under growLock
	metaEnd     uintptr
	metaUsed    uintptr
	recordsUpTo uintptr // bytes of records committed; under growLock
	agesUpTo    uintptr // bytes of the age table committed; under growLock
	ownersUpTo  uintptr // bytes of the owner table committed; under growLock
	tail        uintptr // after GiveTail: granules that the range may still grow to; under growLock

	dirtyGranules uintptr // under lock, as the counts below
	usedGranules  uintptr
	peakUsed      uintptr // most of the range used at one time
	peakGranules  uintptr // most of the range used or dirty at one time
	releasedRuns  uint64
	releasedBytes uint64
}

// Init reserves rangeBytes of address space (at most 16 GiB; 512 MiB where addresses have 32 bits), or less if the
// system gives less or the process's address space is limited, and prepares the space. recordBytes is the size of a
// record, a multiple of 64. It returns false, and leaves the space empty so that Owns is always false, if not even
// 16 MiB can be had.
func (s *Space) Init(rangeBytes, recordBytes uintptr) bool {
	share := sys.AddressSpaceLimit() >> limitShareBits
	if rangeBytes > mostGranules<<GranuleShift {
		rangeBytes = mostGranules << GranuleShift
	}
	for rangeBytes > leastRange && rangeBytes > share {
		rangeBytes /= 2
	}
	for ; rangeBytes >= leastRange; rangeBytes /= 2 {
		granules := rangeBytes / GranuleBytes
		recordsBytes := sys.AlignUp(granules*recordBytes, sys.PageBytes())
		total := recordsBytes + agesBytes + ownersBytes + BaseAlign + rangeBytes
		start := sys.Reserve(total)
		if start == 0 {
			continue
		}
		s.reserved, s.reservedBytes = start, total
		s.recordBytes = recordBytes
		s.Base = sys.Addr(sys.AlignUp(uintptr(start)+recordsBytes+agesBytes+ownersBytes, BaseAlign))
		s.records = s.ages() - sys.Addr(recordsBytes)
		s.total = granules
		if s.grow(First) {
			s.startRuns()
			s.metaNext = s.Base
			s.metaEnd = uintptr(s.Base) + First*GranuleBytes
			return true
		}
		sys.Release(start, total)
		*s = Space{}
	}
	return false
}

// ages is the age table; see OwnerWord for where it ends.
func (s *Space) ages() sys.Addr { return s.Base - ownersBytes - agesBytes }

// Destroy gives the whole range back. No address of it may be used afterwards.
func (s *Space) Destroy() {
	sys.Release(s.reserved, s.reservedBytes)
	*s = Space{}
}

// Granule is the index of the granule that holds the address; it is at least Committed for a foreign address.
func (s *Space) Granule(addr sys.Addr) uintptr { return uintptr(addr-s.Base) >> GranuleShift }

// Committed is the number of granules whose owners may be asked for.
func (s *Space) Committed() uintptr { return atomic.LoadUintptr(&s.committed) }

// CommittedPlain is Committed for fast paths: a block that the caller holds lies below any value it can read.
func (s *Space) CommittedPlain() uintptr { return s.committed }

// GrowLock and RunsLock are the space's locks, in the order in which they are taken, for fork.
func (s *Space) GrowLock() *uint32 { return &s.growLock }

// RunsLock: see GrowLock.
func (s *Space) RunsLock() *uint32 { return &s.lock }

// Owns reports whether the address lies in the range.
func (s *Space) Owns(addr sys.Addr) bool { return s.Granule(addr) < s.total }

// OwnerOf is the value that the owner of the address's run has set, 0 for none and for foreign addresses.
func (s *Space) OwnerOf(addr sys.Addr) uint16 {
	g := s.Granule(addr)
	if g >= s.Committed() {
		return 0
	}
	return s.OwnerWord(g).Word16()
}

// OwnerWord is where a granule's owner value lies. The table ends where the range begins, and has room for the
// largest range, so that it takes no load to find it.
func (s *Space) OwnerWord(granule uintptr) sys.Addr {
	return s.Base - ownersBytes + sys.Addr(granule*OwnerBytes)
}

// SetOwner writes the owner value of all granules of a run.
func (s *Space) SetOwner(ref Ref, value uint16) {
	for i := uintptr(0); i < uintptr(s.Run(ref).Granules); i++ {
		s.OwnerWord(uintptr(ref) + i).SetWord16(value)
	}
}

// Record is the address of a granule's record.
func (s *Space) Record(ref Ref) sys.Addr { return s.records + sys.Addr(uintptr(ref)*s.recordBytes) }

// Run is the head of that record.
func (s *Space) Run(ref Ref) *Run { return (*Run)(s.Record(ref).Pointer()) }

// Addr is the first byte of a run.
func (s *Space) Addr(ref Ref) sys.Addr { return s.Base + sys.Addr(uintptr(ref)<<GranuleShift) }

// Bytes is the size of a run.
func (s *Space) Bytes(ref Ref) uintptr { return uintptr(s.Run(ref).Granules) << GranuleShift }

// TakeMeta hands out zeroed memory for tables of the layers above; it is never given back. bytes is a multiple of
// 64, at most 256 KiB; a multiple of the page size starts at a page. It returns 0 if the range is full.
func (s *Space) TakeMeta(bytes uintptr) sys.Addr {
	if !sys.Lock(&s.growLock) {
		return 0
	}
	page := sys.PageBytes()
	if bytes&(page-1) == 0 {
		s.metaNext = sys.Addr(sys.AlignUp(uintptr(s.metaNext), page))
	}
	if uintptr(s.metaNext)+bytes > s.metaEnd {
		sys.Unlock(&s.growLock)
		ref := s.Take(metaGranules, 1)
		if ref == 0 {
			return 0
		}
		// Dropping pages makes zeros, too, and leaves those unused that no table needs yet.
		if !s.Run(ref).Zero && !sys.Decommit(s.Addr(ref), s.Bytes(ref)) {
			sys.Clear(s.Addr(ref), s.Bytes(ref))
		}
		if !sys.Lock(&s.growLock) {
			return 0
		}
		s.metaNext = s.Addr(ref)
		s.metaEnd = uintptr(s.metaNext) + s.Bytes(ref)
	}
	addr := s.metaNext
	s.metaNext += sys.Addr(bytes)
	s.metaUsed += bytes
	sys.Unlock(&s.growLock)
	return addr
}
