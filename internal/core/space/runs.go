package space

import (
	"granary/internal/core/sys"
	"sync/atomic"
)

// This file: taking and giving back runs. doc.go has the order in which a run is looked for.

func sizeIndex(granules uint8) int {
	if granules == 1 {
		return 0
	}
	return 1
}

func (s *Space) push(l *list, ref Ref, state uint8) {
	run := s.Run(ref)
	run.state = state
	run.Prev, run.Next = 0, l.head
	if l.head != 0 {
		s.Run(l.head).Prev = ref
	}
	l.head = ref
	l.count++
}

func (s *Space) unlink(l *list, ref Ref) {
	run := s.Run(ref)
	if run.Prev != 0 {
		s.Run(run.Prev).Next = run.Next
	} else {
		l.head = run.Next
	}
	if run.Next != 0 {
		s.Run(run.Next).Prev = run.Prev
	}
	run.Next, run.Prev = 0, 0
	l.count--
}

// listOf is the list that a free run of this state and size waits in.
func (s *Space) listOf(state uint8, index int) *list {
	if state == stateDirty {
		return &s.dirty[index&1]
	}
	return &s.clean[index&1]
}

// Take hands out a run of 1 or GroupGranules granules; Run.Zero says whether its memory reads as zero. It returns
// 0 if the range is full, the system refuses memory, or a signal handler interrupted the space itself.
func (s *Space) Take(granules uint8) Ref {
	for {
		if !sys.Lock(&s.lock) {
			return 0
		}
		ref := s.takeFreeLocked(granules)
		if ref == 0 && s.frontier+GroupGranules <= s.committed {
			ref = s.takeFrontierLocked(granules)
		}
		if ref != 0 {
			s.usedGranules += uintptr(granules)
			if held := s.usedGranules + s.dirtyGranules; held > s.peakGranules {
				s.peakGranules = held
			}
			sys.Unlock(&s.lock)
			return ref
		}
		frontier := s.frontier
		sys.Unlock(&s.lock)
		if !sys.Lock(&s.growLock) {
			return 0
		}
		// Somebody else may have moved the frontier while this thread waited.
		grown := s.frontier+GroupGranules <= s.committed || s.grow()
		sys.Unlock(&s.growLock)
		if !grown && frontier == s.frontier {
			return 0
		}
	}
}

func (s *Space) takeFreeLocked(granules uint8) Ref {
	index := sizeIndex(granules)
	for state := uint8(stateDirty); state <= stateClean; state++ {
		if l := s.listOf(state, index); l.head != 0 {
			return s.useLocked(l, l.head, state)
		}
		if index == 0 {
			if l := s.listOf(state, 1); l.head != 0 {
				return s.splitLocked(l, l.head, state)
			}
		}
	}
	return 0
}

// useLocked takes a free run off its list.
func (s *Space) useLocked(l *list, ref Ref, state uint8) Ref {
	s.unlink(l, ref)
	run := s.Run(ref)
	run.Zero = state == stateClean
	run.state = stateUsed
	run.Stamp = 0
	if state == stateDirty {
		s.dirtyGranules -= uintptr(run.Granules)
	}
	return ref
}

// splitLocked takes the first granule of a free group and puts the others back, the lowest address on top.
func (s *Space) splitLocked(l *list, ref Ref, state uint8) Ref {
	stamp := s.Run(ref).Stamp
	s.unlink(l, ref)
	for i := Ref(GroupGranules - 1); i > 0; i-- {
		run := s.Run(ref + i)
		run.Granules, run.Stamp = 1, stamp
		s.push(s.listOf(state, 0), ref+i, state)
	}
	run := s.Run(ref)
	run.Granules, run.Stamp = 1, 0
	run.Zero = state == stateClean
	run.state = stateUsed
	if state == stateDirty {
		s.dirtyGranules--
	}
	return ref
}

// takeFrontierLocked takes a run from the granules never used.
func (s *Space) takeFrontierLocked(granules uint8) Ref {
	ref := Ref(s.frontier)
	s.frontier += GroupGranules
	run := s.Run(ref)
	run.Granules = GroupGranules
	for i := Ref(1); i < GroupGranules; i++ {
		s.Run(ref + i).state = stateInner
	}
	if granules == 1 {
		s.push(&s.clean[1], ref, stateClean)
		return s.splitLocked(&s.clean[1], ref, stateClean)
	}
	run.state, run.Zero = stateUsed, true
	return ref
}

// grow commits the next piece of the range and of the tables that describe it. growLock is held.
func (s *Space) grow() bool {
	if s.committed >= s.total {
		return false
	}
	bytes := s.committed << GranuleShift / 8
	if bytes < commitLeast {
		bytes = commitLeast
	}
	if bytes > commitMost {
		bytes = commitMost
	}
	granules := bytes >> GranuleShift &^ (GroupGranules - 1)
	if granules > s.total-s.committed {
		granules = s.total - s.committed
	}
	upTo := s.committed + granules
	owners := s.Base - ownersBytes
	if !growTable(owners, &s.ownersUpTo, upTo*ownerBytes) ||
		!growTable(s.records, &s.recordsUpTo, upTo*s.recordBytes) {
		return false
	}
	from := s.Base + sys.Addr(s.committed<<GranuleShift)
	if !sys.Commit(from, granules<<GranuleShift) {
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

// Give takes a used run back. Its contents are undefined from then on. The caller has cleared its owner value.
func (s *Space) Give(ref Ref) bool {
	if !sys.Lock(&s.lock) {
		return false
	}
	run := s.Run(ref)
	s.usedGranules -= uintptr(run.Granules)
	s.dirtyGranules += uintptr(run.Granules)
	run.Stamp = 0
	s.push(&s.dirty[sizeIndex(run.Granules)], ref, stateDirty)
	if run.Granules == 1 {
		s.joinLocked(ref &^ (GroupGranules - 1))
	}
	sys.Unlock(&s.lock)
	return true
}

// joinLocked makes one run of the group's four granules if all are free. If one of them is dirty the whole counts
// as dirty, and as young as its youngest part.
func (s *Space) joinLocked(first Ref) {
	anyDirty := false
	stamp := ^uint64(0)
	for i := Ref(0); i < GroupGranules; i++ {
		run := s.Run(first + i)
		if run.Granules != 1 || (run.state != stateDirty && run.state != stateClean) {
			return
		}
		if run.state == stateDirty {
			anyDirty = true
			if run.Stamp < stamp {
				stamp = run.Stamp
			}
		}
	}
	for i := Ref(0); i < GroupGranules; i++ {
		run := s.Run(first + i)
		if run.state == stateClean && anyDirty {
			s.dirtyGranules++
		}
		s.unlink(s.listOf(run.state, 0), first+i)
		run.state = stateInner
	}
	run := s.Run(first)
	run.Granules, run.Stamp = GroupGranules, stamp
	if anyDirty {
		s.push(&s.dirty[1], first, stateDirty)
	} else {
		run.Stamp = 0
		s.push(&s.clean[1], first, stateClean)
	}
}
