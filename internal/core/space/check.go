package space

// Check walks every record and list and returns "" or what is wrong. Nobody else may use the space meanwhile.
func (s *Space) Check() string {
	var used, dirty, clean uintptr
	for g := uintptr(GroupGranules); g < s.frontier; {
		run := s.Run(Ref(g))
		n := uintptr(run.Granules)
		if n != 1 && n != GroupGranules || n == GroupGranules && g%GroupGranules != 0 {
			return "space: a run has a wrong size or place"
		}
		for i := uintptr(1); i < n; i++ {
			if s.Run(Ref(g+i)).state != stateInner {
				return "space: a granule inside a group run has a life of its own"
			}
		}
		switch run.state {
		case stateUsed:
			used += n
		case stateDirty:
			dirty += n
		case stateClean:
			clean += n
		default:
			return "space: a run below the frontier is in no state of a run"
		}
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
	if s.listed(stateDirty) != dirty || s.listed(stateClean) != clean {
		return "space: a free run is on the wrong list or on none"
	}
	return ""
}

// listed counts the granules on the lists of a state, or ^0 if a link is broken.
func (s *Space) listed(state uint8) uintptr {
	var granules uintptr
	for index := 0; index < 2; index++ {
		l := s.listOf(state, index)
		before, count := Ref(0), uint32(0)
		for ref := l.head; ref != 0; ref = s.Run(ref).Next {
			run := s.Run(ref)
			if run.state != state || run.Prev != before || sizeIndex(run.Granules) != index {
				return ^uintptr(0)
			}
			granules += uintptr(run.Granules)
			before = ref
			count++
		}
		if count != l.count {
			return ^uintptr(0)
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
		Meta:          s.recordsUpTo + s.ownersUpTo + s.metaUsed,
		ReleasedRuns:  s.releasedRuns,
		ReleasedBytes: s.releasedBytes,
	}
}

// Frontier is the first granule never used: walkers go up to it.
func (s *Space) Frontier() uintptr { return s.frontier }

// Granules is the size of the run that starts at a granule below the frontier.
func (s *Space) Granules(ref Ref) uintptr { return uintptr(s.Run(ref).Granules) }
