package space

// Check walks every record and list and returns "" or what is wrong. Nobody else may use the space meanwhile.
func (s *Space) Check() string {
	var used, dirty, free uintptr
	wasFree := false
	for g := uintptr(First); g < s.frontier; {
		run := s.Run(Ref(g))
		n := uintptr(run.Granules)
		if n == 0 || g+n > s.frontier || s.Run(Ref(g+n-1)).head != Ref(g) {
			return "space: a run has a wrong size, or its last granule names another"
		}
		if s.isFree(Ref(g)) {
			if wasFree {
				return "space: two free runs lie side by side"
			}
			if run.dirty != s.countDirty(Ref(g), run.Granules) || (run.state == stateDirty) != (run.dirty != 0) {
				return "space: a free run miscounts its dirty granules"
			}
			dirty += uintptr(run.dirty)
			free += n
		} else if run.state == stateUsed {
			used += n
		} else {
			return "space: a run below the frontier is in no state of a run"
		}
		wasFree = s.isFree(Ref(g))
		g += n
	}
	if used != s.usedGranules {
		return "space: the used granules are miscounted"
	}
	if dirty != s.dirtyGranules {
		return "space: the dirty granules are miscounted"
	}
	if s.frontier > s.committed || s.committed > s.total {
		return "space: frontier, committed and total are out of order"
	}
	if s.listed(0, stateDirty)+s.listed(1, stateClean) != free {
		return "space: a free run is on the wrong list or on none"
	}
	return ""
}

// listed counts the granules on the lists of a state, or a number too large if a link is broken.
func (s *Space) listed(which int, state uint8) uintptr {
	var granules uintptr
	b := &s.free[which&1]
	for index := uint(0); index < binCount; index++ {
		head := b.lists[index]
		if (head != 0) != (b.mask[index/64]>>(index%64)&1 != 0) {
			return ^uintptr(0)
		}
		before := Ref(0)
		for ref := head; ref != 0; ref = s.Run(ref).Next {
			run := s.Run(ref)
			if run.state != state || run.Prev != before || binIndex(run.Granules) != index {
				return ^uintptr(0)
			}
			granules += uintptr(run.Granules)
			before = ref
		}
	}
	return granules
}

// Stats are the figures of the usage report, all in bytes but Runs.
type Stats struct {
	Range, Used, Held, HeldPeak, Dirty, Meta uintptr
	ReleasedRuns, ReleasedBytes              uint64
}

// Stats reads the figures; each is exact for some moment.
func (s *Space) Stats() Stats {
	return Stats{
		Range:         s.total << GranuleShift,
		Used:          s.usedGranules << GranuleShift,
		Held:          (s.usedGranules + s.dirtyGranules) << GranuleShift,
		Dirty:         s.dirtyGranules << GranuleShift,
		HeldPeak:      s.peakGranules << GranuleShift,
		Meta:          s.recordsUpTo + s.agesUpTo + s.ownersUpTo + s.metaUsed,
		ReleasedRuns:  s.releasedRuns,
		ReleasedBytes: s.releasedBytes,
	}
}

// UsedBytes is the size of all used runs.
func (s *Space) UsedBytes() uintptr { return s.usedGranules << GranuleShift }

// PeakUsedBytes is the most that all used runs had in all at one time, HeldBytes what they and the dirty runs have now.
func (s *Space) PeakUsedBytes() uintptr { return s.peakUsed << GranuleShift }

// HeldBytes: see PeakUsedBytes.
func (s *Space) HeldBytes() uintptr { return (s.usedGranules + s.dirtyGranules) << GranuleShift }

// Frontier is the first granule never used: walkers go up to it.
func (s *Space) Frontier() uintptr { return s.frontier }

// Granules is the size of the run that starts at a granule below the frontier, and at least 1: a walker that looks
// while others take and give runs can come upon the record of a granule that has become one inside of a run.
func (s *Space) Granules(ref Ref) uintptr {
	if granules := s.Run(ref).Granules; granules != 0 {
		return uintptr(granules)
	}
	return 1
}
