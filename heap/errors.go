package heap

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrNoMemory says that the system gives no more memory, or the heap's range of addresses is full.
	ErrNoMemory = errors.New("granary: out of memory")
	// ErrLimit says that the heap's limit is reached. It is an ErrNoMemory too.
	ErrLimit = fmt.Errorf("%w: the heap's limit is reached", ErrNoMemory)
	// ErrClosed says that the heap, or the cache, was closed.
	ErrClosed = errors.New("granary: the heap is closed")
	// ErrSize says that a size is negative or larger than any address space.
	ErrSize = errors.New("granary: no block can have this size")
	// ErrAlignment says that an alignment is no power of two, or too large.
	ErrAlignment = errors.New("granary: an alignment must be a power of two of at most 1 GiB")
	// ErrOpenCaches says that a heap cannot be closed, because caches of it are in use.
	ErrOpenCaches = errors.New("granary: close the heap's caches before the heap")
)

// Misuse is what a program did wrong with a block.
type Misuse int

// What a program can do wrong.
const (
	FreedTwice      Misuse = iota + 1 // the block is free already
	InsideBlock                       // the pointer is inside a block, not at its start
	NoBlock                           // no block of the heap is there
	WrittenFreed                      // the block was written to after it was freed
	WrittenPastEnd                    // the block was written to past its end
	StaleRef                          // a Ref was used after its block was freed
	numberOfMisuses = int(StaleRef)
)

func (m Misuse) String() string {
	if m < 1 || int(m) > numberOfMisuses {
		return "block was misused"
	}
	return [...]string{
		"block was already freed", "pointer is inside a block", "pointer is not a block of this heap",
		"block was written to after it was freed", "block was written past its end",
		"reference to a block that was freed",
	}[m-1]
}

// MisuseError is a mistake of the program in the use of a block. Stacks are known in debug mode only.
type MisuseError struct {
	Kind  Misuse
	Call  string  // what found it: "free", "realloc", "malloc", "exit", "ref"
	Addr  uintptr // what the program gave, or the block it is about
	Start uintptr // of the block, if it is known
	Class int     // bytes of its size class, if it has one
	Asked int     // bytes that the program asked for; debug mode
	// Offset is the first byte that was changed, for WrittenFreed and WrittenPastEnd.
	Offset                        int
	AllocatedAt, FreedAt, FoundAt Stack // debug mode
}

func (e *MisuseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "granary: %s(%#x): ", e.Call, e.Addr)
	switch e.Kind {
	case InsideBlock:
		fmt.Fprintf(&b, "pointer is inside a block, %d bytes after its start %#x", e.Addr-e.Start, e.Start)
	default:
		b.WriteString(e.Kind.String())
	}
	var details []string
	if e.Class != 0 {
		details = append(details, fmt.Sprintf("class %d", e.Class))
	}
	if e.Asked != 0 {
		details = append(details, fmt.Sprintf("asked for %d bytes", e.Asked))
	}
	if e.Kind == WrittenFreed || e.Kind == WrittenPastEnd {
		details = append(details, fmt.Sprintf("offset %d", e.Offset))
	}
	if len(details) != 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(details, ", "))
	}
	if len(e.AllocatedAt)+len(e.FreedAt) == 0 && (e.Kind == FreedTwice || e.Kind == InsideBlock) {
		b.WriteString("; run with GRANARY_DEBUG_ALLOC=1 to see where")
	}
	for _, part := range []struct {
		what  string
		stack Stack
	}{{"allocated at", e.AllocatedAt}, {"freed at", e.FreedAt}, {"found at", e.FoundAt}} {
		if len(part.stack) != 0 {
			fmt.Fprintf(&b, "\n  %s:\n%s", part.what, part.stack)
		}
	}
	return b.String()
}
