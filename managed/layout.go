package managed

import (
	"reflect"
	"strings"
	"sync"

	"granary/internal/core/sys"
)

// layout is which words of a type are addresses in the heap: a bit each.
type layout struct {
	name   string
	bytes  uintptr
	words  uintptr // whole ones
	bitmap []uint64
	count  uintptr // words that are addresses
	err    *PointerError
}

// layouts has an entry for each type that was looked at.
var layouts sync.Map // reflect.Type -> *layout

func layoutOf(t reflect.Type) *layout {
	if known, ok := layouts.Load(t); ok {
		return known.(*layout)
	}
	l := &layout{name: t.String(), bytes: t.Size(), words: t.Size() / wordBytes}
	l.bitmap = make([]uint64, (l.words+63)/64)
	if path, kind := l.add(t, 0); kind != nil {
		l.err = &PointerError{Type: t, Field: path, Kind: kind}
	}
	known, _ := layouts.LoadOrStore(t, l)
	return known.(*layout)
}

const wordBytes = sys.WordBytes

// add enters the addresses of a type that lies at an offset. If it contains a Go pointer it returns the path to it and
// what it is.
func (l *layout) add(t reflect.Type, offset uintptr) (path string, kind reflect.Type) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32,
		reflect.Float64, reflect.Complex64, reflect.Complex128:
		return "", nil
	case reflect.Array:
		for i := range t.Len() {
			if path, kind = l.add(t.Elem(), offset+uintptr(i)*t.Elem().Size()); kind != nil {
				return join("element", path), kind
			}
		}
		return "", nil
	case reflect.Struct:
		if scanned, own := ownType(t); own {
			if scanned {
				l.bitmap[offset/wordBytes/64] |= 1 << (offset / wordBytes % 64)
				l.count++
			}
			return "", nil
		}
		for i := range t.NumField() {
			field := t.Field(i)
			if path, kind = l.add(field.Type, offset+field.Offset); kind != nil {
				return join("field "+field.Name, path), kind
			}
		}
		return "", nil
	}
	return "", t
}

var packagePath = reflect.TypeFor[Word]().PkgPath()

// ownType reports whether a type is one of this package's references, and whether its first word keeps objects alive.
func ownType(t reflect.Type) (scanned, own bool) {
	if t.PkgPath() != packagePath {
		return false, false
	}
	name, _, _ := strings.Cut(t.Name(), "[")
	switch name {
	case "Ptr", "Slice", "Word":
		return true, true
	case "Weak":
		return false, true
	}
	return false, false
}

func join(outer, inner string) string {
	if inner == "" {
		return outer
	}
	return outer + ", " + inner
}
