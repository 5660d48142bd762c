package gctest

import (
	"unsafe"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

const (
	markRange    = 256 << 20
	markRoots    = 256
	procedureUse = 8 // number of the procedure that looks at the words whose bits are set in its environment
)

// cell is an object of a marking test. What it refers to is known word by word.
type cell struct {
	addr  sys.Addr
	bytes uintptr // as allocated
	named map[uintptr]*cell
	alive bool
}

// markRig is a heap of cells, and the words outside of it that are its roots.
type markRig struct {
	t      kit.T
	h      *gc.Heap
	memory sys.Addr
	roots  sys.Addr
	rooted [markRoots]*cell
	c      gc.Cache
	cells  []*cell
	wait   chan struct{} // helpers that have ended
}

func newMarkRig(t kit.T, mode uint32) *markRig {
	r := &markRig{t: t, wait: make(chan struct{})}
	r.memory = memoryFor(t, unsafe.Sizeof(gc.Heap{}))
	r.roots = memoryFor(t, markRoots*sys.WordBytes)
	r.h = (*gc.Heap)(r.memory.Pointer())
	if !r.h.Init(markRange, mode, 0) {
		t.Fatalf("there is no heap over %d bytes", markRange)
	}
	r.c = r.h.NewCache()
	useProcedures(r.h)
	return r
}

func (r *markRig) close() {
	if wrong := r.h.Check(); wrong != "" {
		r.t.Fatalf("at the end: %s", wrong)
	}
	r.h.Destroy()
	sys.Release(r.memory, sys.AlignUp(unsafe.Sizeof(gc.Heap{}), sys.PageBytes()))
	sys.Release(r.roots, sys.AlignUp(markRoots*sys.WordBytes, sys.PageBytes()))
}

// raw makes an object, and never collects.
func (r *markRig) raw(bytes uintptr, kind, flags uint32) sys.Addr {
	if addr := r.h.Alloc(r.c, bytes, kind); addr != 0 {
		return addr
	}
	addr, need := r.h.AllocSlow(r.c, bytes, kind, flags|gc.FlagExpand)
	if addr == 0 {
		r.t.Fatalf("there is no object of %d bytes, kind %d: need %d", bytes, kind, need)
	}
	return addr
}

func (r *markRig) cell(bytes uintptr, kind, flags uint32) *cell {
	c := &cell{addr: r.raw(bytes, kind, flags), bytes: bytes, named: map[uintptr]*cell{}}
	r.cells = append(r.cells, c)
	return c
}

// set writes the address so many bytes into another cell, or 0 for none, to a word of a cell.
func (r *markRig) set(from *cell, word uintptr, to *cell, inner uintptr) {
	at := from.addr + sys.Addr(word*sys.WordBytes)
	delete(from.named, word)
	if to == nil {
		at.SetWord(0)
		return
	}
	from.named[word] = to
	at.SetWord(uintptr(to.addr) + inner)
}

// decoy writes the address of a cell where it must not count.
func (r *markRig) decoy(from *cell, word uintptr, to *cell) {
	(from.addr + sys.Addr(word*sys.WordBytes)).SetWord(uintptr(to.addr))
}

func (r *markRig) root(i int, c *cell) {
	r.rooted[i] = c
	word := uintptr(0)
	if c != nil {
		word = uintptr(c.addr)
	}
	(r.roots + sys.Addr(i*sys.WordBytes)).SetWord(word)
}

func (r *markRig) begin(full bool) {
	if !r.h.Hold() {
		r.t.Fatalf("somebody holds the heap")
	}
	r.h.BeginCycle(full)
	r.giveRoots()
}

func (r *markRig) giveRoots() {
	r.h.MarkRange(r.roots, r.roots+markRoots*sys.WordBytes)
	r.h.MarkUncollectable()
}

func (r *markRig) end() {
	r.h.FinishMarking()
	r.h.StartSweep()
	r.h.Unhold()
	for sorted := false; !sorted; {
		sorted = r.h.Sort(1)
		if wrong := r.h.Check(); wrong != "" {
			r.t.Fatalf("after a collection: %s", wrong)
		}
	}
}

// collect runs a whole collection, with helpers.
func (r *markRig) collect(helpers int) {
	r.begin(true)
	r.drain(helpers, 0)
	r.end()
}

// drain marks with helpers, and reports whether all is done.
func (r *markRig) drain(helpers int, deadline uint64) bool {
	r.h.StartHelpers(uint32(helpers))
	for i := 1; i <= helpers; i++ {
		go func(number uint32) {
			r.h.Help(number)
			r.wait <- struct{}{}
		}(uint32(i))
	}
	done := r.h.Drain(deadline)
	for i := 1; i <= helpers; i++ {
		<-r.wait
	}
	if !done && deadline == 0 {
		r.t.Fatalf("Drain without a deadline did not end")
	}
	return done
}

// reach finds the cells that can be reached of the roots.
func (r *markRig) reach() {
	var grey []*cell
	add := func(c *cell) {
		if c != nil && !c.alive {
			c.alive = true
			grey = append(grey, c)
		}
	}
	for _, c := range r.cells {
		c.alive = false
	}
	for _, c := range r.rooted {
		add(c)
	}
	for len(grey) > 0 {
		c := grey[len(grey)-1]
		grey = grey[:len(grey)-1]
		for _, to := range c.named {
			add(to)
		}
	}
}

// compare has every cell that can be reached marked, and no other if the collection was exact. It forgets the others.
func (r *markRig) compare(what string, exact bool) {
	r.reach()
	var kept []*cell
	lost, extra := 0, 0
	for _, c := range r.cells {
		marked := r.h.IsMarked(c.addr)
		if c.alive && !marked {
			lost++
		}
		if !c.alive && marked && exact {
			extra++
		}
		if c.alive {
			kept = append(kept, c)
		}
	}
	if lost != 0 || extra != 0 {
		r.t.Fatalf("%s: of %d cells %d that can be reached are lost, %d others were kept", what, len(r.cells), lost, extra)
	}
	r.cells = kept
}

// check collects and compares.
func (r *markRig) check(what string, helpers int) {
	r.collect(helpers)
	r.compare(what, true)
}

// expectAlive collects and compares which of some cells are alive with a string of a letter each: x alive, . dead.
func (r *markRig) expectAlive(what string, cells []*cell, want string) {
	r.collect(0)
	got := ""
	for _, c := range cells {
		if r.h.IsMarked(c.addr) {
			got += "x"
		} else {
			got += "."
		}
	}
	if got != want {
		r.t.Errorf("%s: alive are %s, not %s", what, got, want)
	}
}
