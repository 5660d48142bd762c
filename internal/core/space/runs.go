package space

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: taking and giving back runs. doc.go has the order in which a run is looked for.

// age is where a granule's age lies: 0 if it reads as zero, ageUnseen if it was freed since the last sweep, else the
// sweep's time in milliseconds. The age of a used granule is what it was when the run was taken.
func (s *Space) age(granule uintptr) *uint32 {
	return (*uint32)((s.ages() + sys.Addr(granule*ageBytes)).Pointer())
}

const ageUnseen = 1

// countDirty counts the granules that do not read as zero.
func (s *Space) countDirty(ref Ref, granules uint32) uint32 {
	count := uint32(0)
	for g := uintptr(ref); g < uintptr(ref)+uintptr(granules); g++ {
		if *s.age(g) != 0 {
			count++
		}
	}
	return count
}

// startRuns makes the first granules, which hold tables, a run of their own that is never free.
func (s *Space) startRuns() {
	s.frontier = First
	s.shape(0, First)
	s.Run(0).state = stateUsed
}

// shape sets the ends of a run.
func (s *Space) shape(ref Ref, granules uint32) {
	s.Run(ref).Granules = granules
	s.Run(ref + Ref(granules) - 1).head = ref
}

// setFree makes a free run of granules that no list holds. They are not joined with their neighbours.
func (s *Space) setFree(ref Ref, granules uint32) {
	if granules == 0 {
		return
	}
	s.shape(ref, granules)
	s.Run(ref).dirty = s.countDirty(ref, granules)
	s.link(ref)
}

// Take hands out a run of that many granules that starts at a multiple of align, a power of two. Run.Zero says whether
// its memory reads as zero. It returns 0 if the range is full, the system refuses memory, or a signal handler
// interrupted the space itself.
func (s *Space) Take(granules, align uint32) Ref {
	for {
		ref, need := s.TakeFree(granules, align)
		if ref != 0 || need == 0 {
			return ref
		}
		if !sys.Lock(&s.growLock) {
			return 0
		}
		// Somebody else may have grown the committed part while this thread waited.
		grown := need <= s.committed || s.grow(need)
		sys.Unlock(&s.growLock)
		if !grown {
			return 0
		}
	}
}

// TakeFree is Take from what is committed: if it returns 0, need is the number of granules to commit, or 0 if that
// would not help.
func (s *Space) TakeFree(granules, align uint32) (ref Ref, need uintptr) {
	if !sys.Lock(&s.lock) {
		return 0, 0
	}
	ref = s.takeFreeLocked(granules, align)
	if ref == 0 {
		ref = s.takeFrontierLocked(granules, align)
	}
	if ref != 0 {
		s.usedGranules += uintptr(granules)
		s.notePeak()
	}
	need = uintptr(alignRef(Ref(s.frontier), align)) + uintptr(granules)
	sys.Unlock(&s.lock)
	if sys.MustRecommit && ref != 0 && !s.recommit(ref, granules) {
		s.untake(ref, granules)
		return 0, 0
	}
	return ref, need
}

// recommit makes granules of a used run usable whose memory may have gone back: they are those that read as zero.
func (s *Space) recommit(first Ref, granules uint32) bool {
	return s.countDirty(first, granules) == granules ||
		sys.Commit(s.Addr(first), uintptr(granules)<<GranuleShift)
}

// untake makes granules free again that were just taken. If they are the end of a run, it has been shaped without them.
func (s *Space) untake(first Ref, granules uint32) {
	sys.Lock(&s.lock)
	s.usedGranules -= uintptr(granules)
	s.joinLocked(first, granules)
	sys.Unlock(&s.lock)
}

func (s *Space) notePeak() {
	if s.usedGranules > s.peakUsed {
		s.peakUsed = s.usedGranules
	}
	if held := s.usedGranules + s.dirtyGranules; held > s.peakGranules {
		s.peakGranules = held
	}
}

func (s *Space) takeFreeLocked(granules, align uint32) Ref {
	found := s.find(&s.free[0], granules, align)
	if found == 0 {
		found = s.find(&s.free[1], granules, align)
	}
	if found == 0 {
		return 0
	}
	end := found + Ref(s.Run(found).Granules)
	s.unlink(found)
	ref := alignRef(found, align)
	s.setFree(found, uint32(ref-found))
	s.setFree(ref+Ref(granules), uint32(end-ref)-granules)
	s.use(ref, granules)
	return ref
}

// use makes a used run of granules that no list holds.
func (s *Space) use(ref Ref, granules uint32) {
	s.shape(ref, granules)
	run := s.Run(ref)
	run.state = stateUsed
	run.Zero = s.countDirty(ref, granules) == 0
	run.Next, run.Prev, run.Stamp = 0, 0, 0
	s.forgetGiven(ref, granules)
}

// forgetGiven notes that no run which was given back begins at these granules any more. It writes only where one did:
// the records inside of a large run need no memory.
func (s *Space) forgetGiven(ref Ref, granules uint32) {
	for g := ref; g < ref+Ref(granules); g++ {
		if run := s.Run(g); run.given != 0 {
			run.given = 0
		}
	}
}

// takeFrontierLocked takes a run from the granules never used.
func (s *Space) takeFrontierLocked(granules, align uint32) Ref {
	before := Ref(s.frontier)
	ref := alignRef(before, align)
	if uintptr(ref)+uintptr(granules) > s.Committed() {
		return 0
	}
	s.frontier = uintptr(ref) + uintptr(granules)
	s.use(ref, granules)
	if ref != before {
		s.joinLocked(before, uint32(ref-before))
	}
	return ref
}

