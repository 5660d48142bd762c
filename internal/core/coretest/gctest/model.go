package gctest

import (
	"sort"

	"granary/internal/core/sys"
)

// refWords is how many words at the start of an object may be addresses of others, if its kind is scanned.
const refWords = 2

// object is one object that the heap has handed out and not taken back.
type object struct {
	addr    sys.Addr
	asked   uintptr // bytes that belong to the program
	size    uintptr // bytes in all
	kind    uint32
	seed    uintptr
	refs    [refWords]*object
	named   int // references to it from other objects
	root    int // its slot among the roots, -1: none
	reached bool
	index   int // in model.all
}

// model is what is known of a heap from outside: the objects, what they hold, and what can be reached.
type model struct {
	all    []*object // in no order, to draw from
	sorted []*object // by address
	seeds  uintptr
}

// at is the place in sorted of the first object at or behind an address.
func (m *model) at(addr sys.Addr) int {
	return sort.Search(len(m.sorted), func(i int) bool { return m.sorted[i].addr >= addr })
}

// add takes a new object in. It returns "" or which rule the object breaks.
func (m *model) add(o *object) string {
	if o.addr&15 != 0 {
		return "is not aligned to 16"
	}
	if o.size < o.asked {
		return "is smaller than what was asked for"
	}
	at := m.at(o.addr)
	if at < len(m.sorted) && m.sorted[at].addr < o.addr+sys.Addr(o.size) {
		return "overlaps an object behind it"
	}
	if at > 0 && m.sorted[at-1].addr+sys.Addr(m.sorted[at-1].size) > o.addr {
		return "overlaps an object before it"
	}
	m.sorted = append(m.sorted, nil)
	copy(m.sorted[at+1:], m.sorted[at:])
	m.sorted[at] = o
	o.index = len(m.all)
	m.all = append(m.all, o)
	m.seeds++
	o.seed = m.seeds * 0x9e3779b97f4a7c15
	return ""
}

// remove takes an object out; what it refers to has one reference less.
func (m *model) remove(o *object) {
	for i := range o.refs {
		m.point(o, i, nil)
	}
	at := m.at(o.addr)
	m.sorted = append(m.sorted[:at], m.sorted[at+1:]...)
	m.forget(o)
}

func (m *model) forget(o *object) {
	last := len(m.all) - 1
	m.all[o.index] = m.all[last]
	m.all[o.index].index = o.index
	m.all = m.all[:last]
}

// point notes that a reference of an object changes.
func (m *model) point(o *object, i int, to *object) {
	if o.refs[i] != nil {
		o.refs[i].named--
	}
	o.refs[i] = to
	if to != nil {
		to.named++
	}
}

// reach finds what can be reached from the roots and from objects that are roots themselves.
func (m *model) reach(isRoot func(*object) bool) {
	var grey []*object
	for _, o := range m.all {
		o.reached = isRoot(o)
		if o.reached {
			grey = append(grey, o)
		}
	}
	for len(grey) > 0 {
		o := grey[len(grey)-1]
		grey = grey[:len(grey)-1]
		for _, to := range o.refs {
			if to != nil && !to.reached {
				to.reached = true
				grey = append(grey, to)
			}
		}
	}
}

// dropUnreached removes all objects that cannot be reached, and returns them.
func (m *model) dropUnreached() []*object {
	var dropped, kept []*object
	for _, o := range m.sorted {
		if o.reached {
			kept = append(kept, o)
		} else {
			dropped = append(dropped, o)
		}
	}
	for _, o := range dropped {
		for i := range o.refs {
			m.point(o, i, nil)
		}
		m.forget(o)
	}
	m.sorted = kept
	return dropped
}

// wholePatternBytes is the size up to which an object is filled with its pattern from end to end. Of larger ones one
// word a page is, and the last.
const wholePatternBytes = 8 << 10

// eachWord calls f for the offsets of the pattern's words within the first bytes of the object, until f returns false.
func (o *object) eachWord(from, bytes uintptr, f func(offset uintptr) bool) {
	step := uintptr(sys.WordBytes)
	if o.asked > wholePatternBytes {
		step = 4096 - sys.WordBytes*3
	}
	for offset := from; offset+sys.WordBytes <= bytes; offset += step {
		if !f(offset) {
			return
		}
	}
}

// word is the pattern's word at an offset. It cannot be taken for an address.
func (o *object) word(offset uintptr) uintptr { return (o.seed + offset) | 1<<63 }

// patternFrom is where the pattern begins: behind the references, if the object has room for them.
func (o *object) patternFrom(scanned bool) uintptr {
	if scanned && o.asked >= refWords*sys.WordBytes {
		return refWords * sys.WordBytes
	}
	return 0
}

func (o *object) fill(scanned bool) {
	o.eachWord(o.patternFrom(scanned), o.asked, func(offset uintptr) bool {
		(o.addr + sys.Addr(offset)).SetWord(o.word(offset))
		return true
	})
}

// firstWrong is the offset of the first word of the first bytes that is not what the program wrote, or -1.
func (o *object) firstWrong(scanned bool, bytes uintptr) int {
	wrong := -1
	from := o.patternFrom(scanned)
	for i := range o.refs {
		if from == 0 || uintptr(i+1)*sys.WordBytes > bytes {
			break
		}
		want := uintptr(0)
		if o.refs[i] != nil {
			want = uintptr(o.refs[i].addr)
		}
		if (o.addr + sys.Addr(i*sys.WordBytes)).Word() != want {
			return i * sys.WordBytes
		}
	}
	o.eachWord(from, bytes, func(offset uintptr) bool {
		if (o.addr + sys.Addr(offset)).Word() != o.word(offset) {
			wrong = int(offset)
		}
		return wrong < 0
	})
	return wrong
}

// firstNotZero is the offset of the first word from one offset to another that is not zero, or -1.
func firstNotZero(addr sys.Addr, from, to uintptr) int {
	for offset := sys.AlignUp(from, sys.WordBytes); offset+sys.WordBytes <= to; offset += sys.WordBytes {
		if (addr + sys.Addr(offset)).Word() != 0 {
			return int(offset)
		}
	}
	return -1
}
