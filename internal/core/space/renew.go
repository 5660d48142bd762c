package space

import "granary/internal/core/sys"

// Renew gives all memory of the range and of its tables back, and makes the range's first granules usable again. The
// caller puts the Space and the records of those granules back to what they were when no more was committed. Others may
// still read the tables; nobody may use the range. It returns false if the system refuses.
func (s *Space) Renew(granules uintptr) bool {
	return sys.Decommit(s.records, s.recordsUpTo) && sys.Decommit(s.ages(), s.agesUpTo) &&
		sys.Decommit(s.Base-ownersBytes, s.ownersUpTo) &&
		sys.Uncommit(s.Base, s.committed<<GranuleShift) && sys.Commit(s.Base, granules<<GranuleShift)
}