// grow commits the range, and the tables that describe it, up to that many granules or more. growLock is held.
func (s *Space) grow(upTo uintptr) bool {
	if s.tail != 0 {
		return s.growTail(upTo)
	}
	if upTo > s.total {
		return false
	}
	step := s.committed << GranuleShift / 8
	if step < commitLeast {
		step = commitLeast
	}
	if step > commitMost {
		step = commitMost
	}
	if least := s.committed + step>>GranuleShift; upTo < least {
		upTo = least
	}
	if upTo > s.total {
		upTo = s.total
	}
	if !growTable(s.Base-ownersBytes, &s.ownersUpTo, upTo*OwnerBytes) ||
		!growTable(s.ages(), &s.agesUpTo, upTo*ageBytes) ||
		!growTable(s.records, &s.recordsUpTo, upTo*s.recordBytes) {
		return false
	}
	from := s.Base + sys.Addr(s.committed<<GranuleShift)
	if !sys.Commit(from, (upTo-s.committed)<<GranuleShift) {
		return false
	}
	atomic.StoreUintptr(&s.committed, upTo)
	return true
}

// growTable commits whole pages of a table, which starts at a page, so that its first bytes are usable.
func growTable(table sys.Addr, upTo *uintptr, bytes uintptr) bool {
	want := sys.AlignUp(bytes, sys.PageBytes())
	if *upTo >= want {
		return true
	}
	if !sys.Commit(table+sys.Addr(*upTo), want-*upTo) {
		return false
	}
	*upTo = want
	return true
}

// Give takes a used run back. Its contents are undefined from then on. The caller has cleared its owner value. It
// returns false, and the run stays used, if a signal handler interrupted the space itself.
func (s *Space) Give(ref Ref) bool {
	return s.give(ref, ageUnseen)
}

// GiveNow takes a used run back and drops its memory at once.
func (s *Space) GiveNow(ref Ref) bool {
	run := s.Run(ref)
	if !sys.Uncommit(s.Addr(ref), uintptr(run.Granules)<<GranuleShift) {
		return s.give(ref, ageUnseen)
	}
	return s.give(ref, 0)
}

func (s *Space) give(ref Ref, age uint32) bool {
	if !sys.Lock(&s.lock) {
		return false
	}
	granules := s.Run(ref).Granules
	for g := uintptr(ref); g < uintptr(ref)+uintptr(granules); g++ {
		*s.age(g) = age
	}
	s.usedGranules -= uintptr(granules)
	s.Run(ref).given = uint8(age & ageUnseen)
	if age == 0 {
		s.releasedRuns++
		s.releasedBytes += uint64(granules) << GranuleShift
	}
	s.joinLocked(ref, granules)
	s.notePeak()
	sys.Unlock(&s.lock)
	return true
}

func (s *Space) isFree(ref Ref) bool {
	state := s.Run(ref).state
	return state == stateDirty || state == stateClean
}

// joinLocked makes granules that no list holds free, in one run with the free neighbours.
func (s *Space) joinLocked(ref Ref, granules uint32) {
	if before := s.Run(ref - 1).head; s.isFree(before) {
		s.unlink(before)
		granules += uint32(ref - before)
		s.Run(ref).state = stateNone
		ref = before
	}
	if after := ref + Ref(granules); uintptr(after) < s.frontier && s.isFree(after) {
		s.unlink(after)
		granules += s.Run(after).Granules
		s.Run(after).state = stateNone
	}
	s.setFree(ref, granules)
}

// Extend makes a used run larger by granules behind it, if those are free. Their memory need not read as zero.
func (s *Space) Extend(ref Ref, more uint32) bool {
	if !sys.Lock(&s.lock) {
		return false
	}
	granules := s.Run(ref).Granules
	after := ref + Ref(granules)
	fits := uintptr(after) < s.frontier && s.isFree(after) && s.Run(after).Granules >= more
	if fits {
		rest := s.Run(after).Granules - more
		s.unlink(after)
		s.Run(after).state = stateNone
		s.shape(ref, granules+more)
		s.forgetGiven(after, more)
		s.setFree(after+Ref(more), rest)
		s.usedGranules += uintptr(more)
		s.notePeak()
	}
	sys.Unlock(&s.lock)
	if sys.MustRecommit && fits && !s.recommit(after, more) {
		s.shape(ref, granules)
		s.untake(after, more)
		return false
	}
	return fits
}

// Shrink gives back all but the first granules of a used run. The caller has cleared the owner value of the others.
func (s *Space) Shrink(ref Ref, granules uint32) {
	before := s.Run(ref).Granules
	if granules >= before || !sys.Lock(&s.lock) {
		return
	}
	s.shape(ref, granules)
	rest := ref + Ref(granules)
	for g := uintptr(rest); g < uintptr(ref)+uintptr(before); g++ {
		*s.age(g) = ageUnseen
	}
	s.usedGranules -= uintptr(before - granules)
	s.joinLocked(rest, before-granules)
	sys.Unlock(&s.lock)
}

// ClearDirty sets the first bytes of a run that was just taken to zero: only those that do not read so already.
func (s *Space) ClearDirty(ref Ref, bytes uintptr) {
	for done := uintptr(0); done < bytes; done += GranuleBytes {
		if *s.age(uintptr(ref) + done>>GranuleShift) == 0 {
			continue
		}
		piece := bytes - done
		if piece > GranuleBytes {
			piece = GranuleBytes
		}
		sys.Clear(s.Addr(ref)+sys.Addr(done), piece)
	}
}
