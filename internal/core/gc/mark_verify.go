package gc

import (
	"math/bits"

	"granary/internal/core/sys"
)

// This file: ModeVerify. The reference marker is as plain as can be: it goes from the roots that were recorded object
// by object, with a stack and a bitmap of its own, finds the starts of objects by division, and writes nothing that
// the fast marker reads. What it marked must be what the fast one did.

// What holds for a recorded root, in the lowest bits of its address.
const (
	rootObject       = iota // the object is alive
	rootMarkOnly            // it is marked, and what it holds is not looked at
	rootContentsOnly        // what it holds is alive
	rootOthersOnly          // the same, but for the object itself
	rootMask         = GranuleBytes - 1
)

const (
	chunkBytes = 64 << 10
	chunkHead  = 16 // the chunk before, and the bytes in use
)

// chunks is a stack of words in pieces of memory of its own, linked: it grows without moving.
type chunks struct {
	last sys.Addr
}

// rootLog holds the roots of a collection in ModeVerify.
type rootLog struct {
	roots chunks
	lost  uint32 // 1: there was no memory to record one; nothing can be compared then
}

// reference is the reference marker.
//
//	marks   a bit a granule of the range up to limit; 0 without memory
//	stack   objects that are marked and not scanned
type reference struct {
	marks sys.Addr
	bytes uintptr
	stack chunks
	lost  uint32
}

func (c *chunks) push(word uintptr) bool {
	if c.last == 0 || (c.last+sys.WordBytes).Word() == chunkBytes {
		chunk := sys.Map(chunkBytes)
		if chunk == 0 {
			return false
		}
		chunk.SetWord(uintptr(c.last))
		(chunk + sys.WordBytes).SetWord(chunkHead)
		c.last = chunk
	}
	used := c.last + sys.WordBytes
	(c.last + sys.Addr(used.Word())).SetWord(word)
	used.SetWord(used.Word() + sys.WordBytes)
	return true
}

func (c *chunks) pop() (uintptr, bool) {
	for c.last != 0 {
		used := c.last + sys.WordBytes
		if used.Word() != chunkHead {
			used.SetWord(used.Word() - sys.WordBytes)
			return (c.last + sys.Addr(used.Word())).Word(), true
		}
		before := sys.Addr(c.last.Word())
		sys.Release(c.last, chunkBytes)
		c.last = before
	}
	return 0, false
}

func (c *chunks) drop() {
	for c.last != 0 {
		before := sys.Addr(c.last.Word())
		sys.Release(c.last, chunkBytes)
		c.last = before
	}
}

// recordRoot notes an object that the fast marker was given, for the reference.
func (h *Heap) recordRoot(object sys.Addr, what uintptr) {
	if h.mode&ModeVerify != 0 && !h.marking.recorded.roots.push(uintptr(object)|what) {
		h.marking.recorded.lost = 1
	}
}

// verify marks once more, and reports the first object for which the two markers differ. It returns false if there is
// one.
func (h *Heap) verify() bool {
	r := &h.marking.reference
	r.bytes = sys.AlignUp(h.highest>>granuleShift/8, sys.PageBytes())
	r.lost = h.marking.recorded.lost
	r.marks = sys.Reserve(r.bytes)
	if r.marks == 0 {
		h.dropRecorded()
		return true
	}
	if !sys.Commit(r.marks, r.bytes) {
		r.lost = 1
	}
	m := h.marker(markersMost - 1)
	h.setUp(m, 0)
	m.verifying = 1
	for r.lost == 0 {
		root, more := h.marking.recorded.roots.pop()
		if !more {
			break
		}
		h.referenceRoot(m, root)
		h.referenceDrain(m)
	}
	m.verifying = 0
	same := true
	if r.lost == 0 {
		h.referenceChains()
		same = h.sameMarks()
	}
	r.stack.drop()
	sys.Release(r.marks, r.bytes)
	h.dropRecorded()
	r.marks = 0
	return same
}

func (h *Heap) dropRecorded() {
	h.marking.recorded.roots.drop()
	h.marking.recorded.lost = 0
}

func (h *Heap) referenceRoot(m *marker, root uintptr) {
	object := sys.Addr(root &^ rootMask)
	switch root & rootMask {
	case rootObject:
		h.referenceMark(object)
	case rootMarkOnly:
		h.referenceSet(object)
	case rootContentsOnly:
		h.referenceScan(m, object)
	case rootOthersOnly:
		fresh := h.referenceSet(object)
		h.referenceScan(m, object)
		if fresh {
			h.referenceClear(object)
		}
	}
}

// referenceChains marks the objects in the chains of caches, which a collection marks as well (settleChains).
func (h *Heap) referenceChains() {
	for c := h.caches; c != 0; c = c.state().next {
		for kind := uint32(0); kind < cachedKinds; kind++ {
			for class := uintptr(0); class < classCount; class++ {
				object := *c.head(slotOf(kind, class))
				for object != 0 {
					h.referenceSet(object)
					object = nextInChain(object, class)
				}
			}
		}
	}
}

func (h *Heap) referenceDrain(m *marker) {
	for {
		object, more := h.marking.reference.stack.pop()
		if !more {
			return
		}
		h.referenceScan(m, sys.Addr(object))
	}
}

