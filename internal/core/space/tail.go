package space

import (
	"sync/atomic"

	"granary/internal/core/sys"
)

// This file: a range without address space that is only reserved. For mlockall the system counts all address space
// of a process, so a process that may lock a few MiB could not lock itself with 16 GiB reserved; and a limit of address
// space that a process sets itself would not hold for blocks of the reservation. It gives back what is
// not committed, and from then on the range grows into addresses that are free by chance: as the system looks for
// room from the top, and the range lies at the bottom of what was reserved, they nearly always are. Where somebody
// else has them the range ends.

// GiveTail gives the address space that is not committed back.
func (s *Space) GiveTail() {
	if s.Base == 0 || !sys.Lock(&s.growLock) {
		return
	}
	if s.tail == 0 {
		owners := s.Base - ownersBytes
		end := s.Base + sys.Addr(s.committed<<GranuleShift)
		s.tail = s.total
		s.total = s.committed // what lies above is not ours any more
		releaseBetween(s.reserved, s.records)
		releaseBetween(s.records+sys.Addr(s.recordsUpTo), s.ages())
		releaseBetween(s.ages()+sys.Addr(s.agesUpTo), owners)
		releaseBetween(owners+sys.Addr(s.ownersUpTo), s.Base)
		releaseBetween(end, s.reserved+sys.Addr(s.reservedBytes))
		s.reserved, s.reservedBytes = s.Base, uintptr(end-s.Base)
	}
	sys.Unlock(&s.growLock)
}

func releaseBetween(from, to sys.Addr) {
	if from < to {
		sys.Release(from, uintptr(to-from))
	}
}

// growTail is grow after GiveTail: it takes the addresses as well as the memory. growLock is held.
func (s *Space) growTail(upTo uintptr) bool {
	if upTo > s.tail {
		return false
	}
	if least := s.committed + commitLeast>>GranuleShift; upTo < least {
		upTo = least
	}
	if upTo > s.tail {
		upTo = s.tail
	}
	if !s.growTableAt(s.Base-ownersBytes, &s.ownersUpTo, upTo*OwnerBytes) ||
		!s.growTableAt(s.ages(), &s.agesUpTo, upTo*ageBytes) ||
		!s.growTableAt(s.records, &s.recordsUpTo, upTo*s.recordBytes) ||
		!s.takeAt(s.Base+sys.Addr(s.committed<<GranuleShift), (upTo-s.committed)<<GranuleShift) {
		return false
	}
	s.total, s.reservedBytes = upTo, upTo<<GranuleShift
	atomic.StoreUintptr(&s.committed, upTo)
	return true
}

// growTableAt is growTable after GiveTail.
func (s *Space) growTableAt(table sys.Addr, upTo *uintptr, bytes uintptr) bool {
	want := sys.AlignUp(bytes, sys.PageBytes())
	if *upTo >= want {
		return true
	}
	if !s.takeAt(table+sys.Addr(*upTo), want-*upTo) {
		return false
	}
	*upTo = want
	return true
}

// takeAt makes fresh memory of these addresses. If somebody else has one of them the range ends here for good.
func (s *Space) takeAt(addr sys.Addr, bytes uintptr) bool {
	ok, taken := sys.MapAt(addr, bytes)
	if taken {
		s.tail = s.committed
	}
	return ok
}
