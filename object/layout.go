package object

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"granary/heap"
	core "granary/internal/core/object"
	"granary/internal/core/sys"
)

// layout says what values of a type hold: a table of core.Fields outside of the Go heap.
type layout struct {
	addr  sys.Addr
	count uint32 // of the values themselves
	total uint32 // with those of elements
	err   error
}

var layouts sync.Map // reflect.Type -> *layout

// layoutFor finds out what Ts hold, once for each T.
func layoutFor[T any]() (*layout, error) {
	t := reflect.TypeFor[T]()
	known, ok := layouts.Load(t)
	if !ok {
		made := &layout{}
		// The heap's own check says which types cannot lie outside of the Go heap.
		if _, err := heap.MakeSlice[T](heap.Default(), 0, 0); err != nil {
			made.err = err
		} else {
			made.err = made.build(t)
		}
		known, _ = layouts.LoadOrStore(t, made)
	}
	l := known.(*layout)
	return l, l.err
}

// holder is what the types of this package are that have something to let go of.
type holder interface {
	// held says how: its kind, and for arrays the type of an element.
	held() (kind uint32, element reflect.Type)
}

func (*Var[T]) held() (uint32, reflect.Type)   { return core.FieldVar, nil }
func (*String) held() (uint32, reflect.Type)   { return core.FieldBlock, nil }
func (*Slice[T]) held() (uint32, reflect.Type) { return core.FieldArray, reflect.TypeFor[T]() }

var (
	holderType = reflect.TypeFor[holder]()
	ownPackage = reflect.TypeFor[String]().PkgPath()
)

// part is a Field in the making.
type part struct {
	field   core.Field
	element reflect.Type   // of an array
	outer   []reflect.Type // the elements that it lies in
}

func (l *layout) build(t reflect.Type) error {
	if t.Size() > core.BytesMost {
		return &LayoutError{t, fmt.Sprintf("it has %d bytes, more than %d", t.Size(), core.BytesMost)}
	}
	parts := partsOf(nil, t, 0, nil)
	l.count = uint32(len(parts))
	for i := 0; i < len(parts); i++ {
		p := &parts[i]
		if p.element == nil {
			continue
		}
		for _, outer := range append(p.outer, t) {
			if outer == p.element {
				return &LayoutError{t, fmt.Sprintf("a Slice of %s contains itself", p.element)}
			}
		}
		p.field.ElementBytes = p.element.Size()
		p.field.Inner = uint32(len(parts))
		inner := partsOf(nil, p.element, 0, append(p.outer[:len(p.outer):len(p.outer)], p.element))
		p.field.InnerCount = uint32(len(inner))
		if parts = append(parts, inner...); len(parts) > core.FieldsMost {
			break
		}
	}
	if len(parts) > core.FieldsMost {
		return &LayoutError{t, fmt.Sprintf("it has more than %d Vars, Strings and Slices", core.FieldsMost)}
	}
	if l.total = uint32(len(parts)); l.total == 0 {
		return nil
	}
	block, err := heap.Default().Alloc(len(parts) * int(unsafe.Sizeof(core.Field{})))
	if err != nil {
		return err
	}
	table := unsafe.Slice((*core.Field)(block), len(parts))
	for i := range parts {
		table[i] = parts[i].field
	}
	l.addr = sys.Addr(uintptr(block))
	return nil
}

// partsOf appends what a value of type t holds that lies at an offset.
func partsOf(parts []part, t reflect.Type, offset uintptr, outer []reflect.Type) []part {
	if isOwn(t) {
		kind, element := reflect.New(t).Interface().(holder).held()
		return append(parts, part{core.Field{Offset: offset, Stride: t.Size(), Kind: kind, Count: 1,
			Bytes: uint32(t.Size())}, element, outer})
	}
	switch t.Kind() {
	case reflect.Array:
		if t.Len() == 0 {
			return parts
		}
		one := partsOf(nil, t.Elem(), offset, outer)
		if len(one) == 1 && isOwn(t.Elem()) {
			one[0].field.Count = uint32(t.Len())
			return append(parts, one[0])
		}
		for i := range t.Len() {
			if len(one) == 0 || len(parts) > core.FieldsMost {
				break
			}
			for _, p := range one {
				p.field.Offset += uintptr(i) * t.Elem().Size()
				parts = append(parts, p)
			}
		}
	case reflect.Struct:
		for i := range t.NumField() {
			field := t.Field(i)
			parts = partsOf(parts, field.Type, offset+field.Offset, outer)
		}
	}
	return parts
}

// isOwn reports whether a type is Var, String or Slice itself, and not one that embeds it.
func isOwn(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.PkgPath() != ownPackage || !reflect.PointerTo(t).Implements(holderType) {
		return false
	}
	for i := range t.NumField() {
		if t.Field(i).Anonymous {
			return false
		}
	}
	return true
}
