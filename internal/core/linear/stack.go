package linear

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// Stack is memory for less than a frame, for one user at a time: what is pushed after a mark goes when the stack is
// rewound to it. It lies outside of the Go heap and holds no Go pointer.
//
//	base ........... next ............ end = base + most
//	pushed           free
//
// What does not fit, the user of the core takes from the linear allocator and links (Link); Rewind tells what of it
// goes (PopAbove). The stack counts for each frame of its allocator how much was pushed at most. It looks at marks and
// rewinds only: next just rises in between.
//
// Equations (Check):
//
//	base <= next <= end, base <= framePeak <= end
//	frames counted in bins = frame
//
// Over a space without any memory (the library told to leave everything to the system allocator) most is 0, and all
// that is pushed overflows.
type Stack struct {
	next      uintptr
	end       uintptr  // const
	allocator sys.Addr // const: whose frames count
	user      sys.Addr // const: the user's own
	base      uintptr  // const
	most      uintptr  // const: twice initial, or 0
	initial   uintptr  // const
	framePeak uintptr  // the highest that next was before a rewind in this frame
	peak      uintptr  // in any frame before, in bytes
	linked    sys.Addr
	serial    uint64 // of the last block that was linked
	overflows uint64
	held      uint64 // frames at whose end something was pushed
	frame     uint32 // up to which frames are counted; atomic
	ref       space.Ref
	bins      [BinCount]uint64 // frames by their peak
}

const (
	// BinCount is the number of bins: bin 0 is below 1 KiB, bin n from 2^(n+9) to 2^(n+10).
	BinCount = 32
	binShift = 10

	// StackLeastBytes and StackMostBytes bound a stack's first size.
	StackLeastBytes = 4 << 10
	StackMostBytes  = 1 << 30

	// LinkBytes is what a linked block has in front for the stack.
	LinkBytes = 16

	stackStepBytes = 4 << 10
)

// Mark is a place to rewind to.
type Mark struct {
	Position uintptr
	Serial   uint64
}

// NewStack makes a stack of at first so many bytes, a multiple of 4 KiB after rounding; nil if there is no memory or
// the size is out of bounds.
func NewStack(a *Allocator, initial uintptr) *Stack {
	if initial > StackMostBytes {
		return nil
	}
	if initial < StackLeastBytes {
		initial = StackLeastBytes
	}
	initial = sys.AlignUp(initial, stackStepBytes)
	page := sys.PageBytes()
	memory := sys.Map(sys.AlignUp(unsafe.Sizeof(Stack{}), page))
	if memory == 0 {
		return nil
	}
	runs := a.runs()
	ref := runs.Take(uint32(sys.AlignUp(2*initial, space.GranuleBytes)>>space.GranuleShift), 1)
	if ref == 0 && runs.Base != 0 {
		sys.Release(memory, sys.AlignUp(unsafe.Sizeof(Stack{}), page))
		return nil
	}
	s := (*Stack)(memory.Pointer())
	s.allocator = a.addr()
	s.initial = initial
	if ref != 0 {
		s.base, s.most = uintptr(runs.Addr(ref)), 2*initial
	}
	s.next, s.framePeak, s.end = s.base, s.base, s.base+s.most
	s.ref = ref
	s.settle()
	return s
}

func stackAddr(s *Stack) sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(s))) }

// Destroy gives the memory back. Linked blocks are the caller's to free before.
func (s *Stack) Destroy() {
	if s.ref != 0 {
		s.owner().runs().GiveNow(s.ref)
	}
	sys.Release(sys.Addr(uintptr(unsafe.Pointer(s))), sys.AlignUp(unsafe.Sizeof(Stack{}), sys.PageBytes()))
}

func (s *Stack) owner() *Allocator { return (*Allocator)(s.allocator.Pointer()) }

// User is what SetUser keeps with the stack.
func (s *Stack) User() sys.Addr { return s.user }

// SetUser sets it, before anybody else uses the stack.
func (s *Stack) SetUser(user sys.Addr) { s.user = user }

// Holds reports whether Push may hand out so many bytes. need is what Need says of the size.
func (s *Stack) Holds(need uintptr) bool { return need-1 < s.end-s.next }

// Push hands out bytes, which the stack holds, at a multiple of 16.
func (s *Stack) Push(need uintptr) sys.Addr {
	at := s.next
	setWord(&s.next, at+need)
	return sys.Addr(at)
}

