package managed

import (
	"reflect"
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// types is which kinds a heap has made for types. Types whose addresses lie at the same places share one.
//
//	byDescriptor  kinds of the core, by their descriptor
//	known         by type; slices apart from single values
//	names         the types of a kind, for reports
//
// There are 64 kinds. When one is left it becomes perObject, which is what all further types get: its objects are 8
// bytes longer, and end with their descriptor.
type types struct {
	byDescriptor map[uintptr]Kind
	known        map[typeKey]typeKind
	names        map[Kind][]string
	perObject    Kind
}

type typeKey struct {
	t     reflect.Type
	slice bool
}

// typeKind is how objects of a type are made.
type typeKind struct {
	kind       Kind
	descriptor uintptr // perObject: of the object, else 0
}

// quickType is an entry of a small table in front, in each mutator, by the address of the type's description.
type quickType struct {
	key   uintptr    // that address, plus quickSlice for slices; 0: none
	chain core.Chain // of single values
	kind  Kind
}

const (
	quickTypes = 64
	quickSlice = 1
)

func (m *Mutator) quickSlot(key uintptr) *quickType { return &m.quick[key>>5%quickTypes] }

// typeAddr is the address of the description of a value's type: the first word of an interface.
func typeAddr(v any) uintptr { return *(*uintptr)(unsafe.Pointer(&v)) }

// startTypes makes the kind of objects that are zeros at first and hold no addresses.
func (h *Heap) startTypes() {
	plain, _ := h.core.NewKind(0, false, true)
	h.types = types{
		byDescriptor: map[uintptr]Kind{0: Kind(plain)},
		known:        map[typeKey]typeKind{},
		names:        map[Kind][]string{},
	}
}

// ownKinds is how many kinds a heap can make for types.
const ownKinds = 60

// newKind makes a kind for a descriptor, or says that its objects are to be of the kind perObject. typesMu is held.
func (h *Heap) newKind(descriptor uintptr) (typeKind, error) {
	if len(h.types.byDescriptor) < ownKinds-1 {
		kind, ok := h.core.NewKind(descriptor, false, true)
		if !ok {
			return typeKind{}, ErrNoMemory
		}
		h.types.byDescriptor[descriptor] = Kind(kind)
		return typeKind{kind: Kind(kind)}, nil
	}
	if h.types.perObject == 0 {
		const lastWord, inObject = ^uintptr(wordBytes - 1), 3
		kind, ok := h.core.NewKind(lastWord|inObject, true, true)
		if !ok {
			return typeKind{}, ErrNoMemory
		}
		h.types.perObject = Kind(kind)
	}
	return typeKind{kind: h.types.perObject, descriptor: descriptor}, nil
}

// hasKind reports whether a kind was made for some type.
func (h *Heap) hasKind(kind Kind) bool {
	h.typesMu.Lock()
	defer h.typesMu.Unlock()
	return h.types.names[kind] != nil
}

// kindFor is how objects of the type that pointers of none's type point to are made, or slices of it if slice is
// quickSlice instead of 0.
func (m *Mutator) kindFor(none any, slice uintptr) (typeKind, error) {
	key := typeAddr(none) | slice
	q := m.quickSlot(key)
	if q.key == key {
		return typeKind{kind: q.kind}, nil
	}
	t := reflect.TypeOf(none).Elem()
	k, err := m.heap.kindForType(t, slice != 0)
	if err == nil && k.descriptor == 0 {
		*q = quickType{key, m.heap.core.ChainOf(t.Size(), uint32(k.kind)), k.kind}
	}
	return k, err
}

func (h *Heap) kindForType(t reflect.Type, slice bool) (typeKind, error) {
	h.typesMu.Lock()
	defer h.typesMu.Unlock()
	key := typeKey{t, slice}
	if known, ok := h.types.known[key]; ok {
		return known, nil
	}
	l := layoutOf(t)
	if l.err != nil {
		return typeKind{}, l.err
	}
	k, err := h.makeKind(l, slice)
	if err == nil {
		name := l.name
		if slice {
			name = "[]" + name
		}
		h.types.known[key] = k
		h.types.names[k.kind] = append(h.types.names[k.kind], name)
	}
	return k, err
}

// makeKind finds or makes the kind for a layout. typesMu is held.
func (h *Heap) makeKind(l *layout, slice bool) (typeKind, error) {
	switch {
	case l.count == 0:
		return typeKind{kind: h.types.byDescriptor[0]}, nil
	case l.count == l.words:
		return typeKind{kind: Conservative}, nil // all words are addresses
	}
	descriptor, err := h.describe(l, slice)
	if err != nil {
		return typeKind{}, err
	}
	if known, ok := h.types.byDescriptor[descriptor]; ok {
		return typeKind{kind: known}, nil
	}
	return h.newKind(descriptor)
}

// describe has the core make the descriptor of a layout.
func (h *Heap) describe(l *layout, slice bool) (descriptor uintptr, err error) {
	bytes := uintptr(len(l.bitmap)) * wordBytes
	bitmap := memory(bytes) // the core reads addresses outside of the Go heap only
	if bitmap == 0 {
		return 0, ErrNoMemory
	}
	defer sys.Release(bitmap, sys.AlignUp(bytes, sys.PageBytes()))
	for i, word := range l.bitmap {
		(bitmap + sys.Addr(uintptr(i)*wordBytes)).SetWord(uintptr(word))
	}
	if !slice {
		return h.core.MakeDescriptor(bitmap, l.words), nil
	}
	descriptor, ok := h.core.MakeArrayDescriptor(bitmap, l.words)
	if !ok {
		return 0, ErrNoMemory
	}
	return descriptor, nil
}

// typeName is what is known of the type of the object at an address.
func (h *Heap) typeName(addr sys.Addr) string {
	h.typesMu.Lock()
	defer h.typesMu.Unlock()
	return h.kindNameLocked(Kind(h.core.KindOf(addr)))
}

// kindNameLocked describes a kind by its types.
func (h *Heap) kindNameLocked(kind Kind) string {
	names := h.types.names[kind]
	switch {
	case kind == h.types.perObject && kind != 0:
		return "further types"
	case len(names) == 1:
		return names[0]
	case len(names) > 1:
		return names[0] + " and others"
	}
	return [...]string{"pointer-free", "conservative", "uncollectable", "pointer-free uncollectable"}[kind&3]
}
