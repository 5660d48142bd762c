package coretest

import (
	"sort"

	"granary/internal/core/sys"
)

// block is one block that the test holds.
type block struct {
	addr   sys.Addr
	asked  uintptr
	usable uintptr
	seed   uintptr
	class  int // of the figures, or isLarge or isForeign
	index  int // in model.live
}

const (
	isForeign = -1 // a block of the system allocator
	isLarge   = -2 // a run of its own
)

// model is what a heap's user knows: the blocks alive.
type model struct {
	live   []*block // in no order, to draw from
	sorted []*block // by address
	seeds  uintptr
	counts [64]uint64 // blocks alive, by class
}

// add takes a new block in. It returns "" or which rule the block breaks.
func (m *model) add(b *block) string {
	if b.addr&15 != 0 {
		return "is not aligned to 16"
	}
	if b.usable < b.asked {
		return "is smaller than what was asked for"
	}
	at := sort.Search(len(m.sorted), func(i int) bool { return m.sorted[i].addr >= b.addr })
	if at < len(m.sorted) && m.sorted[at].addr < b.addr+sys.Addr(b.usable) {
		return "overlaps a block behind it"
	}
	if at > 0 && m.sorted[at-1].addr+sys.Addr(m.sorted[at-1].usable) > b.addr {
		return "overlaps a block before it"
	}
	m.sorted = append(m.sorted, nil)
	copy(m.sorted[at+1:], m.sorted[at:])
	m.sorted[at] = b
	b.index = len(m.live)
	m.live = append(m.live, b)
	if b.class >= 0 {
		m.counts[b.class]++
	}
	m.seeds++
	b.seed = scatter(m.seeds)
	return ""
}

// scatter makes numbers of small ones that differ in most bytes.
func scatter(n uintptr) uintptr { return uintptr(uint64(n) * 0x9e3779b97f4a7c15) }

func (m *model) remove(b *block) {
	at := sort.Search(len(m.sorted), func(i int) bool { return m.sorted[i].addr >= b.addr })
	m.sorted = append(m.sorted[:at], m.sorted[at+1:]...)
	last := len(m.live) - 1
	m.live[b.index] = m.live[last]
	m.live[b.index].index = b.index
	m.live = m.live[:last]
	if b.class >= 0 {
		m.counts[b.class]--
	}
}

// wholePatternBytes is the size up to which a block is filled with its pattern from end to end. Of larger ones the
// first and last words and one word a page are.
const wholePatternBytes = 32 << 10

// eachWord calls f for the offsets of the pattern's words within the first bytes of the block, until f returns false.
func (b *block) eachWord(bytes uintptr, f func(offset uintptr) bool) {
	step := uintptr(sys.WordBytes)
	if b.usable > wholePatternBytes {
		step = 4096
	}
	for offset := uintptr(0); offset+sys.WordBytes <= bytes; offset += step {
		if !f(offset) {
			return
		}
	}
	if bytes == b.usable && bytes >= sys.WordBytes {
		f(bytes&^(sys.WordBytes-1) - sys.WordBytes)
	}
}

// fill writes the block's pattern over all of it that the program may use.
func (b *block) fill() {
	b.eachWord(b.usable, func(offset uintptr) bool {
		(b.addr + sys.Addr(offset)).SetWord(b.seed + offset)
		return true
	})
}

// firstWrong is the offset of the first word that is not the block's pattern any more, or -1. It looks at the first
// bytes of memory at addr, where the block, or what was copied of it, lies.
func (b *block) firstWrong(addr sys.Addr, bytes uintptr) int {
	wrong := -1
	b.eachWord(bytes, func(offset uintptr) bool {
		if (addr + sys.Addr(offset)).Word() != b.seed+offset {
			wrong = int(offset)
		}
		return wrong < 0
	})
	return wrong
}

// firstNotZero is the offset of the first byte that is not zero, or -1.
func firstNotZero(addr sys.Addr, bytes uintptr) int {
	words := bytes &^ (sys.WordBytes - 1)
	for offset := uintptr(0); offset < words; offset += sys.WordBytes {
		if (addr + sys.Addr(offset)).Word() != 0 {
			return int(offset)
		}
	}
	for offset := words; offset < bytes; offset++ {
		if *(*byte)((addr + sys.Addr(offset)).Pointer()) != 0 {
			return int(offset)
		}
	}
	return -1
}
