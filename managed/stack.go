package managed

import (
	"slices"

	"granary/internal/core/sys"
)

// Stack is a stack of words whose used part is a root: an interpreter can use it as its own. Every word may be an
// address of an object, or inside of one, or anything else. It lies outside of the Go heap and belongs to one mutator
// at a time.
type Stack struct {
	base   sys.Addr
	length int // words in use
	most   int
	ready  int // words whose memory is committed
	heap   *Heap
}

const stackStep = 8192 // words

// NewStack makes a stack of at most so many words. Memory is taken as it grows. Errors are ErrSize, ErrNoMemory and
// ErrClosed.
func (h *Heap) NewStack(words int) (*Stack, error) {
	if words <= 0 || words > mostBytes/int(wordBytes) {
		return nil, ErrSize
	}
	if h.closed.Load() {
		return nil, ErrClosed
	}
	s := &Stack{heap: h, most: words}
	if s.base = sys.Reserve(s.bytes()); s.base == 0 {
		return nil, ErrNoMemory
	}
	h.rootsMu.Lock()
	h.roots.stacks = append(h.roots.stacks, s)
	h.rootsMu.Unlock()
	return s, nil
}

func (s *Stack) bytes() uintptr { return sys.AlignUp(uintptr(s.most)*wordBytes, sys.PageBytes()) }

// Close gives the stack's memory back; it is no root any more. Closing the heap does the same.
func (s *Stack) Close() {
	h := s.heap
	h.rootsMu.Lock()
	i := slices.Index(h.roots.stacks, s)
	if i >= 0 {
		h.roots.stacks = slices.Delete(h.roots.stacks, i, i+1)
	}
	h.rootsMu.Unlock()
	if i >= 0 {
		s.forget()
	}
}

func (s *Stack) forget() {
	sys.Release(s.base, s.bytes())
	s.base, s.length, s.most, s.ready = 0, 0, 0, 0
}

func (s *Stack) word(i int) sys.Addr { return s.base + sys.Addr(uintptr(i)*wordBytes) }

// Push puts a word on top. The only error is ErrStackFull, also if the system refuses memory.
func (s *Stack) Push(word uintptr) error {
	if s.length >= s.ready && !s.grow() {
		return ErrStackFull
	}
	s.word(s.length).SetWord(word)
	s.length++
	return nil
}

//go:noinline
func (s *Stack) grow() bool {
	step := min(stackStep, s.most-s.ready)
	if step <= 0 {
		return false
	}
	from := sys.AlignUp(uintptr(s.ready)*wordBytes, sys.PageBytes())
	to := sys.AlignUp(uintptr(s.ready+step)*wordBytes, sys.PageBytes())
	if to > from && !sys.Commit(s.base+sys.Addr(from), to-from) {
		return false
	}
	s.ready += step
	return true
}

// Pop takes the top word off. Of an empty stack it is 0.
func (s *Stack) Pop() uintptr {
	if s.length == 0 {
		return 0
	}
	s.length--
	return s.word(s.length).Word()
}

// Len is the number of words on the stack.
func (s *Stack) Len() int { return s.length }

// Truncate takes words off until so many are left; it does nothing if there are no more than that.
func (s *Stack) Truncate(words int) {
	if words >= 0 && words < s.length {
		s.length = words
	}
}

// At is the word with that number, counted from the bottom, from 0 on; 0 if there is none.
func (s *Stack) At(i int) uintptr {
	if uint(i) >= uint(s.length) {
		return 0
	}
	return s.word(i).Word()
}

// SetAt changes that word. It does nothing if there is none.
func (s *Stack) SetAt(i int, word uintptr) {
	if uint(i) < uint(s.length) {
		s.word(i).SetWord(word)
	}
}

// Top is the word so many below the top one, which is 0.
func (s *Stack) Top(below int) uintptr { return s.At(s.length - 1 - below) }

// SetTop changes that word.
func (s *Stack) SetTop(below int, word uintptr) { s.SetAt(s.length-1-below, word) }
