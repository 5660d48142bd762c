package managed

import (
	"slices"
	"unsafe"

	"granary/internal/core/sys"
)

// Stack is a stack of words whose used part is a root: an interpreter can use it as its own. Every word may be an
// address of an object, or inside of one, or anything else. It lies outside of the Go heap and belongs to one mutator
// at a time.
type Stack struct {
	base  sys.Addr
	top   sys.Addr // behind the words in use
	ready sys.Addr // behind those whose memory is committed
	end   sys.Addr // behind those that there may be
	heap  *Heap
}

const stackStep = 64 << 10 // bytes

// NewStack makes a stack of at most so many words. Memory is taken as it grows. Errors are ErrSize, ErrNoMemory and
// ErrClosed.
func (h *Heap) NewStack(words int) (*Stack, error) {
	if words <= 0 || words > mostBytes/int(wordBytes) {
		return nil, ErrSize
	}
	if !h.usable() {
		return nil, ErrClosed
	}
	bytes := uintptr(words) * wordBytes
	base := sys.Reserve(sys.AlignUp(bytes, sys.PageBytes()))
	if base == 0 {
		return nil, ErrNoMemory
	}
	s := &Stack{base: base, top: base, ready: base, end: base + sys.Addr(bytes), heap: h}
	h.rootsMu.Lock()
	h.roots.stacks = append(h.roots.stacks, s)
	h.rootsMu.Unlock()
	return s, nil
}

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
	sys.Release(s.base, sys.AlignUp(uintptr(s.end-s.base), sys.PageBytes()))
	s.base, s.top, s.ready, s.end = 0, 0, 0, 0
}

func (s *Stack) word(i int) sys.Addr { return s.base + sys.Addr(uintptr(i)*wordBytes) }

// Push puts a word on top. The only error is ErrStackFull, also if the system refuses memory.
func (s *Stack) Push(word uintptr) error { // just small enough to be inlined
	if s.top == s.ready {
		return s.pushSlow(word)
	}
	*(*uintptr)(unsafe.Add(nil, s.top)) = word
	s.top += sys.WordBytes
	return nil
}

//go:noinline
func (s *Stack) pushSlow(word uintptr) error {
	to := min(sys.Addr(sys.AlignUp(uintptr(s.ready)+stackStep, sys.PageBytes())), s.end)
	from := sys.Addr(sys.AlignUp(uintptr(s.ready), sys.PageBytes()))
	if s.ready == s.end || to > from && !sys.Commit(from, uintptr(to-from)) {
		return ErrStackFull
	}
	s.ready = to
	return s.Push(word)
}

// Pop takes the top word off. Of an empty stack it is 0.
func (s *Stack) Pop() uintptr {
	if s.top == s.base {
		return 0
	}
	s.top -= sys.WordBytes
	return s.top.Word()
}

// Len is the number of words on the stack.
func (s *Stack) Len() int { return int((s.top - s.base) / sys.WordBytes) }

// Truncate takes words off until so many are left; it does nothing if there are no more than that.
func (s *Stack) Truncate(words int) {
	if uint(words) < uint(s.Len()) {
		s.top = s.word(words)
	}
}

// At is the word with that number, counted from the bottom, from 0 on; 0 if there is none.
func (s *Stack) At(i int) uintptr {
	if uint(i) >= uint(s.Len()) {
		return 0
	}
	return s.word(i).Word()
}

// SetAt changes that word. It does nothing if there is none.
func (s *Stack) SetAt(i int, word uintptr) {
	if uint(i) < uint(s.Len()) {
		s.word(i).SetWord(word)
	}
}

// Top is the word so many below the top one, which is 0.
func (s *Stack) Top(below int) uintptr { return s.At(s.Len() - 1 - below) }

// SetTop changes that word.
func (s *Stack) SetTop(below int, word uintptr) { s.SetAt(s.Len()-1-below, word) }
