//go:build gc

package heap

import (
	"math/bits"

	"granary/internal/core/sys"
)

// In Go programs the system allocator is the operating system. A large block is a mapping of its own; a small one, for
// which it is asked only when the range is full, is cut from chunks. Address space is never given back: an address of
// a freed block that the program has kept must not become one of the Go heap. Freed mappings keep their addresses,
// without memory, for later ones of about that size.
//
// Two words in front of a block say what it lies in: the start of its mapping, 0 for one cut from a chunk, and its
// usable bytes.
//
// The caller holds its cache itself, and misuse is told to whoever set MisuseHandler.

const (
	systemHeadBytes  = 16
	systemChunkBytes = 1 << 20
	systemWaste      = 4 // a mapping may be larger than needed by this part of it
)

// freeMapping is an address range without memory.
type freeMapping struct {
	start sys.Addr
	bytes uintptr
}

// system is the state of the allocator; all of it is under lock.
var system struct {
	lock      uint32
	mappings  []freeMapping
	lists     [64]sys.Addr // freed small blocks by the logarithm of their size, linked through their first word
	chunkNext sys.Addr
	chunkEnd  sys.Addr
}

func systemMalloc(size uintptr) sys.Addr { return systemAligned(16, size) }

func systemAligned(alignment, size uintptr) sys.Addr {
	if size <= SmallMaxBytes && alignment <= 16 {
		return systemSmall(size)
	}
	page := sys.PageBytes()
	front := alignment
	if front < page {
		front = page
	}
	bytes := sys.AlignUp(size, page) + page + front
	if bytes < size || bytes < front {
		return 0
	}
	start, bytes := takeMapping(bytes)
	if start == 0 {
		return 0
	}
	block := sys.Addr(sys.AlignUp(uintptr(start)+page, alignment)) // a page in front keeps it aligned to one
	setHead(block, start, uintptr(start)+bytes-uintptr(block))
	return block
}

// takeMapping returns memory that reads as zero, and how much.
func takeMapping(bytes uintptr) (sys.Addr, uintptr) {
	sys.Lock(&system.lock)
	best := -1
	for i, m := range system.mappings {
		if m.bytes >= bytes && m.bytes-bytes <= m.bytes/systemWaste &&
			(best < 0 || m.bytes < system.mappings[best].bytes) {
			best = i
		}
	}
	if best >= 0 {
		m := system.mappings[best]
		last := len(system.mappings) - 1
		system.mappings[best] = system.mappings[last]
		system.mappings = system.mappings[:last]
		sys.Unlock(&system.lock)
		if !sys.Commit(m.start, m.bytes) {
			keepMapping(m)
			return 0, 0
		}
		return m.start, m.bytes
	}
	sys.Unlock(&system.lock)
	start := sys.Map(bytes)
	if start == 0 {
		return 0, 0
	}
	return start, bytes
}

// systemSmall cuts a block whose size, with its head, is a power of two.
func systemSmall(size uintptr) sys.Addr {
	shift := uint(bits.Len64(uint64(size + systemHeadBytes - 1)))
	if shift < 5 {
		shift = 5
	}
	sys.Lock(&system.lock)
	block := system.lists[shift&63]
	if block != 0 {
		system.lists[shift&63] = sys.Addr(block.Word())
		sys.Unlock(&system.lock)
		return block
	}
	bytes := sys.Addr(1) << shift
	if system.chunkNext+bytes > system.chunkEnd {
		chunk := sys.Map(systemChunkBytes)
		if chunk == 0 {
			sys.Unlock(&system.lock)
			return 0
		}
		system.chunkNext, system.chunkEnd = chunk, chunk+systemChunkBytes
	}
	block = system.chunkNext + systemHeadBytes
	system.chunkNext += bytes
	sys.Unlock(&system.lock)
	setHead(block, 0, uintptr(bytes)-systemHeadBytes)
	return block
}

func setHead(block, start sys.Addr, usable uintptr) {
	(block - systemHeadBytes).SetWord(uintptr(start))
	(block - sys.WordBytes).SetWord(usable)
}

func systemCalloc(size uintptr) sys.Addr {
	block := systemMalloc(size)
	if block != 0 && (block-systemHeadBytes).Word() == 0 {
		sys.Clear(block, size)
	}
	return block
}

func systemRealloc(block sys.Addr, size uintptr) sys.Addr {
	usable := systemUsableSize(block)
	if size <= usable && size > usable/2 {
		return block
	}
	to := systemMalloc(size)
	if to == 0 {
		return 0
	}
	if usable > size {
		usable = size
	}
	sys.Copy(to, block, usable)
	systemFree(block)
	return to
}

func systemFree(block sys.Addr) {
	start, usable := sys.Addr((block - systemHeadBytes).Word()), systemUsableSize(block)
	if start == 0 {
		shift := uint(bits.Len64(uint64(usable + systemHeadBytes - 1)))
		sys.Lock(&system.lock)
		block.SetWord(uintptr(system.lists[shift&63]))
		system.lists[shift&63] = block
		sys.Unlock(&system.lock)
		return
	}
	bytes := uintptr(block) + usable - uintptr(start)
	if sys.Uncommit(start, bytes) { // else it cannot be handed out as zero, and is lost
		keepMapping(freeMapping{start, bytes})
	}
}

func keepMapping(m freeMapping) {
	sys.Lock(&system.lock)
	system.mappings = append(system.mappings, m)
	sys.Unlock(&system.lock)
}

func systemUsableSize(block sys.Addr) uintptr { return (block - sys.WordBytes).Word() }

func noMemory() {}

func enterThread(h *Heap) Cache { return h.noCache }

// MisuseHandler, if set, is told of a block that was freed wrongly; what is one of the Misuse... values.
var MisuseHandler func(block sys.Addr, blockBytes uintptr, what int)

func (h *Heap) misuse(block sys.Addr, class uintptr, what int) {
	if MisuseHandler != nil {
		MisuseHandler(block, uintptr(classTable[class&63].bytes), what)
	}
}

// The guard is a package above this one: a Go program that wants it calls it in place of the heap.

func guardMalloc(size, alignment uintptr) sys.Addr { return 0 }

func guardFree(block sys.Addr) {}

func guardRealloc(block sys.Addr, size uintptr) sys.Addr { return 0 }

func guardUsableSize(block sys.Addr) uintptr { return 0 }