// referenceWord looks at a word found in the heap.
func (h *Heap) referenceWord(word uintptr) {
	object := h.referenceFind(word)
	if object == 0 {
		return
	}
	inner := word - uintptr(object)
	hd := h.header(blockRef(uintptr(object-h.Base) >> blockShift))
	if hd.state == stateLarge && hd.flags&flagIgnoreOffPage != 0 && inner >= BlockBytes {
		return
	}
	if inner == 0 || h.mode&ModeInterior != 0 || h.isDisplaced(inner) {
		h.referenceMark(object)
	}
}

// referenceFind is the start of the object that holds an address, found by division.
func (h *Heap) referenceFind(word uintptr) sys.Addr {
	offset := word - uintptr(h.Base)
	if offset >= h.highest {
		return 0
	}
	first := *h.indexEntry(blockRef(offset / BlockBytes))
	if first == 0 {
		return 0
	}
	hd := h.header(first)
	start := h.blockAddr(first)
	index := (word - uintptr(start)) / hd.bytes
	if hd.state == stateLarge && index == 0 {
		return start
	}
	if hd.state != stateSmall || index >= BlockBytes/hd.bytes {
		return 0
	}
	return start + sys.Addr(index*hd.bytes)
}

// referenceSet marks an object and reports whether it was not marked before.
func (h *Heap) referenceSet(object sys.Addr) bool {
	granule := uintptr(object-h.Base) / GranuleBytes
	word := h.marking.reference.marks + sys.Addr(granule/64*sys.WordBytes)
	old := word.Word()
	word.SetWord(old | 1<<(granule%64))
	return old>>(granule%64)&1 == 0
}

// referenceClear takes a mark away.
func (h *Heap) referenceClear(object sys.Addr) {
	granule := uintptr(object-h.Base) / GranuleBytes
	word := h.marking.reference.marks + sys.Addr(granule/64*sys.WordBytes)
	word.SetWord(word.Word() &^ (1 << (granule % 64)))
}

func (h *Heap) referenceMark(object sys.Addr) {
	if h.referenceSet(object) && !h.marking.reference.stack.push(uintptr(object)) {
		h.marking.reference.lost = 1
	}
}

// referenceScan looks at the words of an object that its descriptor names.
func (h *Heap) referenceScan(m *marker, object sys.Addr) {
	hd := h.header(blockRef(uintptr(object-h.Base) / BlockBytes))
	if hd.flags&flagPointerFree != 0 {
		return
	}
	descriptor := hd.descriptor
	for deep := 0; descriptor&formMask == formPerObject && deep < descriptorsDeep; deep++ {
		descriptor = perObjectDescriptor(object, descriptor)
	}
	switch descriptor & formMask {
	case formLength:
		for i := uintptr(0); i+sys.WordBytes <= descriptor && i+sys.WordBytes <= hd.bytes; i += sys.WordBytes {
			h.referenceWord((object + sys.Addr(i)).Word())
		}
	case formBitmap:
		for i := uintptr(0); i < bitmapMostBits; i++ {
			if descriptor>>(wordBits-1-i)&1 != 0 {
				h.referenceWord((object + sys.Addr(i*sys.WordBytes)).Word())
			}
		}
	case formProcedure:
		number := uint32(descriptor>>procedureShift) & (proceduresMost - 1)
		if number == procedureLayout {
			h.referenceLayout(hd, object, sys.Addr(descriptor>>environmentShift))
		} else {
			h.callProcedure(number, object, addrOf(m), descriptor>>environmentShift)
		}
	}
}

func (h *Heap) referenceLayout(hd *header, object, layout sys.Addr) {
	count := (layout + layoutBits).Word()
	stride := (layout + layoutStride).Word()
	for i := uintptr(0); i < hd.bytes/sys.WordBytes; i++ {
		bit := i
		if stride != 0 {
			bit = i % stride
		}
		if bit < count && bitAt(layout+layoutBitmap, bit) != 0 {
			h.referenceWord((object + sys.Addr(i*sys.WordBytes)).Word())
		}
	}
}

// sameMarks compares the marks of all objects.
func (h *Heap) sameMarks() bool {
	for block := firstBlock; block < h.blockLimit(); block = h.blockAfter(block) {
		hd := h.header(block)
		if hd.state != stateSmall && hd.state != stateLarge || hd.flags&flagUncollectable != 0 {
			continue
		}
		for word := uintptr(0); word < 4; word++ {
			at := h.marking.reference.marks + sys.Addr((uintptr(block)*granulesPerBlock/64+word)*sys.WordBytes)
			fast, plain := hd.marks[word&3], uint64(at.Word())
			if h.isStale(hd) {
				fast = 0
			}
			differ := fast ^ plain
			if h.marking.sliced != 0 {
				differ = plain &^ fast // what was unlinked or made meanwhile stays marked
			}
			if differ == 0 {
				continue
			}
			bit := uintptr(bits.TrailingZeros64(differ))
			what := uint32(DifferenceLost)
			if fast>>bit&1 != 0 {
				what = DifferenceExtra
			}
			reportDifference(h.blockAddr(block)+sys.Addr((word*64+bit)<<granuleShift), hd.bytes, what)
			return false
		}
		if hd.state == stateLarge && hd.grey[0] != 0 {
			return false
		}
	}
	return true
}

// What the two markers differ in.
const (
	DifferenceLost  = iota // the reference found the object, the fast marker did not
	DifferenceExtra        // the other way round
)
