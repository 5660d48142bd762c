package gc

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
