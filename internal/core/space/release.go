package space

import "granary/internal/core/sys"

// Released says what a release sweep gave back.
type Released struct {
	Runs    uint64
	Bytes   uint64
	Longest uint64 // nanoseconds that the oldest of the runs had been free
}

// DirtyBytes is the memory of free runs that has not gone back to the system.
func (s *Space) DirtyBytes() uintptr { return s.dirtyGranules << GranuleShift }

// ReleaseIdle drops the memory of the runs that have been free for age nanoseconds at the time now. A run's time
// begins when a sweep first sees it, since freeing does not read the clock. Their addresses stay reserved and read
// as zero. No lock is held while the system works.
func (s *Space) ReleaseIdle(now, age uint64) Released {
	var done Released
	if s.dirtyGranules == 0 || !sys.Lock(&s.lock) {
		return done
	}
	var releasing list
	for index := 0; index < 2; index++ {
		l := &s.dirty[index]
		for ref := l.head; ref != 0; {
			run := s.Run(ref)
			next := run.Next
			if run.Stamp == 0 {
				run.Stamp = now
			}
			if now-run.Stamp >= age {
				if now-run.Stamp > done.Longest {
					done.Longest = now - run.Stamp
				}
				s.unlink(l, ref)
				s.push(&releasing, ref, stateReleasing)
			}
			ref = next
		}
	}
	sys.Unlock(&s.lock)
	for releasing.head != 0 {
		s.releaseExtent(&releasing, &done)
	}
	return done
}

// releaseExtent drops the memory of the first run of the list together with its neighbours that are being released
// too: one system call for as much as possible. Runs in this state belong to the sweep alone.
func (s *Space) releaseExtent(releasing *list, done *Released) {
	first := releasing.head
	for s.Run(first).Granules == GroupGranules && first > GroupGranules {
		before := s.Run(first - GroupGranules)
		if before.state != stateReleasing || before.Granules != GroupGranules {
			break
		}
		first -= GroupGranules
	}
	end := first + Ref(s.Run(first).Granules)
	if s.Run(first).Granules == GroupGranules {
		for uintptr(end) < s.Committed() {
			after := s.Run(end)
			if after.state != stateReleasing || after.Granules != GroupGranules {
				break
			}
			end += GroupGranules
		}
	}
	bytes := uintptr(end-first) << GranuleShift
	dropped := sys.Decommit(s.Addr(first), bytes)
	sys.Lock(&s.lock)
	for ref := first; ref < end; {
		run := s.Run(ref)
		next := ref + Ref(run.Granules)
		s.unlink(releasing, ref)
		if dropped {
			s.dirtyGranules -= uintptr(run.Granules)
			s.releasedRuns++
			s.releasedBytes += uint64(run.Granules) << GranuleShift
			done.Runs++
			done.Bytes += uint64(run.Granules) << GranuleShift
			run.Stamp = 0
			s.push(&s.clean[sizeIndex(run.Granules)], ref, stateClean)
		} else {
			// The system refuses to take it: try again in a second, not at once.
			run.Stamp = 0
			s.push(&s.dirty[sizeIndex(run.Granules)], ref, stateDirty)
		}
		if run.Granules == 1 {
			s.joinLocked(ref &^ (GroupGranules - 1))
		}
		ref = next
	}
	sys.Unlock(&s.lock)
}