// PushAligned is Push at a multiple of align, a power of two of at least 16 and at most AlignMost; 0 if the stack has
// no room.
func (s *Stack) PushAligned(need, align uintptr) sys.Addr {
	at := sys.AlignUp(s.next, align)
	if at > s.end || need-1 >= s.end-at {
		return 0
	}
	setWord(&s.next, at+need)
	return sys.Addr(at)
}

// Link makes a block of the linear allocator or of the heap a part of the stack. Its first LinkBytes are the stack's.
func (s *Stack) Link(p sys.Addr) {
	s.overflows++
	s.serial++
	p.SetWord(uintptr(s.linked))
	(p + sys.WordBytes).SetWord(uintptr(s.serial))
	s.linked = p
}

// CountOverflow counts a request that nobody could serve.
func (s *Stack) CountOverflow() { s.overflows++ }

// Mark is where the stack is now.
func (s *Stack) Mark() Mark {
	if s.frame != s.owner().Frame() {
		s.settle()
	}
	return Mark{s.next, s.serial}
}

// Valid reports whether Rewind may go to a mark: one of this stack that no other rewind has passed.
func (s *Stack) Valid(m Mark) bool {
	return m.Position >= s.base && m.Position <= s.next && m.Position&unitMask == 0 && m.Serial <= s.serial
}

// PopAbove takes off one linked block that came after a mark; 0 if there is none. The caller frees it.
func (s *Stack) PopAbove(m Mark) sys.Addr {
	p := s.linked
	if p == 0 || uint64((p+sys.WordBytes).Word()) <= m.Serial {
		return 0
	}
	s.linked = sys.Addr(p.Word())
	return p
}

// Rewind takes back what was pushed after a mark. PopAbove has taken all linked blocks off.
func (s *Stack) Rewind(m Mark) {
	if s.frame != s.owner().Frame() {
		s.settle()
	}
	if s.next > s.framePeak {
		setWord(&s.framePeak, s.next)
	}
	setWord(&s.next, m.Position)
}

// settle counts the frames that ended since the stack was last used.
//
//go:noinline
func (s *Stack) settle() {
	now := s.owner().Frame()
	passed := now - s.frame
	if passed == 0 {
		return
	}
	if s.next > s.framePeak {
		s.framePeak = s.next
	}
	addFrames(&s.bins, s.framePeak-s.base, 1)
	addFrames(&s.bins, s.next-s.base, uint64(passed-1))
	if s.next != s.base {
		s.held += uint64(passed)
	}
	if s.framePeak-s.base > s.peak {
		setWord(&s.peak, s.framePeak-s.base)
	}
	setWord(&s.framePeak, s.next)
	atomic.StoreUint32(&s.frame, now)
}

func addFrames(bins *[BinCount]uint64, bytes uintptr, frames uint64) {
	index := bits.Len64(uint64(bytes) >> binShift)
	if index >= BinCount {
		index = BinCount - 1
	}
	atomic.AddUint64(&bins[uint(index)&(BinCount-1)], frames)
}

// StackStats are the figures of a stack, in bytes.
type StackStats struct {
	Initial, Current, Peak, Used uint64
	Overflows                    uint64           // requests that the stack had no room for
	Held                         uint64           // frames at whose end something was still pushed
	Frames                       [BinCount]uint64 // number of frames by the most that was pushed in them
}

// Read fills the figures. While the stack is in use they are those of about this moment.
func (s *Stack) Read(stats *StackStats) {
	next, top := atomic.LoadUintptr(&s.next), atomic.LoadUintptr(&s.framePeak)
	if next > top {
		top = next
	}
	stats.Initial, stats.Used = uint64(s.initial), uint64(next-s.base)
	stats.Peak = uint64(atomic.LoadUintptr(&s.peak))
	if now := uint64(top - s.base); now > stats.Peak {
		stats.Peak = now
	}
	stats.Current = stats.Initial
	if stats.Peak > stats.Current {
		stats.Current = uint64(sys.AlignUp(uintptr(stats.Peak), stackStepBytes))
	}
	stats.Overflows, stats.Held = s.overflows, s.held
	for i := uint(0); i < BinCount; i++ {
		stats.Frames[i] = atomic.LoadUint64(&s.bins[i&(BinCount-1)])
	}
	if passed := s.owner().Frame() - atomic.LoadUint32(&s.frame); passed != 0 {
		addFrames(&stats.Frames, top-s.base, 1)
		addFrames(&stats.Frames, next-s.base, uint64(passed-1))
		if next != s.base {
			stats.Held += uint64(passed)
		}
	}
}
