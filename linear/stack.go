package linear

import (
	"unsafe"

	core "granary/internal/core/linear"
	"granary/internal/core/sys"
)

// Stack is memory for less than a frame, for one goroutine at a time: what is allocated after a mark goes when the
// stack is rewound to it. It holds twice its first size; what does not fit comes from the linear allocator, and from
// the heap if that is full, and goes with the same rewind.
type Stack struct {
	core  *core.Stack
	name  string // const
	owner *Allocator
	uses  int // touched in race builds, so that the detector sees two goroutines using it at once
}

// closedStack holds nothing: it stands in for those that were closed.
var closedStack core.Stack

// StackSizeLeast and StackSizeMost bound the first size of a stack, in bytes. Sizes are rounded up to 4 KiB.
const (
	StackSizeLeast = core.StackLeastBytes
	StackSizeMost  = core.StackMostBytes
)

// Mark is a place of a stack to rewind to.
type Mark core.Mark

// NewStack makes a stack that overflows into the allocator and counts the allocator's frames. Close it when the
// goroutine ends.
func (a *Allocator) NewStack(name string, size int) (*Stack, error) {
	if size < 0 || size > StackSizeMost {
		return nil, ErrSize
	}
	own, err := a.hold()
	if err != nil {
		return nil, err
	}
	s := core.NewStack(own, uintptr(size))
	if s == nil {
		a.letGo()
		return nil, ErrNoMemory
	}
	return &Stack{core: s, name: name, owner: a}, nil
}

// Name is what NewStack was told.
func (s *Stack) Name() string { return s.name }

// Close frees everything and gives the memory back. The stack must not be used any more.
func (s *Stack) Close() error {
	a := s.owner
	if a == nil {
		return nil
	}
	err := s.freeAbove(core.Mark{})
	s.core.Destroy()
	s.core, s.owner = &closedStack, nil
	a.letGo()
	return err
}

// Alloc returns size bytes at a multiple of align, a power of two of at most 64 KiB; 0 stands for 16, and every
// allocation has at least that. The contents are undefined.
func (s *Stack) Alloc(size, align int) (unsafe.Pointer, error) {
	if raceEnabled {
		s.uses++
	}
	if need := core.Need(uintptr(size)); isUsual(align) && s.core.Holds(need) {
		return s.core.Push(need).Pointer(), nil
	}
	return s.allocSlow(size, align, false)
}

//go:noinline
func (s *Stack) allocSlow(size, align int, zero bool) (unsafe.Pointer, error) {
	switch {
	case s.owner == nil:
		return nil, ErrClosed
	case size < 0 || size > mostBytes:
		return nil, ErrSize
	case align < 0 || align&(align-1) != 0 || align > AlignmentMost:
		return nil, ErrAlignment
	}
	align, size = max(align, 16), max(size, 1)
	if size <= StackSizeMost {
		if p := s.core.PushAligned(core.Need(uintptr(size)), uintptr(align)); p != 0 {
			if zero {
				clear(unsafe.Slice((*byte)(p.Pointer()), size))
			}
			return p.Pointer(), nil
		}
	}
	// What the stack needs of a block lies in front of what the caller gets, which stays aligned.
	front := max(align, core.LinkBytes)
	alloc := s.owner.Alloc
	if zero {
		alloc = s.owner.AllocZeroed
	}
	p, err := alloc(size+front, align)
	if err != nil {
		s.core.CountOverflow()
		return nil, err
	}
	s.core.Link(sys.Addr(uintptr(p)))
	return unsafe.Add(p, front), nil
}

// AllocZeroed is Alloc, and the allocation reads as zero.
func (s *Stack) AllocZeroed(size, align int) (unsafe.Pointer, error) {
	if raceEnabled {
		s.uses++
	}
	if need := core.Need(uintptr(size)); isUsual(align) && s.core.Holds(need) {
		p := s.core.Push(need).Pointer()
		clear(unsafe.Slice((*byte)(p), size))
		return p, nil
	}
	return s.allocSlow(size, align, true)
}

// Free does nothing: memory of a stack goes with Rewind. It is there for the generic functions.
func (s *Stack) Free(unsafe.Pointer) error { return nil }

// Mark is where the stack is now.
func (s *Stack) Mark() Mark {
	if s.owner == nil {
		return Mark{}
	}
	return Mark(s.core.Mark())
}

// Rewind frees what was allocated after the mark. A mark that another rewind has passed is an ErrMark, unless something
// new lies there by now.
func (s *Stack) Rewind(m Mark) error {
	if raceEnabled {
		s.uses++
	}
	if s.owner == nil {
		return ErrClosed
	}
	if !s.core.Valid(core.Mark(m)) {
		return ErrMark
	}
	err := s.freeAbove(core.Mark(m))
	s.core.Rewind(core.Mark(m))
	return err
}

// freeAbove frees the linked blocks that came after a mark.
func (s *Stack) freeAbove(m core.Mark) error {
	for p := s.core.PopAbove(m); p != 0; p = s.core.PopAbove(m) {
		if err := s.owner.Free(p.Pointer()); err != nil {
			return err
		}
	}
	return nil
}

// StackStats are the figures of a stack. Sizes are bytes; Current is what it has grown to, 4 KiB at a time.
type StackStats = core.StackStats

// Stats reads the figures. While another goroutine uses the stack they are those of about this moment.
func (s *Stack) Stats() StackStats {
	var stats StackStats
	if s.owner != nil {
		s.core.Read(&stats)
	}
	return stats
}
