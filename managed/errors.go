package managed

import (
	"errors"
	"fmt"
	"reflect"

	"granary/object"
)

var (
	// ErrNoMemory says that the system gives no more memory, or the heap's range of addresses is full.
	ErrNoMemory = errors.New("granary: out of memory in the managed heap")
	// ErrLimit says that the heap's limit is reached. It is an ErrNoMemory too.
	ErrLimit = fmt.Errorf("%w: its limit is reached", ErrNoMemory)
	// ErrClosed says that the heap was closed.
	ErrClosed = errors.New("granary: the managed heap is closed")
	// ErrMutators says that a heap cannot be closed, because goroutines are attached to it.
	ErrMutators = errors.New("granary: detach the mutators before closing the managed heap")
	// ErrSize says that a size is negative or larger than any heap.
	ErrSize = errors.New("granary: no object can have this size")
	// ErrKind says that there is no such kind.
	ErrKind = errors.New("granary: the managed heap has no such kind of objects")
	// ErrNoObject says that a pointer is not the start of an object of the heap.
	ErrNoObject = errors.New("granary: the pointer is not an object of this managed heap")
	// ErrStackFull says that a Stack has no room left.
	ErrStackFull = errors.New("granary: the managed stack is full")
	// ErrDestroyed is the error of using a native object that was destroyed: package object's, "Object does not
	// exist.".
	ErrDestroyed = object.ErrNotExist
)

// PointerError says that a type cannot lie in the managed heap, because Go's collector would not see its pointers.
type PointerError struct {
	Type  reflect.Type
	Field string       // where the first Go pointer is: "field Next, element"; "" if the type itself is one
	Kind  reflect.Type // what is there
}

func (e *PointerError) Error() string {
	where := "it is one itself"
	if e.Field != "" {
		where = fmt.Sprintf("its %s is a %s", e.Field, e.Kind)
	}
	return fmt.Sprintf("granary: %s contains Go pointers, which Go's collector would not see in the managed heap: %s; "+
		"use managed.Ptr, Slice or Weak for what lies there too, and a Handle's number for what does not", e.Type, where)
}

// VerifyError is what WithVerify found wrong after a collection.
type VerifyError struct {
	Heap string // the heap's name
	// Lost is true for an object that is reachable but was not marked. In an incremental collection that means that a
	// pointer field was overwritten without Set; otherwise it is an error of this package. It is false for one that
	// was marked but is not reachable, which is an error of this package as well.
	Lost        bool
	Incremental bool
	Addr        uintptr
	Size        int
	Type        string // of the object, if it was made by Make or MakeSlice
}

func (e *VerifyError) Error() string {
	what := "an object is marked that nothing reaches"
	switch {
	case e.Lost && e.Incremental:
		what = "a reachable object was not marked: a pointer to it was overwritten without Set while marking was going on"
	case e.Lost:
		what = "a reachable object was not marked"
	}
	of := e.Type
	if of == "" {
		of = "unknown type"
	}
	return fmt.Sprintf("granary: managed heap %q: %s (%#x, %d bytes, %s)", e.Heap, what, e.Addr, e.Size, of)
}
