package gc

import (
	"math/bits"

	"granary/internal/core/sys"
)

// A descriptor says which words of an object may be addresses. Its lowest two bits are the form; the encoding is that
// of bdwgc's interface, since clients of it make descriptors themselves.
//
//	0  length      so many bytes from the start; 0: the object holds no address
//	1  bitmap      a bit for each of the first 62 words, the most significant one first
//	2  procedure   bits 2 to 7: number of the procedure that finds the addresses; above: a value passed on to it
//	3  per object  the descriptor is in the object, at the offset that is left when the form is taken away; if the
//	               whole is negative, behind the address in the object's first word instead
const (
	formLength = iota
	formBitmap
	formProcedure
	formPerObject
	formMask = 3

	procedureShift   = 2
	proceduresMost   = 64
	environmentShift = 8

	// procedureLayout is the number of a procedure of our own: the environment is the address of a layout.
	procedureLayout = 1

	// indirectBias is the part of bdwgc's encoding which keeps the offset of a descriptor behind the first word
	// negative, even for offset 0.
	indirectBias = 16

	// descriptorsDeep is how many descriptors may name another one in turn.
	descriptorsDeep = 4
)

// A layout is a bitmap of any length off the heap: the number of words in an element, or 0 if the bitmap applies once;
// the number of bits; and the bits, the least significant one of the first word first. The bitmap of an element is
// repeated up to the end of the object.
const (
	layoutStride = 0
	layoutBits   = 8
	layoutBitmap = 16
)

// layoutDescriptor is the descriptor of objects with that layout.
func layoutDescriptor(layout sys.Addr) uintptr {
	return uintptr(layout)<<environmentShift | procedureLayout<<procedureShift | formProcedure
}

// scannedLength is how much of each object of a block is scanned, if its descriptor is a length.
func scannedLength(hd *header) (uintptr, bool) {
	length := hd.descriptor
	if length&formMask != formLength {
		return 0, false
	}
	if length > hd.bytes {
		length = hd.bytes
	}
	return length &^ (sys.WordBytes - 1), true
}

// scannedRange is which bytes of each object of a small block are scanned, if it is words that lie side by side.
func scannedRange(hd *header) (from, to uintptr) {
	words := uint64(hd.descriptor &^ formMask)
	if hd.descriptor&formMask != formBitmap || words == 0 {
		to, _ = scannedLength(hd)
		return 0, to
	}
	from = uintptr(bits.LeadingZeros64(words))
	to = wordBits - uintptr(bits.TrailingZeros64(words))
	if words<<from != ^uint64(0)<<(wordBits-(to-from)) {
		return 0, 0
	}
	return from * sys.WordBytes, to * sys.WordBytes
}

// scanDescriptor scans an object as its descriptor says. hd is the header of its block.
func (h *Heap) scanDescriptor(m *marker, hd *header, object sys.Addr, descriptor uintptr) {
	for deep := 0; deep < descriptorsDeep && descriptor != 0; deep++ {
		switch descriptor & formMask {
		case formLength:
			if descriptor > hd.bytes {
				descriptor = hd.bytes
			}
			for i := sys.Addr(0); i+sys.WordBytes <= sys.Addr(descriptor); i += sys.WordBytes {
				h.scanWord(m, hd, (object + i).Word())
			}
			return
		case formBitmap:
			h.scanBitmap(m, hd, object, uint64(descriptor&^formMask))
			return
		case formProcedure:
			number := uint32(descriptor>>procedureShift) & (proceduresMost - 1)
			if number == procedureLayout {
				h.scanLayout(m, hd, object, sys.Addr(descriptor>>environmentShift))
			} else {
				h.callProcedure(number, object, addrOf(m), descriptor>>environmentShift)
			}
			return
		case formPerObject:
			descriptor = perObjectDescriptor(object, descriptor)
		}
	}
}

// scanBitmap looks at the words whose bits are set, the first word's bit being the most significant.
func (h *Heap) scanBitmap(m *marker, hd *header, object sys.Addr, bitmap uint64) {
	for bitmap != 0 {
		zeros := uint(bits.LeadingZeros64(bitmap))
		bitmap &^= 1 << (63 - zeros)
		h.scanWord(m, hd, (object + sys.Addr(zeros)*sys.WordBytes).Word())
	}
}

// perObjectDescriptor is the descriptor that an object of form 3 names. A free object reads as zero: it has none.
func perObjectDescriptor(object sys.Addr, descriptor uintptr) uintptr {
	if descriptor>>63 == 0 {
		return (object + sys.Addr(descriptor-formPerObject)).Word()
	}
	described := sys.Addr(object.Word())
	if described == 0 {
		return 0
	}
	return (described - sys.Addr(descriptor-formPerObject) - indirectBias).Word()
}

// scanLayout scans an object whose addresses a layout names.
func (h *Heap) scanLayout(m *marker, hd *header, object, layout sys.Addr) {
	stride := sys.Addr((layout + layoutStride).Word() * sys.WordBytes)
	count := (layout + layoutBits).Word()
	bitmap := layout + layoutBitmap
	end := object + sys.Addr(hd.bytes)
	for element := object; element+sys.WordBytes <= end; element += stride {
		for i := uintptr(0); i < count; i += wordBits {
			set := uint64((bitmap + sys.Addr(i/8)).Word())
			for set != 0 {
				at := element + sys.Addr(i+uintptr(bits.TrailingZeros64(set)))*sys.WordBytes
				set &= set - 1
				if at+sys.WordBytes <= end {
					h.scanWord(m, hd, at.Word())
				}
			}
		}
		if stride == 0 {
			return
		}
	}
}

// MarkFromProcedure is what a procedure calls for each address that it finds in its object. which is the address of
// the marker that it was given. An address that the heap does not know is passed over.
func (h *Heap) MarkFromProcedure(which sys.Addr, word uintptr) {
	m := (*marker)(which.Pointer())
	offset := word - uintptr(h.Base)
	if offset >= m.highest {
		return
	}
	if m.verifying != 0 {
		h.referenceWord(word)
		return
	}
	if m.later(offset) {
		h.turn(m)
	}
}
