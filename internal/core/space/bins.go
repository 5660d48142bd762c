package space

import "math/bits"

// bins keeps free runs by size: a list for each size below exactSizes, then four lists a doubling.
type bins struct {
	lists [binCount]Ref
	mask  [2]uint64 // bit i is set if lists[i] is not empty
}

const (
	exactSizes = 32
	binCount   = 128 // 88 are used; a power of two, so that a masked index needs no check
	tries      = 8   // runs of one list that are looked at
)

// binIndex is the list for runs of that many granules.
func binIndex(granules uint32) uint {
	if granules < exactSizes {
		return uint(granules)
	}
	exponent := uint(bits.Len32(granules)) - 1
	return exactSizes + (exponent-5)*4 + uint(granules>>(exponent-2))&3
}

// next is the first list at or after index that is not empty, or binCount.
func (b *bins) next(index uint) uint {
	for word := index / 64; word < 2; word++ {
		set := b.mask[word&1]
		if word == index/64 {
			set &= ^uint64(0) << (index % 64)
		}
		if set != 0 {
			return word*64 + uint(bits.TrailingZeros64(set))
		}
	}
	return binCount
}

// link puts a free run on its list. Its size and dirty count are set.
func (s *Space) link(ref Ref) {
	run := s.Run(ref)
	run.state = stateClean
	b := &s.free[1]
	if run.dirty != 0 {
		run.state = stateDirty
		b = &s.free[0]
	}
	index := binIndex(run.Granules) & (binCount - 1)
	run.Prev, run.Next = 0, b.lists[index]
	if run.Next != 0 {
		s.Run(run.Next).Prev = ref
	}
	b.lists[index] = ref
	b.mask[index/64&1] |= 1 << (index % 64)
	s.dirtyGranules += uintptr(run.dirty)
}

// unlink takes a free run off its list.
func (s *Space) unlink(ref Ref) {
	run := s.Run(ref)
	b := &s.free[1]
	if run.state == stateDirty {
		b = &s.free[0]
	}
	index := binIndex(run.Granules) & (binCount - 1)
	if run.Next != 0 {
		s.Run(run.Next).Prev = run.Prev
	}
	if run.Prev != 0 {
		s.Run(run.Prev).Next = run.Next
	} else {
		b.lists[index] = run.Next
		if run.Next == 0 {
			b.mask[index/64&1] &^= 1 << (index % 64)
		}
	}
	run.Next, run.Prev = 0, 0
	s.dirtyGranules -= uintptr(run.dirty)
}

// find looks for a free run with room for granules at a multiple of align, a power of two. It returns 0 for none.
func (s *Space) find(b *bins, granules, align uint32) Ref {
	for index := b.next(binIndex(granules)); index < binCount; index = b.next(index + 1) {
		ref := b.lists[index&(binCount-1)]
		for try := 0; ref != 0 && try < tries; try++ {
			end := uint32(ref) + s.Run(ref).Granules
			if alignRef(ref, align)+Ref(granules) <= Ref(end) {
				return ref
			}
			ref = s.Run(ref).Next
		}
	}
	return 0
}

func alignRef(ref Ref, align uint32) Ref { return (ref + Ref(align) - 1) &^ Ref(align-1) }
