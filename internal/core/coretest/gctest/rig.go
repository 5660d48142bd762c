package gctest

import (
	"unsafe"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

const (
	second     = 1000 * 1000 * 1000
	rigRange   = 64 << 20
	leastRange = 16 << 20 // the smallest range that a space makes do with
	rigRoots   = 512

	// Kinds that a rig's heap has besides the four.
	kindCached  = 4 // with the caches' own chains
	kindPlain   = 5 // the same, holds no addresses
	kindShared  = 9 // without
	kindsOfRigs = 10
)

// rig is a heap with some caches, as threads have them, and the model of what lives in it. Every call of the heap goes
// through the rig, which checks the result.
type rig struct {
	model
	t       kit.T
	h       *gc.Heap
	memory  sys.Addr // where the heap lies
	roots   sys.Addr // words outside of the heap
	rooted  [rigRoots]*object
	caches  []gc.Cache
	every   int // steps between two looks of the walker, 0: none
	steps   int
	now     uint64
	extra   uintptr
	marking bool // between two slices of a collection
	lazy    bool // blocks are sorted by allocations, and now and then
	full    bool // there may be no memory: an allocation may fail
	failed  int  // allocations that did
	cycles  int
	stats   gc.Stats

	moreRoots, moreRootsEnd sys.Addr // words that hold no addresses
}

func newRig(t kit.T, mode uint32) *rig { return newRigOf(t, rigRange, mode, 0) }

func newRigOf(t kit.T, rangeBytes uintptr, mode uint32, limit uintptr) *rig {
	r := startRig(t, rangeBytes, mode, limit)
	if r == nil {
		t.Fatalf("there is no heap over %d bytes", rangeBytes)
	}
	return r
}

// startRig returns nil if the system has no memory.
func startRig(t kit.T, rangeBytes uintptr, mode uint32, limit uintptr) *rig {
	r := &rig{t: t, every: 1, now: 10 * second}
	r.memory = memoryFor(t, unsafe.Sizeof(gc.Heap{}))
	r.roots = memoryFor(t, rigRoots*sys.WordBytes)
	r.h = (*gc.Heap)(r.memory.Pointer())
	if !r.h.Init(rangeBytes, mode, limit) {
		r.release()
		return nil
	}
	if mode&gc.ModeInterior != 0 {
		r.extra = 1
	}
	for kind := uint32(kindCached); kind < kindsOfRigs; kind++ {
		if got, ok := r.h.NewKind(0, kind != kindPlain, kind != kindPlain); !ok || got != kind {
			t.Fatalf("NewKind made kind %d for kind %d", got, kind)
		}
	}
	r.caches = append(r.caches, r.h.NewCache())
	return r
}

// memoryFor is zeroed memory outside of the Go heap.
func memoryFor(t kit.T, bytes uintptr) sys.Addr {
	bytes = sys.AlignUp(bytes, sys.PageBytes())
	at := sys.Reserve(bytes)
	if at == 0 || !sys.Commit(at, bytes) {
		t.Fatalf("the system has no %d bytes for the test", bytes)
	}
	return at
}

func (r *rig) release() {
	sys.Release(r.memory, sys.AlignUp(unsafe.Sizeof(gc.Heap{}), sys.PageBytes()))
	sys.Release(r.roots, sys.AlignUp(rigRoots*sys.WordBytes, sys.PageBytes()))
}

// close looks at everything once more and gives the heap up.
func (r *rig) close() {
	r.finishMarking()
	r.check()
	r.mustHoldAll()
	r.h.Destroy()
	r.release()
}

// cache is the cache of a thread; a thread beyond those there are has none.
func (r *rig) cache(cache int) gc.Cache {
	if cache >= 0 && cache < len(r.caches) {
		return r.caches[cache]
	}
	return 0
}

func (r *rig) newCache() { r.caches = append(r.caches, r.h.NewCache()) }

func (r *rig) dropCache(cache int) {
	r.h.DropCache(r.caches[cache])
	r.caches = append(r.caches[:cache], r.caches[cache+1:]...)
	r.step()
}

func isScanned(kind uint32) bool {
	return kind != gc.KindPointerFree && kind != gc.KindPointerFreeUncollectable && kind != kindPlain
}

// isUncollectable reports whether objects of a kind are roots. Those kinds have no extra byte.
func isUncollectable(kind uint32) bool {
	return kind == gc.KindUncollectable || kind == gc.KindPointerFreeUncollectable
}

// step has the walker look, every so many steps.
func (r *rig) step() {
	r.steps++
	if r.every > 0 && r.steps%r.every == 0 {
		r.check()
	}
}

func (r *rig) check() {
	if wrong := r.h.Check(); wrong != "" {
		r.t.Fatalf("after %d steps: %s", r.steps, wrong)
	}
	s := &r.stats
	r.h.ReadStats(s)
	if s.FreeBytes+s.LargeBytes > s.HeapBytes || s.FreeDirtyBytes > s.FreeBytes || s.LiveBytes > s.HeapBytes ||
		s.LivePlainBytes > s.LiveBytes || s.UnsweptBytes > s.HeapBytes || s.LimitBytes != 0 && s.HeapBytes > s.LimitBytes {
		r.t.Fatalf("after %d steps the figures contradict each other: %+v", r.steps, *s)
	}
}

func (r *rig) mustHold(o *object) {
	if wrong := o.firstWrong(isScanned(o.kind), o.asked); wrong >= 0 {
		r.t.Fatalf("after %d steps: the object of %d bytes, kind %d, at %#x has lost what was at offset %d", r.steps,
			o.asked, o.kind, uintptr(o.addr), wrong)
	}
}

func (r *rig) mustHoldAll() {
	for _, o := range r.all {
		r.mustHold(o)
	}
}

// try makes an object, and collects where the heap asks for it. It returns 0 if there is no memory.
func (r *rig) try(cache int, bytes uintptr, kind, flags uint32) sys.Addr {
	c := r.cache(cache)
	if c != 0 {
		if addr := r.h.Alloc(c, bytes, kind); addr != 0 {
			return addr
		}
	}
	for {
		addr, need := r.h.AllocSlow(c, bytes, kind, flags)
		switch {
		case addr != 0:
			if need != gc.NeedNothing {
				r.t.Fatalf("an allocation gave an object and need %d", need)
			}
			return addr
		case need == gc.NeedCollect && flags&gc.FlagExpand == 0:
			r.collect()
			flags |= gc.FlagExpand
		case need == gc.NeedMemory:
			return 0
		default:
			r.t.Fatalf("after %d steps: no object of %d bytes, kind %d, but need %d", r.steps, bytes, kind, need)
		}
	}
}

// alloc makes an object that nothing refers to yet. It returns nil if there is no memory, and that may be.
func (r *rig) alloc(cache int, bytes uintptr, kind, flags uint32) *object {
	addr := r.try(cache, bytes, kind, flags)
	if addr == 0 {
		r.failed++
		if !r.full {
			r.t.Fatalf("after %d steps: there is no object of %d bytes, kind %d", r.steps, bytes, kind)
		}
		r.step()
		return nil
	}
	o := r.adopt(addr, bytes, kind)
	if want := r.h.RoundedSize(bytes, kind); o.size != want {
		r.t.Fatalf("an object for %d bytes, kind %d, has %d, not %d", bytes, kind, o.size, want)
	}
	r.step()
	return o
}

// adopt takes an object that the heap has handed out into the model.
func (r *rig) adopt(addr sys.Addr, bytes uintptr, kind uint32) *object {
	o := &object{addr: addr, asked: bytes, size: r.h.SizeOf(addr), kind: kind, root: -1}
	if wrong := r.add(o); wrong != "" {
		r.t.Fatalf("after %d steps: the object of %d bytes, kind %d, at %#x %s", r.steps, bytes, kind, uintptr(addr), wrong)
	}
	if r.h.BaseOf(addr) != addr || r.h.BaseOf(addr+sys.Addr(o.size-1)) != addr || r.h.KindOf(addr) != kind {
		r.t.Fatalf("the heap does not know the object of %d bytes, kind %d, at %#x", bytes, kind, uintptr(addr))
	}
	if isScanned(kind) {
		if at := firstNotZero(addr, 0, o.size); at >= 0 {
			r.t.Fatalf("after %d steps: the object of %d bytes, kind %d, at %#x is not zero at %d", r.steps, bytes, kind,
				uintptr(addr), at)
		}
	}
	o.fill(isScanned(kind))
	return o
}

// keep makes an object that a root refers to.
func (r *rig) keep(cache int, bytes uintptr, kind, flags uint32) *object {
	o := r.alloc(cache, bytes, kind, flags)
	if o != nil {
		r.setRoot(r.freeRoot(), o)
	}
	return o
}

// freeRoot is an unused slot, or the first.
func (r *rig) freeRoot() int {
	for i, o := range r.rooted {
		if o == nil {
			return i
		}
	}
	return 0
}

// setRoot has a root name an object, or nothing.
func (r *rig) setRoot(i int, o *object) {
	if was := r.rooted[i]; was != nil {
		was.root = -1
	}
	word := uintptr(0)
	if o != nil {
		if o.root >= 0 {
			r.setRoot(o.root, nil)
		}
		o.root, word = i, uintptr(o.addr)
	}
	r.rooted[i] = o
	(r.roots + sys.Addr(i*sys.WordBytes)).SetWord(word)
}

// hasRefs reports whether an object has room for references.
func (o *object) hasRefs() bool { return o.patternFrom(isScanned(o.kind)) != 0 }

// setRef has an object refer to another, or to nothing.
func (r *rig) setRef(o *object, i int, to *object) {
	if !o.hasRefs() {
		return
	}
	at := o.addr + sys.Addr(i*sys.WordBytes)
	if r.marking {
		r.h.Shade(at.Word())
	}
	r.point(o, i, to)
	word := uintptr(0)
	if to != nil {
		word = uintptr(to.addr)
	}
	at.SetWord(word)
}

// free frees an object that no other refers to.
func (r *rig) free(cache int, o *object) {
	r.mustHold(o)
	if o.root >= 0 {
		r.setRoot(o.root, nil)
	}
	if !r.h.Free(r.cache(cache), o.addr) {
		r.t.Fatalf("after %d steps: Free refuses the object of %d bytes, kind %d, at %#x", r.steps, o.asked, o.kind,
			uintptr(o.addr))
	}
	r.remove(o)
	r.step()
}

// resize changes an object's size where it is, if that can be done.
func (r *rig) resize(o *object, bytes uintptr) bool {
	r.mustHold(o)
	done := r.h.Resize(o.addr, bytes)
	same := o.asked
	if done {
		same = least(bytes, o.asked)
	} else if r.h.SizeOf(o.addr) != o.size {
		r.t.Fatalf("Resize refuses, and the object has another size")
	}
	if wrong := o.firstWrong(isScanned(o.kind), same); wrong >= 0 {
		r.t.Fatalf("after %d steps: resizing %d bytes to %d (%v) spoiled offset %d", r.steps, o.asked, bytes, done, wrong)
	}
	if done {
		r.resized(o, bytes)
	}
	r.step()
	return done
}

func (r *rig) resized(o *object, bytes uintptr) {
	size := r.h.SizeOf(o.addr)
	extra := r.extra
	if isUncollectable(o.kind) {
		extra = 0
	}
	if size < bytes+extra {
		r.t.Fatalf("Resize to %d bytes left %d", bytes, size)
	}
	if isScanned(o.kind) {
		if at := firstNotZero(o.addr, least(bytes, o.asked), size); at >= 0 {
			r.t.Fatalf("after %d steps: what resizing %d bytes to %d gained is not zero at %d of %d", r.steps, o.asked,
				bytes, at, size)
		}
	}
	at := r.at(o.addr)
	if at+1 < len(r.sorted) && r.sorted[at+1].addr < o.addr+sys.Addr(size) {
		r.t.Fatalf("an object that grew overlaps another")
	}
	if o.hasRefs() && bytes < refWords*sys.WordBytes {
		for i := range o.refs {
			r.point(o, i, nil)
		}
		sys.Clear(o.addr, bytes)
	}
	o.asked, o.size = bytes, size
	o.fill(isScanned(o.kind))
	for i := range o.refs {
		if o.hasRefs() && o.refs[i] == nil {
			(o.addr + sys.Addr(i*sys.WordBytes)).SetWord(0)
		}
	}
}

func least(a, b uintptr) uintptr {
	if a < b {
		return a
	}
	return b
}
