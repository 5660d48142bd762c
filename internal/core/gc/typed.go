package gc

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: descriptors of typed objects, which say which words are addresses. What can be said in one word is:
//
//	...00  length      the first so many bytes; 0: none
//	...01  bitmap      62 bits, the most significant for the first word
//	...10  procedure   6 bits its number, the rest its environment; procedureLayout is the one below
//	...11  per object  where in the object its descriptor lies
//
// A layout is for all that does not fit: a bitmap of any length, once or repeated, in memory of the space.

const (
	tagLength    = 0
	tagBitmap    = 1
	tagProcedure = 2
	tagPerObject = 3
	tagMask      = 3

	procedureShift = 2 // of a procedure's number in its descriptor
	procedureBits  = 6
	environmentAt  = procedureShift + procedureBits

	// procedureLayout is the number of the procedure whose environment is a layout; it is none that programs can have.
	procedureLayout = 1

	bitmapMostBits = 62
	wordBits       = 64
)

// layouts is the memory of all layouts, one after the other, each two words and a bitmap: see layout. They are never
// given back, as nobody knows when the last object of one is gone. Under Heap.lock; it moves when it grows, which is
// why marking asks for a layout each time, and why the world must stand then or the lock be held.
type layouts struct {
	run  space.Ref
	used uintptr // bytes
	room uintptr
}

const (
	layoutHeadWords = 2
	// layoutLeastBytes begins with a word that is not used, so that no environment is 0.
	layoutLeastBytes = space.GranuleBytes
)

// layout is where a layout lies: the number of bits, the period in words after which the bitmap repeats itself up to
// the end of the object (0: it does not), and the bitmap. Bit i of its word i/64 stands for word i.
func (h *Heap) layout(environment uintptr) sys.Addr {
	return h.Addr(h.layouts.run) + sys.Addr(environment*sys.WordBytes)
}

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
// bits in all; words behind are none. Without memory for a long one the descriptor makes all words of the prefix ambiguous.
func (h *Heap) MakeDescriptor(bitmap sys.Addr, bits uintptr) uintptr {
	bits = lastBit(bitmap, bits)
	if allSet(bitmap, bits) {
		return bits*sys.WordBytes | tagLength
	}
	if bits <= bitmapMostBits {
		descriptor := uintptr(tagBitmap)
		for i := uintptr(0); i < bits; i++ {
			descriptor |= bitAt(bitmap, i) << (wordBits - 1 - i)
		}
		return descriptor
	}
	if environment := h.addLayout(bitmap, bits, 0); environment != 0 {
		return environment<<environmentAt | procedureLayout<<procedureShift | tagProcedure
	}
	return bits*sys.WordBytes | tagLength
}

// MakeArrayDescriptor describes arrays of any length of elements of so many words, each of which is as MakeDescriptor's
// objects are; ok is false if all words of an element are addresses, or there is no memory for the description: a kind
// whose descriptor is a length that the object's size is added to does then.
func (h *Heap) MakeArrayDescriptor(bitmap sys.Addr, elementWords uintptr) (descriptor uintptr, ok bool) {
	bits := lastBit(bitmap, elementWords)
	if bits == 0 {
		return tagLength, true
	}
	if bits == elementWords && allSet(bitmap, bits) {
		return 0, false
	}
	environment := h.addLayout(bitmap, bits, elementWords)
	return environment<<environmentAt | procedureLayout<<procedureShift | tagProcedure, environment != 0
}

// addLayout keeps a bitmap and returns the environment that stands for it, 0 if there is no memory.
func (h *Heap) addLayout(bitmap sys.Addr, bits, period uintptr) uintptr {
	if !sys.Lock(&h.lock) {
		return 0
	}
	words := (bits + wordBits - 1) / wordBits
	environment := h.findLayoutLocked(bitmap, bits, period)
	if environment == 0 && h.roomForLayoutLocked((layoutHeadWords+words)*sys.WordBytes) {
		environment = h.layouts.used / sys.WordBytes
		h.layouts.used += (layoutHeadWords + words) * sys.WordBytes
		at := h.layout(environment)
		at.SetWord(bits)
		(at + sys.WordBytes).SetWord(period)
		own := at + layoutHeadWords*sys.WordBytes
		sys.Copy(own, bitmap, words*sys.WordBytes)
		if rest := bits % wordBits; rest != 0 {
			last := own + sys.Addr((words-1)*sys.WordBytes)
			last.SetWord(last.Word() & (1<<rest - 1))
		}
	}
	sys.Unlock(&h.lock)
	return environment
}

// findLayoutLocked looks for the same layout among those there are: a program has few.
func (h *Heap) findLayoutLocked(bitmap sys.Addr, bits, period uintptr) uintptr {
	for environment := uintptr(1); environment*sys.WordBytes < h.layouts.used; {
		at := h.layout(environment)
		words := (at.Word() + wordBits - 1) / wordBits
		if at.Word() == bits && (at+sys.WordBytes).Word() == period {
			same := uintptr(0)
			own := at + layoutHeadWords*sys.WordBytes
			for same < bits && bitAt(own, same) == bitAt(bitmap, same) {
				same++
			}
			if same == bits {
				return environment
			}
		}
		environment += layoutHeadWords + words
	}
	return 0
}

// roomForLayoutLocked makes room for so many more bytes.
func (h *Heap) roomForLayoutLocked(bytes uintptr) bool {
	l := &h.layouts
	if l.used+bytes <= l.room {
		return true
	}
	larger := layouts{used: sys.WordBytes, room: layoutLeastBytes}
	if l.used != 0 {
		larger.used = l.used
	}
	for larger.used+bytes > larger.room {
		larger.room *= 2
	}
	if larger.run = h.takeRun(larger.room); larger.run == 0 {
		return false
	}
	if l.run != 0 {
		sys.Copy(h.Addr(larger.run), h.Addr(l.run), l.used)
		h.Give(l.run)
	}
	*l = larger
	return true
}
