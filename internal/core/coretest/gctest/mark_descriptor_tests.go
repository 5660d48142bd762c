package gctest

import (
	"fmt"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// descriptorTests are about which words of an object count.
var descriptorTests = []Test{
	{Name: "each form of descriptor names the words that count", Run: testDescriptors},
	{Name: "layouts of any length, once and repeated", Run: testLayouts},
	{Name: "a descriptor in the object, or behind its first word", Run: testPerObject},
	{Name: "a per-object descriptor that names another one comes to an end", Run: testPerObjectLoop},
	{Name: "typed graphs keep nothing for what only looks like an address", Run: testTypedGraphs},
}

// Descriptors as clients write them.
func bitmapOf(words ...uint) uintptr {
	descriptor := uintptr(1)
	for _, word := range words {
		descriptor |= 1 << (63 - word)
	}
	return descriptor
}

func procedureOf(environment uintptr) uintptr { return environment<<8 | procedureUse<<2 | 2 }

func perObject(offset uintptr) uintptr { return offset | 3 }

// behindFirst is for a descriptor at an offset behind the address in the first word.
func behindFirst(offset uintptr) uintptr { return -(offset + 16) | 3 }

func (r *markRig) kind(descriptor uintptr, adjust bool) uint32 {
	kind, ok := r.h.NewKind(descriptor, adjust, true)
	if !ok {
		r.t.Fatalf("there is no room for another kind")
	}
	return kind
}

// targets has each word of a cell from one on name a cell of its own.
func (r *markRig) targets(from *cell, first, count uintptr) []*cell {
	var cells []*cell
	for word := first; word < first+count; word++ {
		c := r.cell(16, gc.KindNormal, 0)
		r.set(from, word, c, 0)
		cells = append(cells, c)
	}
	return cells
}

func testDescriptors(t kit.T) {
	for _, test := range []struct {
		what       string
		descriptor uintptr
		adjust     bool
		want       string
	}{
		{"the whole", 0, true, "xxxxxxxxxx"},
		{"nothing", 0, false, ".........."},
		{"length 24", 24, false, "xxx......."},
		{"a length that ends amid a word", 28, false, "xxx......."},
		{"a length that is larger than the object", 1 << 30, false, "xxxxxxxxxx"},
		{"all but the last two words", ^uintptr(15), true, "xxxxxxxx.."},
		{"bitmap of words 0, 3, 4 and 9", bitmapOf(0, 3, 4, 9), false, "x..xx....x"},
		{"bitmap of no word", bitmapOf(), false, ".........."},
		{"procedure with words 1 and 8", procedureOf(1<<1 | 1<<8), false, ".x......x."},
	} {
		for _, bytes := range []uintptr{80, 8192} {
			if bytes > 80 && (test.descriptor == ^uintptr(15) || test.descriptor == 1<<30) {
				continue // the words at its end are others
			}
			r := newMarkRig(t, gc.ModeVerify)
			kind := r.kind(test.descriptor, test.adjust)
			var cells []*cell
			want := ""
			for i := 0; i < 3; i++ { // several, as they may share a block
				owner := r.cell(bytes, kind, 0)
				r.root(i, owner)
				cells = append(cells, r.targets(owner, 0, 10)...)
				want += test.want
			}
			r.expectAlive(fmt.Sprintf("%s, of %d bytes", test.what, bytes), cells, want)
			r.close()
		}
	}
}

// bitmapAt writes a bitmap as MakeDescriptor reads it, outside of the heap.
func (r *markRig) bitmapAt(words int, set func(word int) bool) sys.Addr {
	at := r.roots + markRoots*sys.WordBytes/2
	for i := 0; i < words; i += 64 {
		bits := uintptr(0)
		for word := i; word < words && word < i+64; word++ {
			if set(word) {
				bits |= 1 << uint(word-i)
			}
		}
		(at + sys.Addr(i/8)).SetWord(bits)
	}
	return at
}

func testLayouts(t kit.T) {
	odd := func(word int) bool { return word%3 == 1 || word%7 == 0 }
	for _, words := range []int{5, 62, 63, 64, 65, 130, 200} {
		for _, length := range []int{words, 250, 1500} {
			r := newMarkRig(t, gc.ModeVerify)
			bitmap := r.bitmapAt(words, odd)
			kind := r.kind(r.h.MakeDescriptor(bitmap, uintptr(words)), false)
			repeated, ok := r.h.MakeArrayDescriptor(bitmap, uintptr(words))
			if !ok {
				t.Fatalf("there is no layout of %d words", words)
			}
			array := r.kind(repeated, false)
			sys.Clear(bitmap, uintptr(words+63)/64*8)
			var cells []*cell
			want := ""
			for i, kind := range []uint32{kind, array} {
				owner := r.cell(uintptr(length)*sys.WordBytes, kind, 0)
				r.root(i, owner)
				cells = append(cells, r.targets(owner, 0, uintptr(length))...)
				for word := 0; word < length; word++ {
					if kind == array && odd(word%words) || word < words && odd(word) {
						want += "x"
					} else {
						want += "."
					}
				}
			}
			r.expectAlive(fmt.Sprintf("%d words of %d", words, length), cells, want)
			r.close()
		}
	}
}

func testPerObject(t kit.T) {
	r := newMarkRig(t, gc.ModeVerify)
	inside := r.kind(perObject(72), false) // the tenth word
	behind := r.kind(behindFirst(24), false)
	description := r.roots + markRoots*sys.WordBytes/2
	(description + 24).SetWord(bitmapOf(1, 5))
	var cells []*cell
	want := ""
	for i, test := range []struct {
		kind       uint32
		descriptor uintptr
		want       string
	}{
		{inside, bitmapOf(2, 4), "..x.x...."},
		{inside, 16, "xx......."},
		{inside, procedureOf(1 << 7), ".......x."},
		{inside, 0, "........."},
		{behind, 0, ".x...x..."},
	} {
		owner := r.cell(80, test.kind, 0)
		r.root(i, owner)
		cells = append(cells, r.targets(owner, 0, 9)...)
		if test.kind == behind {
			owner.addr.SetWord(uintptr(description))
		} else {
			(owner.addr + 72).SetWord(test.descriptor)
		}
		want += test.want
		empty := r.cell(80, test.kind, 0) // as it is when it has just been made
		r.root(20+i, empty)
		large := r.cell(8000, test.kind, 0)
		r.root(40+i, large)
	}
	r.expectAlive("per object", cells, want)
	r.close()
}

func testPerObjectLoop(t kit.T) {
	r := newMarkRig(t, 0)
	owner := r.cell(80, r.kind(perObject(72), false), 0)
	r.root(0, owner)
	target := r.targets(owner, 0, 1)
	(owner.addr + 72).SetWord(perObject(72))
	r.expectAlive("a loop", target, ".")
	r.close()
}

// testTypedGraphs has graphs of objects in which every other word is a number that looks like an address.
func testTypedGraphs(t kit.T) {
	for seed := uint64(0); seed < 4; seed++ {
		r := newMarkRig(t, gc.ModeVerify|uint32(seed%2)*gc.ModeInterior)
		random := newRandom(seed + 7)
		bitmap := r.bitmapAt(99, func(word int) bool { return word%2 == 0 && word < 7 || word == 98 })
		kinds := []uint32{
			r.kind(bitmapOf(0, 2, 4, 6), false),
			r.kind(procedureOf(1|1<<2|1<<4|1<<6), false),
			r.kind(r.h.MakeDescriptor(bitmap, 99), false),
		}
		for round := 0; round < 3; round++ {
			for i := 0; i < 2000; i++ {
				r.cell(56+8*random.Below(100), kinds[random.Below(3)], 0)
			}
			for i := 0; i < 4000; i++ {
				from, to := random.Below(uintptr(len(r.cells))), random.Below(uintptr(len(r.cells)))
				word := random.Below(7)
				if word%2 == 0 {
					r.set(r.cells[from], word, r.cells[to], 0)
				} else {
					r.decoy(r.cells[from], word, r.cells[to])
				}
			}
			for i := 0; i < 20; i++ {
				r.root(i, r.cells[random.Below(uintptr(len(r.cells)))])
			}
			r.check(fmt.Sprintf("seed %d, round %d", seed, round), int(seed%3))
		}
		r.close()
	}
}
