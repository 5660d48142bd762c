package gc

import "granary/internal/core/sys"

// This file: making the descriptors of typed objects, which mark_descriptor.go reads. What does not fit into one word
// is a layout: a bitmap of any length, once or repeated, in memory of the space.

const (
	bitmapMostBits = 62
	wordBits       = 64
)

// layouts is the memory of all layouts, in chunks that are whole runs of the space. They are never given back, as
// nobody knows when the last object of one is gone, and never move. Under Heap.lock.
//
//	chunk   address of the chunk before, 0 for none; bytes used; layouts
type layouts struct {
	chunk sys.Addr // that was begun last
	room  uintptr  // bytes of it
}

const (
	chunkUsed      = sys.WordBytes
	chunkHeadBytes = 2 * sys.WordBytes
)

func bitAt(bitmap sys.Addr, i uintptr) uintptr {
	return (bitmap + sys.Addr(i/wordBits*sys.WordBytes)).Word() >> (i % wordBits) & 1
}

// lastBit is the number of the last bit that is set, plus 1.
func lastBit(bitmap sys.Addr, bits uintptr) uintptr {
	for bits != 0 && bitAt(bitmap, bits-1) == 0 {
		bits--
	}
	return bits
}

// allSet reports whether the first bits are all set.
func allSet(bitmap sys.Addr, bits uintptr) bool {
	for i := uintptr(0); i < bits; i++ {
		if bitAt(bitmap, i) == 0 {
			return false
		}
	}
	return true
}

// MakeDescriptor describes objects of which word i is an address if bit i%64 of the word i/64 at bitmap is set, of bits
// bits in all; words behind are none. Without memory for a long one the descriptor makes all words of the prefix
// ambiguous.
func (h *Heap) MakeDescriptor(bitmap sys.Addr, bits uintptr) uintptr {
	bits = lastBit(bitmap, bits)
	if allSet(bitmap, bits) {
		return bits*sys.WordBytes | formLength
	}
	if bits <= bitmapMostBits {
		descriptor := uintptr(formBitmap)
		for i := uintptr(0); i < bits; i++ {
			descriptor |= bitAt(bitmap, i) << (wordBits - 1 - i)
		}
		return descriptor
	}
	if layout := h.addLayout(bitmap, bits, 0); layout != 0 {
		return layoutDescriptor(layout)
	}
	return bits*sys.WordBytes | formLength
}

// MakeArrayDescriptor describes arrays of any length of elements of so many words, each of which is as MakeDescriptor's
// objects are; ok is false if all words of an element are addresses, or there is no memory for the description: a kind
// whose descriptor is a length that the object's size is added to does then.
func (h *Heap) MakeArrayDescriptor(bitmap sys.Addr, elementWords uintptr) (descriptor uintptr, ok bool) {
	bits := lastBit(bitmap, elementWords)
	if bits == 0 {
		return formLength, true
	}
	if bits == elementWords && allSet(bitmap, bits) {
		return 0, false
	}
	layout := h.addLayout(bitmap, bits, elementWords)
	return layoutDescriptor(layout), layout != 0
}

// addLayout keeps a bitmap, and returns the layout, 0 if there is no memory.
func (h *Heap) addLayout(bitmap sys.Addr, bits, stride uintptr) sys.Addr {
	if !sys.Lock(&h.lock) {
		return 0
	}
	layout := h.findLayoutLocked(bitmap, bits, stride)
	if layout == 0 {
		layout = h.newLayoutLocked(layoutBytes(bits))
		if layout != 0 {
			(layout + layoutStride).SetWord(stride)
			(layout + layoutBits).SetWord(bits)
			copyBits(layout+layoutBitmap, bitmap, bits)
		}
	}
	sys.Unlock(&h.lock)
	return layout
}

func layoutBytes(bits uintptr) uintptr {
	return layoutBitmap + (bits+wordBits-1)/wordBits*sys.WordBytes
}

// copyBits copies the first bits of a bitmap; those behind them in the last word are zero.
func copyBits(to, from sys.Addr, bits uintptr) {
	for ; bits >= wordBits; bits -= wordBits {
		to.SetWord(from.Word())
		to += sys.WordBytes
		from += sys.WordBytes
	}
	if bits != 0 {
		to.SetWord(from.Word() & (1<<bits - 1))
	}
}

// findLayoutLocked looks for the same layout among those there are: a program has few.
func (h *Heap) findLayoutLocked(bitmap sys.Addr, bits, stride uintptr) sys.Addr {
	for chunk := h.layouts.chunk; chunk != 0; chunk = sys.Addr(chunk.Word()) {
		end := chunk + sys.Addr((chunk + chunkUsed).Word())
		for layout := chunk + chunkHeadBytes; layout < end; {
			had := (layout + layoutBits).Word()
			if had == bits && (layout+layoutStride).Word() == stride && sameBits(layout+layoutBitmap, bitmap, bits) {
				return layout
			}
			layout += sys.Addr(layoutBytes(had))
		}
	}
	return 0
}

func sameBits(a, b sys.Addr, bits uintptr) bool {
	same := uintptr(0)
	for same < bits && bitAt(a, same) == bitAt(b, same) {
		same++
	}
	return same == bits
}

// newLayoutLocked makes room for a layout.
func (h *Heap) newLayoutLocked(bytes uintptr) sys.Addr {
	l := &h.layouts
	if l.chunk == 0 || (l.chunk+chunkUsed).Word()+bytes > l.room {
		run := h.takeRun(chunkHeadBytes + bytes)
		if run == 0 {
			return 0
		}
		chunk := h.Addr(run)
		chunk.SetWord(uintptr(l.chunk))
		(chunk + chunkUsed).SetWord(chunkHeadBytes)
		l.chunk, l.room = chunk, h.Bytes(run)
	}
	used := (l.chunk + chunkUsed).Word()
	(l.chunk + chunkUsed).SetWord(used + bytes)
	return l.chunk + sys.Addr(used)
}
