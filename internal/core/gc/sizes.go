package gc

import "unsafe"

// This file: the sizes of small objects. Up to 24 granules each number of granules is a class. Above, a class is the
// largest even number of granules of which a block holds as many.

const (
	classCount = 32
	classShift = 5

	// Most small objects are asked for with a kind below cachedKinds: only those wait in caches.
	cachedKinds = 16
)

// classGranules is the size of a class's objects.
var classGranules = [classCount]uint16{
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
	28, 32, 36, 42, 50, 64, 84, 128,
}

// classOfGranules is the smallest class with room for that many granules.
var classOfGranules = [smallMaxGranules + 1]uint8{
	0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
	23, 24, 24, 24, 24, 25, 25, 25, 25, 26, 26, 26, 26, 27, 27, 27, 27, 27, 27, 28, 28, 28, 28, 28,
	28, 28, 28, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 29, 30, 30, 30, 30, 30, 30, 30,
	30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
	31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31, 31,
	31, 31, 31, 31, 31, 31, 31, 31, 31,
}

// granulesOf is classGranules for classes that are known to be in range.
func granulesOf(class uintptr) uintptr { return uintptr(classGranules[class&(classCount-1)]) }

// classFor is classOfGranules for numbers that are known to be in range.
func classFor(granules uintptr) uintptr {
	return uintptr(*(*uint8)(unsafe.Add(unsafe.Pointer(&classOfGranules), granules)))
}

// extra is what is added to a request for a kind, so that an address just behind the object belongs to it.
func (h *Heap) extra(kind uint32) uintptr {
	if h.kind(kind).uncollectable {
		return 0
	}
	return h.rounding - (GranuleBytes - 1)
}

// RoundedSize is what SizeOf will say of an object allocated for a request: a multiple of 16 bytes. It returns 0 if no
// heap can hold it.
func (h *Heap) RoundedSize(bytes uintptr, kind uint32) uintptr {
	if bytes > requestMost {
		return 0
	}
	granules := (bytes + h.extra(kind) + GranuleBytes - 1) >> granuleShift
	if granules <= smallMaxGranules {
		granules = granulesOf(classFor(granules))
	}
	return granules << granuleShift
}
