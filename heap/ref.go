package heap

import (
	"fmt"
	"unsafe"

	"granary/internal/core/sys"
)

// Ref is a reference to a T on a heap, in 8 bytes and without a pointer: the collector does not look at Refs, however
// many there are, where each pointer costs it some 12 ns a cycle. The zero Ref refers to nothing. Refs to the same
// block are equal.
//
//	bit    63 ... 48                 47 ... 0
//	       0, or in debug mode how   the address
//	       often the block was freed
type Ref[T any] struct{ bits uint64 }

const (
	refGenerationShift = 48
	refAddressMask     = 1<<refGenerationShift - 1
)

// RefOf makes a reference to what Make returned, or to a place inside of a block.
func RefOf[T any](p *T) Ref[T] {
	bits := uint64(uintptr(unsafe.Pointer(p)))
	if debuggersCount.Load() != 0 && p != nil {
		bits |= uint64(generationOf(sys.Addr(bits))) << refGenerationShift
	}
	return Ref[T]{bits}
}

// Get is the pointer, nil for the zero Ref. In debug mode it is nil as well if the block was freed, and the heap's
// misuse handler is told; otherwise, and for blocks above 32 KiB, the program must know that the block is alive.
func (r Ref[T]) Get() *T {
	if r.bits>>refGenerationShift != 0 && !stillAlive(sys.Addr(r.bits&refAddressMask), r.generation()) {
		return nil
	}
	if r.bits == 0 {
		return nil // Addr.Pointer is a sum, which compilers take for not nil
	}
	return (*T)(sys.Addr(r.bits & refAddressMask).Pointer())
}

func (r Ref[T]) generation() uint16 { return uint16(r.bits >> refGenerationShift) }

// IsZero reports whether the Ref refers to nothing.
func (r Ref[T]) IsZero() bool { return r.bits == 0 }

func (r Ref[T]) String() string {
	if r.bits == 0 {
		return "none"
	}
	return fmt.Sprintf("%#x", r.bits&refAddressMask)
}

// FreeRef frees what a Ref refers to. The zero Ref is none; one to a block that was freed before is a *MisuseError in
// debug mode.
func FreeRef[T any](a Allocator, r Ref[T]) error {
	p := r.Get()
	if p == nil && !r.IsZero() {
		return &MisuseError{Kind: StaleRef, Call: "ref", Addr: uintptr(r.bits & refAddressMask)}
	}
	return a.Free(unsafe.Pointer(p))
}
