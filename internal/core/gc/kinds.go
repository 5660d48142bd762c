package gc

import "granary/internal/core/sys"

// Kinds that every heap has.
const (
	KindPointerFree = iota
	KindNormal
	KindUncollectable
	KindPointerFreeUncollectable
	firstOwnKind

	kindMost = 64
)

// kindInfo is what holds for all objects of a kind. It does not change once the kind is made.
type kindInfo struct {
	descriptor    uintptr // see mark_descriptor.go
	adjust        bool    // the object's size is added to the descriptor, which is a length
	clear         bool    // objects are handed out as zeros
	uncollectable bool
	disclaim      uint32 // number of the procedure that looks at dead objects, plus 1; 0: none
}

// kind is what holds for a kind, which is in range.
func (h *Heap) kind(kind uint32) *kindInfo { return &h.kinds[kind&(kindMost-1)] }

// cached reports whether caches hold objects of a kind.
func (k *kindInfo) cached(kind uint32) bool { return kind < cachedKinds && !k.uncollectable }

// flags are what the header of a block of the kind says of it.
func (k *kindInfo) flags() uint8 {
	flags := uint8(0)
	if k.descriptor == 0 && !k.adjust {
		flags |= flagPointerFree
	}
	if k.uncollectable {
		flags |= flagUncollectable
	}
	if k.disclaim != 0 {
		flags |= flagHasDisclaim
	}
	return flags
}

// describe is the descriptor of an object of that many bytes.
func (k *kindInfo) describe(bytes uintptr) uintptr {
	if k.adjust {
		return k.descriptor + bytes
	}
	return k.descriptor
}

func (h *Heap) startKinds() {
	normal := uintptr(0)
	if h.mode&ModeInterior != 0 {
		// The extra byte is in the last word: no request has a whole pointer there.
		normal -= sys.WordBytes
	}
	h.kinds[KindNormal] = kindInfo{descriptor: normal, adjust: true, clear: true}
	h.kinds[KindUncollectable] = kindInfo{adjust: true, clear: true, uncollectable: true}
	h.kinds[KindPointerFreeUncollectable] = kindInfo{uncollectable: true}
	h.kindCount = firstOwnKind
}

// NewKind makes a kind of objects with a descriptor of their contents; adjustBySize adds an object's size to it, clear
// has objects handed out as zeros. It returns false if there are as many kinds as there can be, 64.
func (h *Heap) NewKind(descriptor uintptr, adjustBySize, clear bool) (uint32, bool) {
	if !sys.Lock(&h.lock) {
		return 0, false
	}
	kind := h.kindCount
	if kind < kindMost {
		*h.kind(kind) = kindInfo{descriptor: descriptor, adjust: adjustBySize, clear: clear}
		h.kindCount++
	}
	sys.Unlock(&h.lock)
	return kind, kind < kindMost
}

// SetDisclaim has the procedure of that number look at every dead object of a kind before its memory is used again. It
// is called before the first object of the kind is allocated.
func (h *Heap) SetDisclaim(kind, procedure uint32) {
	if kind < h.kindCount {
		h.kind(kind).disclaim = procedure + 1
	}
}

// RegisterDisplacement has addresses at that offset into an object keep it alive where only those of its start would,
// without ModeInterior. It returns false for an offset of a block's size or more.
func (h *Heap) RegisterDisplacement(offset uintptr) bool {
	if offset >= BlockBytes || !sys.Lock(&h.lock) {
		return false
	}
	h.displaced[offset>>3&(BlockBytes/8-1)] |= 1 << (offset & 7)
	sys.Unlock(&h.lock)
	return true
}
