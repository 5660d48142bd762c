package linear

import (
	"errors"
	"fmt"

	"granary/heap"
	core "granary/internal/core/linear"
)

var (
	// ErrClosed says that the allocator, the Worker or the Stack was closed.
	ErrClosed = errors.New("granary: the linear allocator is closed")
	// ErrSize says that a size is negative or larger than any address space.
	ErrSize = heap.ErrSize
	// ErrAlignment says that an alignment is no power of two, or too large.
	ErrAlignment = errors.New("granary: an alignment must be a power of two of at most 64 KiB")
	// ErrNoMemory says that neither the pool nor the heap has memory.
	ErrNoMemory = heap.ErrNoMemory
	// ErrOpen says that an allocator cannot be closed, because Workers or Stacks of it are in use.
	ErrOpen = errors.New("granary: close the allocator's workers and stacks before the allocator")
	// ErrWorkers says that an allocator has as many Workers as it can have.
	ErrWorkers = errors.New("granary: the linear allocator has too many workers")
	// ErrMark says that a mark is not one of the stack, or was passed by a rewind.
	ErrMark = errors.New("granary: this is not a mark of the stack, or the stack was rewound past it")
)

// Misuse is what is wrong with a pointer that is freed.
type Misuse int

// What can be wrong.
const (
	FreedTwice Misuse = core.Twice   // it is free already
	Foreign    Misuse = core.Foreign // it is no allocation of this allocator
)

func (m Misuse) String() string {
	if m == FreedTwice {
		return "was already freed"
	}
	return "is no allocation of this allocator"
}

// MisuseError is a free that was refused. Nothing was changed.
type MisuseError struct {
	Kind      Misuse
	Allocator string
	Addr      uintptr
}

func (e *MisuseError) Error() string {
	return fmt.Sprintf("granary: linear %s: free(%#x): the address %s", e.Allocator, e.Addr, e.Kind)
}

// ConfigError says what is wrong with a Config, or with a switch.
type ConfigError struct {
	Name   string // of the field or the switch
	Value  string
	Reason string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("granary: linear: %s=%s: %s", e.Name, e.Value, e.Reason)
}
