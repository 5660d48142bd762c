package space

import "granary/internal/core/sys"

// Released says what a release sweep gave back. Runs counts what owners gave back, not what became of it when free
// neighbours joined.
type Released struct {
	Runs    uint64
	Bytes   uint64
	Longest uint64 // nanoseconds that the oldest of the granules had been free
}

// DirtyBytes is the memory of free runs that has not gone back to the system.
func (s *Space) DirtyBytes() uintptr { return s.dirtyGranules << GranuleShift }

const millisecond = 1000 * 1000

// ReleaseIdle drops the memory of the granules that have been free for age nanoseconds at the time now. A granule's
// time begins when a sweep first sees it, since freeing does not read the clock. The addresses stay reserved; they
// read as zero when they are taken. No lock is held while the system works. Only one thread at a time may call it.
func (s *Space) ReleaseIdle(now, age uint64) Released {
	var done Released
	if s.dirtyGranules == 0 || !sys.Lock(&s.lock) {
		return done
	}
	tick := uint32(now / millisecond)
	if tick <= ageUnseen {
		tick = ageUnseen + 1
	}
	old := uint32(age / millisecond)
	var releasing Ref // a list through Next of runs that belong to this sweep alone
	for index := s.free[0].next(0); index < binCount; index = s.free[0].next(index + 1) {
		for ref := s.free[0].lists[index&(binCount-1)]; ref != 0; {
			next := s.Run(ref).Next
			if s.ripenLocked(ref, tick, old) {
				s.unlink(ref)
				run := s.Run(ref)
				run.state, run.Next = stateReleasing, releasing
				releasing = ref
			}
			ref = next
		}
	}
	sys.Unlock(&s.lock)
	for releasing != 0 {
		next := s.Run(releasing).Next
		s.releaseRun(releasing, tick, old, &done)
		releasing = next
	}
	return done
}

// ripenLocked stamps the granules that no sweep has seen free yet, and reports whether any is old enough.
func (s *Space) ripenLocked(ref Ref, tick, old uint32) bool {
	ripe := false
	for g := uintptr(ref); g < uintptr(ref)+uintptr(s.Run(ref).Granules); g++ {
		age := s.age(g)
		if *age == ageUnseen {
			*age = tick
		}
		if *age != 0 && tick-*age >= old {
			ripe = true
		}
	}
	return ripe
}

// releaseRun drops the memory of a run's old granules, side by side ones with one system call.
func (s *Space) releaseRun(ref Ref, tick, old uint32, done *Released) {
	end := uintptr(ref) + uintptr(s.Run(ref).Granules)
	runs, bytes := uint64(0), uint64(0)
	for first := uintptr(ref); first < end; first++ {
		last := first
		for ; last < end && *s.age(last) != 0 && tick-*s.age(last) >= old; last++ {
			if longest := uint64(tick-*s.age(last)) * millisecond; longest > done.Longest {
				done.Longest = longest
			}
		}
		if last == first {
			continue
		}
		dropped := sys.Uncommit(s.Base+sys.Addr(first<<GranuleShift), (last-first)<<GranuleShift)
		for g := first; g < last; g++ {
			if !dropped {
				*s.age(g) = ageUnseen // the system refuses to take it: try again in a second, not at once
				continue
			}
			*s.age(g) = 0
			runs += uint64(s.Run(Ref(g)).given)
		}
		if dropped {
			s.forgetGiven(Ref(first), uint32(last-first))
			bytes += uint64(last-first) << GranuleShift
		}
		first = last
	}
	s.dropTables(ref)
	done.Runs += runs
	done.Bytes += bytes
	sys.Lock(&s.lock)
	s.releasedRuns += runs
	s.releasedBytes += bytes
	s.joinLocked(ref, s.Run(ref).Granules)
	sys.Unlock(&s.lock)
}

// dropTables gives back the memory of what the tables say of the inside of a large run that is being released. The
// records say nothing, since a run is described by its first and last granule's; ages and owners are 0. Only whole
// pages between those two granules go back. Who looks at any address, as Judge does, may read them.
func (s *Space) dropTables(ref Ref) {
	granules := s.Run(ref).Granules
	if s.countDirty(ref, granules) != 0 {
		return
	}
	first, last := uintptr(ref)+1, uintptr(ref)+uintptr(granules)-1
	dropPages(s.Record(Ref(first)), s.Record(Ref(last)))
	dropPages(s.ages()+sys.Addr(first*ageBytes), s.ages()+sys.Addr(last*ageBytes))
	dropPages(s.OwnerWord(first), s.OwnerWord(last))
}

// dropPages gives back the whole pages between two addresses.
func dropPages(from, to sys.Addr) {
	page := sys.PageBytes()
	first, last := sys.AlignUp(uintptr(from), page), uintptr(to)&^(page-1)
	if last > first {
		sys.Decommit(sys.Addr(first), last-first)
	}
}

// AddReleased books memory that the owner of a used run gave back by itself.
func (s *Space) AddReleased(bytes uint64) {
	if sys.Lock(&s.lock) {
		s.releasedBytes += bytes
		sys.Unlock(&s.lock)
	}
}
