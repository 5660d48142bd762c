package heap

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"
)

// PointerError says that a type cannot lie outside of the Go heap, because the collector would not see its pointers.
type PointerError struct {
	Type  reflect.Type
	Field string       // where the first pointer is: "field Next, element"; "" if the type itself is one
	Kind  reflect.Type // what is there
}

func (e *PointerError) Error() string {
	where := "it is one itself"
	if e.Field != "" {
		where = fmt.Sprintf("its %s is a %s", e.Field, e.Kind)
	}
	return fmt.Sprintf("granary: %s contains Go pointers, which the collector would not see outside of the Go heap: %s",
		e.Type, where)
}

// checked has an entry for each type that was looked at: its error, or nil.
var checked sync.Map // reflect.Type -> error

// fine is a small table in front of it, by the address of the type's description: an entry is a type without pointers.
var fine [fineTypes]atomic.Uintptr

const fineTypes = 256

func fineSlot(key uintptr) *atomic.Uintptr { return &fine[key>>5%fineTypes] }

// checkType returns a *PointerError for a type that contains Go pointers.
func checkType[T any]() error {
	var none *T
	key := typeKey(none)
	if fineSlot(key).Load() == key {
		return nil
	}
	return checkTypeSlow(key, reflect.TypeFor[T]())
}

// typeKey is the address of the description of a value's type: the first word of an interface.
func typeKey(v any) uintptr { return *(*uintptr)(unsafe.Pointer(&v)) }

func checkTypeSlow(key uintptr, t reflect.Type) error {
	known, ok := checked.Load(t)
	if !ok {
		known, _ = checked.LoadOrStore(t, pointersOf(t))
	}
	if known == noPointers {
		fineSlot(key).Store(key)
		return nil
	}
	return known.(*PointerError)
}

var noPointers = &PointerError{}

func pointersOf(t reflect.Type) *PointerError {
	path, kind := findPointer(t)
	if kind == nil {
		return noPointers
	}
	return &PointerError{Type: t, Field: path, Kind: kind}
}

// findPointer looks for the first pointer in a type: the path to it and what it is, nil if there is none.
func findPointer(t reflect.Type) (path string, kind reflect.Type) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32,
		reflect.Float64, reflect.Complex64, reflect.Complex128:
		return "", nil
	case reflect.Array:
		if t.Len() == 0 {
			return "", nil
		}
		path, kind = findPointer(t.Elem())
		if kind != nil {
			path = join("element", path)
		}
		return path, kind
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			if path, kind = findPointer(field.Type); kind != nil {
				return join("field "+field.Name, path), kind
			}
		}
		return "", nil
	}
	return "", t
}

func join(outer, inner string) string {
	if inner == "" {
		return outer
	}
	return outer + ", " + inner
}
