package gctest

import (
	"unsafe"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// finalRig is a heap whose objects have a given number of words, of which each may be the address of another one. The
// roots are words outside of the heap, as are the words for links.
type finalRig struct {
	t      kit.T
	h      *gc.Heap
	memory sys.Addr
	c      gc.Cache
	roots  sys.Addr
}

const (
	finalRange    = 64 << 20
	finalRoots    = 1024
	finalLinks    = 4096 // words behind the roots
	finalAreas    = (finalRoots + finalLinks) * sys.WordBytes
	noFunction    = 0
	someFunction  = 77
	otherFunction = 78
)

func newFinalRig(t kit.T, mode uint32) *finalRig { return newFinalRigOf(t, mode, finalRange) }

func newFinalRigOf(t kit.T, mode uint32, rangeBytes uintptr) *finalRig {
	r := &finalRig{t: t}
	r.memory = finalMemory(t, unsafe.Sizeof(gc.Heap{}))
	r.roots = finalMemory(t, finalAreas)
	r.h = (*gc.Heap)(r.memory.Pointer())
	if !r.h.Init(rangeBytes, mode|gc.ModeVerify, 0) {
		t.Fatalf("no heap")
	}
	r.c = r.h.NewCache()
	return r
}

func finalMemory(t kit.T, bytes uintptr) sys.Addr {
	bytes = sys.AlignUp(bytes, sys.PageBytes())
	at := sys.Reserve(bytes)
	if at == 0 || !sys.Commit(at, bytes) {
		t.Fatalf("the system has no %d bytes for the test", bytes)
	}
	return at
}

func (r *finalRig) close() {
	r.check()
	r.h.DropCache(r.c)
	r.h.Destroy()
	sys.Release(r.memory, sys.AlignUp(unsafe.Sizeof(gc.Heap{}), sys.PageBytes()))
	sys.Release(r.roots, sys.AlignUp(finalAreas, sys.PageBytes()))
}

// alloc makes an object. It never collects.
func (r *finalRig) alloc(bytes uintptr, kind uint32) sys.Addr {
	if obj := r.h.Alloc(r.c, bytes, kind); obj != 0 {
		return obj
	}
	obj, need := r.h.AllocSlow(r.c, bytes, kind, gc.FlagExpand)
	if obj == 0 {
		r.t.Fatalf("no object of %d bytes: need %d", bytes, need)
	}
	return obj
}

// object makes one with the addresses of others in its first words.
func (r *finalRig) object(words uintptr, refs ...sys.Addr) sys.Addr {
	obj := r.alloc(words*sys.WordBytes, gc.KindNormal)
	for i, ref := range refs {
		setRef(obj, uintptr(i), ref)
	}
	return obj
}

func setRef(obj sys.Addr, word uintptr, ref sys.Addr) {
	(obj + sys.Addr(word*sys.WordBytes)).SetWord(uintptr(ref))
}

func getRef(obj sys.Addr, word uintptr) sys.Addr {
	return sys.Addr((obj + sys.Addr(word*sys.WordBytes)).Word())
}

func (r *finalRig) setRoot(i uintptr, obj sys.Addr) { setRef(r.roots, i, obj) }

// link is a word for a link. It holds the complement of the object's address.
func (r *finalRig) link(i uintptr) sys.Addr { return r.roots + sys.Addr((finalRoots+i)*sys.WordBytes) }

// watch registers a link to an object, and checks that this works.
func (r *finalRig) watch(link, obj sys.Addr, long bool) {
	link.SetWord(^uintptr(obj))
	if result := r.h.RegisterLink(link, obj, long); result != gc.LinkDone {
		r.t.Fatalf("RegisterLink says %d", result)
	}
}

func (r *finalRig) finalize(obj sys.Addr, data uintptr, order uint32) {
	if _, _, ok := r.h.RegisterFinalizer(obj, someFunction, data, order); !ok {
		r.t.Fatalf("RegisterFinalizer refuses")
	}
}

// collect runs a whole collection, sweeping included.
func (r *finalRig) collect() {
	if !r.h.Hold() {
		r.t.Fatalf("the heap is locked")
	}
	r.h.BeginCycle(true)
	r.h.MarkUncollectable()
	r.h.MarkRange(r.roots, r.roots+finalRoots*sys.WordBytes)
	for !r.h.Drain(0) {
	}
	r.h.FinishMarking()
	r.h.StartSweep()
	r.h.Unhold()
	r.h.SweepAll(^uintptr(0))
	r.check()
}

func (r *finalRig) check() {
	if problem := r.h.CheckFinalization(); problem != "" {
		r.t.Fatalf("%s", problem)
	}
}

// ready takes the finalizers out of the queue and returns their objects in that order.
func (r *finalRig) ready() []sys.Addr {
	var all []sys.Addr
	for {
		obj, fn, _, ok := r.h.NextReady()
		if !ok {
			return all
		}
		if fn != someFunction {
			r.t.Errorf("finalizer %d instead of %d", fn, someFunction)
		}
		all = append(all, obj)
	}
}

// expectReady checks which objects' finalizers may run, whatever their order.
func (r *finalRig) expectReady(what string, want ...sys.Addr) {
	count := r.h.ReadyCount()
	got := r.ready()
	if int(count) != len(got) {
		r.t.Errorf("%s: ReadyCount says %d, %d are ready", what, count, len(got))
	}
	if !sameObjects(got, want) {
		r.t.Errorf("%s: ready are %x, want %x", what, got, want)
	}
}

func sameObjects(a, b []sys.Addr) bool {
	if len(a) != len(b) {
		return false
	}
	count := map[sys.Addr]int{}
	for _, obj := range a {
		count[obj]++
	}
	for _, obj := range b {
		count[obj]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

func (r *finalRig) stats() gc.FinalizationStats {
	var s gc.FinalizationStats
	r.h.ReadFinalization(&s)
	return s
}

func (r *finalRig) expectLink(what string, link sys.Addr, obj sys.Addr) {
	want := uintptr(0)
	if obj != 0 {
		want = ^uintptr(obj)
	}
	if link.Word() != want {
		r.t.Errorf("%s: the link holds %#x, want %#x", what, link.Word(), want)
	}
}
