package object

import (
	"errors"
	"fmt"
	"reflect"

	"granary/heap"
	core "granary/internal/core/object"
)

// ErrNotExist says that there is no object: the reference is Null, or its object was deleted. Ask with
// errors.Is; what is known of the object errors.As gives as a *NotExistError.
var ErrNotExist error = missing(0)

// missing is the error for a reference that is Null: the reference, so that it costs nothing to make and what
// is known of its object is looked up only when somebody asks.
type missing core.Ref

func (missing) Error() string { return "Object does not exist." }

func (missing) Is(target error) bool { return target == ErrNotExist }

func (m missing) As(target any) bool {
	e, ok := target.(**NotExistError)
	if ok {
		*e = m.details()
	}
	return ok
}

// details is what is known of the object.
func (m missing) details() *NotExistError {
	info := infoOf(core.Ref(m))
	if info == nil {
		return &NotExistError{}
	}
	made, deleted, _ := world.Sites(core.Ref(m))
	return &NotExistError{info.name, stacks.get(made), stacks.get(deleted)}
}

// ErrOtherType says that a reference is to an object of another Type.
var ErrOtherType = errors.New("granary: the object is of another type")

// Stack is where a goroutine was.
type Stack = heap.Stack

// NotExistError is ErrNotExist (for errors.Is) with what is known of the object. Its text is that of ErrNotExist, and
// Details is all of it.
type NotExistError struct {
	Type string // the name of the object's type, "" if the reference never was to an object
	// MadeAt and DeletedAt are known if the type is diagnosed and the object is one of the last 65536 deleted ones.
	MadeAt, DeletedAt Stack
}

func (e *NotExistError) Error() string { return ErrNotExist.Error() }

// Details are the type, the message, and the stacks that are known.
func (e *NotExistError) Details() string {
	text := ErrNotExist.Error()
	if e.Type != "" {
		text = e.Type + ": " + text
	}
	if len(e.DeletedAt) != 0 {
		text += "\n  deleted at:\n" + e.DeletedAt.String()
	}
	if len(e.MadeAt) != 0 {
		text += "\n  made at:\n" + e.MadeAt.String()
	}
	return text
}

// Unwrap is ErrNotExist.
func (e *NotExistError) Unwrap() error { return ErrNotExist }

// gone is what Must panics with: an error that says everything.
type gone[T any] struct{ missing }

func (e gone[T]) Error() string {
	details := e.details()
	if details.Type == "" {
		details.Type = "Null reference to " + reflect.TypeFor[T]().String()
	}
	return "granary: " + details.Details()
}

// LayoutError says that a type cannot be that of an object's fields.
type LayoutError struct {
	Type reflect.Type
	Why  string
}

func (e *LayoutError) Error() string {
	return fmt.Sprintf("granary: %s cannot be the fields of an object: %s", e.Type, e.Why)
}
