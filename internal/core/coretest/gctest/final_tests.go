package gctest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

var finalTests = []kit.Test{
	{Name: "a short link is cleared when its object dies, and not before", Run: shortLinkIsCleared},
	{Name: "a long link lives as long as a finalizer can bring the object back", Run: longLinkOutlivesFinalizer},
	{Name: "links can be moved and taken back", Run: linksMove},
	{Name: "a link in a dead object is forgotten", Run: linkInDeadObject},
	{Name: "finalizers run in topological order", Run: topologicalOrder},
	{Name: "objects in a cycle are not finalized but counted", Run: cycleIsCounted},
	{Name: "an object's own address does not stop a finalizer that ignores it", Run: ignoreSelf},
	{Name: "finalizers without order are ready together, and what they need is kept", Run: noOrder},
	{Name: "an object is finalized when unreachable even from other finalizable ones", Run: unreachableOrder},
	{Name: "without java's rules objects of unreachable order are ordinary ones", Run: plainRules},
	{Name: "data of a finalizer stays alive until it has run", Run: dataStaysAlive},
	{Name: "finalizers that do not run keep their objects", Run: readyKeepsObjects},
	{Name: "a finalizer can be exchanged and taken back", Run: finalizerExchanged},
	{Name: "an object that is freed is not finalized", Run: freedIsNotFinalized},
	{Name: "toggles are strong or weak as they are set", Run: togglesHold},
	{Name: "all finalizers can be made ready", Run: readyAll},
	{Name: "many links and finalizers come and go, and their memory goes back", Run: manyGoBack},
	{Name: "the queue of finalizers grows in a collection after some have run", Run: queueGrows},
	{Name: "bad objects are refused", Run: badObjectsRefused},
	{Name: "finalizers run some at a time when memory is out", Run: finalizersWithoutMemory},
}

func shortLinkIsCleared(t kit.T) {
	r := newFinalRig(t, 0)
	kept, lost := r.object(2), r.object(2)
	r.setRoot(0, kept)
	r.watch(r.link(0), kept, false)
	r.watch(r.link(1), lost, false)
	r.watch(r.link(2), r.roots, false) // none of the heap's: lives for ever
	r.collect()
	r.expectLink("of the object in a root", r.link(0), kept)
	r.expectLink("of the lost object", r.link(1), 0)
	r.expectLink("of what is no object", r.link(2), r.roots)
	if s := r.stats(); s.ShortLinks != 2 || s.ClearedLinks != 1 {
		t.Errorf("%d links are left, %d were cleared", s.ShortLinks, s.ClearedLinks)
	}
	r.setRoot(0, 0)
	r.link(1).SetWord(123) // nobody's any more
	r.collect()
	r.expectLink("of the object that left its root", r.link(0), 0)
	if r.link(1).Word() != 123 {
		t.Errorf("a link that was cleared is cleared again")
	}
	r.close()
}

func longLinkOutlivesFinalizer(t kit.T) {
	r := newFinalRig(t, 0)
	inner := r.object(2)
	obj := r.object(2, inner)
	r.finalize(obj, 1, gc.OrderTopological)
	for i, o := range []sys.Addr{obj, inner} {
		r.watch(r.link(uintptr(2*i)), o, false)
		r.watch(r.link(uintptr(2*i+1)), o, true)
	}
	r.collect()
	r.expectLink("short", r.link(0), 0)
	r.expectLink("long", r.link(1), obj)
	r.expectLink("short, to what the object reaches", r.link(2), 0)
	r.expectLink("long, to what the object reaches", r.link(3), inner)
	r.expectReady("after the collection", obj)
	r.collect()
	r.expectLink("long, when the finalizer has run", r.link(1), 0)
	r.expectLink("long, to what the object reached", r.link(3), 0)
	if s := r.stats(); s.ShortLinks+s.LongLinks != 0 || s.ClearedLinks != 4 {
		t.Errorf("%d links are left, %d were cleared", s.ShortLinks+s.LongLinks, s.ClearedLinks)
	}
	r.close()
}

func linksMove(t kit.T) {
	r := newFinalRig(t, 0)
	for _, long := range []bool{false, true} {
		a, b := r.object(2), r.object(2)
		r.setRoot(0, a)
		r.watch(r.link(0), b, long)
		if result := r.h.RegisterLink(r.link(0), a, long); result != gc.LinkDuplicate {
			t.Errorf("registered twice: %d", result)
		}
		r.watch(r.link(1), a, long)
		for _, c := range []struct{ from, to, want uintptr }{
			{0, 1, gc.LinkDuplicate}, {2, 3, gc.LinkUnknown}, {0, 0, gc.LinkDone}, {0, 5, gc.LinkDone},
			{0, 6, gc.LinkUnknown},
		} {
			if got := r.h.MoveLink(r.link(c.from), r.link(c.to), long); got != int(c.want) {
				t.Errorf("moved from %d to %d: %d, want %d", c.from, c.to, got, c.want)
			}
		}
		r.link(0).SetWord(1)
		r.link(5).SetWord(2)
		r.setRoot(0, 0)
		if !r.h.UnregisterLink(r.link(1), long) || r.h.UnregisterLink(r.link(1), long) {
			t.Errorf("a link can be taken back twice, or not at all")
		}
		r.collect()
		if r.link(0).Word() != 1 || r.link(5).Word() != 0 || r.link(1).Word() == 0 {
			t.Errorf("links after moving: %#x %#x %#x", r.link(0).Word(), r.link(5).Word(), r.link(1).Word())
		}
	}
	r.close()
}

func linkInDeadObject(t kit.T) {
	r := newFinalRig(t, 0)
	target, holder := r.object(2), r.object(4)
	r.setRoot(0, target)
	r.setRoot(1, holder)
	r.watch(holder+16, target, false)
	r.watch(holder+24, target, true)
	r.collect()
	if s := r.stats(); s.ShortLinks != 1 || s.LongLinks != 1 {
		t.Errorf("links of an object that lives: %d, %d", s.ShortLinks, s.LongLinks)
	}
	r.setRoot(1, 0)
	r.collect()
	if s := r.stats(); s.ShortLinks != 0 || s.LongLinks != 0 {
		t.Errorf("links of an object that is dead: %d, %d", s.ShortLinks, s.LongLinks)
	}
	r.close()
}

func topologicalOrder(t kit.T) {
	r := newFinalRig(t, 0)
	c := r.object(2)
	b := r.object(2, c)
	middle := r.object(3, 0, b) // without a finalizer of its own
	a := r.object(2, middle)
	for _, obj := range []sys.Addr{b, c, a} {
		r.finalize(obj, 0, gc.OrderTopological)
	}
	r.collect()
	r.expectReady("first", a)
	r.collect()
	r.expectReady("second", b)
	r.collect()
	r.expectReady("third", c)
	r.collect()
	r.expectReady("last")
	r.close()
}

func cycleIsCounted(t kit.T) {
	r := newFinalRig(t, 0)
	a, b, self := r.object(2), r.object(2), r.object(2)
	setRef(a, 0, b)
	setRef(b, 0, a)
	setRef(self, 1, self)
	r.finalize(a, 0, gc.OrderTopological)
	r.finalize(self, 0, gc.OrderTopological)
	r.collect()
	r.expectReady("in cycles")
	if s := r.stats(); s.Cycles != 2 || s.Cycle != a && s.Cycle != self || s.Finalizers != 2 {
		t.Errorf("%d cycles, the last of %#x; %d finalizers", s.Cycles, s.Cycle, s.Finalizers)
	}
	setRef(b, 0, 0)
	setRef(self, 1, 0)
	r.collect()
	r.expectReady("when the cycles are broken", a, self)
	r.close()
}

func ignoreSelf(t kit.T) {
	r := newFinalRig(t, 0)
	inner := r.object(2)
	a := r.object(4)
	setRef(a, 0, a)
	setRef(a, 1, inner)
	setRef(a, 3, a)
	r.finalize(a, 0, gc.OrderIgnoreSelf)
	r.finalize(inner, 0, gc.OrderIgnoreSelf)
	b := r.object(2)
	back := r.object(2, b)
	setRef(b, 0, back)
	r.finalize(b, 0, gc.OrderIgnoreSelf)
	r.collect()
	r.expectReady("with its own address in it", a)
	if s := r.stats(); s.Cycles != 1 || s.Cycle != b {
		t.Errorf("%d cycles, the last of %#x, want one of %#x", s.Cycles, s.Cycle, b)
	}
	r.collect()
	r.expectReady("what it reached", inner)
	r.close()
}

func noOrder(t kit.T) {
	r := newFinalRig(t, 0)
	leaf := r.object(3)
	setRef(leaf, 2, 4711)
	a, b := r.object(2), r.object(3)
	setRef(a, 0, b)
	setRef(b, 0, a)
	setRef(b, 1, leaf)
	r.finalize(a, 0, gc.OrderNone)
	r.finalize(b, 0, gc.OrderNone)
	r.collect()
	// New objects would take the memory of those that were not kept.
	for i := 0; i < 1000; i++ {
		setRef(r.object(3), 2, 1)
	}
	r.collect()
	if getRef(a, 0) != b || getRef(b, 0) != a || getRef(b, 1) != leaf || getRef(leaf, 2) != 4711 {
		t.Errorf("what finalizers without order need has changed")
	}
	r.expectReady("in a cycle", a, b)
	r.close()
}

func unreachableOrder(t kit.T) {
	r := newFinalRig(t, 0)
	u := r.object(2)
	a := r.object(2, u)
	alone := r.object(2)
	r.finalize(u, 0, gc.OrderUnreachable)
	r.finalize(a, 0, gc.OrderNone)
	r.finalize(alone, 0, gc.OrderUnreachable)
	r.collect()
	r.expectReady("reached by an object without order, and alone", a, alone)
	r.collect()
	r.expectReady("when the other has been finalized", u)
	r.close()
}

func plainRules(t kit.T) {
	r := newFinalRig(t, 0)
	if !r.h.JavaFinalization() {
		t.Errorf("java's rules are off at first")
	}
	r.h.SetJavaFinalization(false)
	u := r.object(2)
	a := r.object(2, u)
	r.finalize(u, 0, gc.OrderUnreachable)
	r.finalize(a, 0, gc.OrderNone)
	r.collect()
	r.expectReady("both", a, u)
	r.close()
}

func dataStaysAlive(t kit.T) {
	r := newFinalRig(t, 0)
	data := r.object(2, 0)
	setRef(data, 1, 99)
	obj := r.object(2)
	r.finalize(obj, uintptr(data), gc.OrderTopological)
	r.setRoot(0, obj)
	r.watch(r.link(0), data, true)
	for i := 0; i < 3; i++ {
		if i == 1 {
			r.setRoot(0, 0)
		}
		r.collect()
		r.expectLink("to the data", r.link(0), data)
	}
	got, fn, gotData, ok := r.h.NextReady()
	if !ok || got != obj || fn != someFunction || gotData != uintptr(data) || getRef(data, 1) != 99 {
		t.Errorf("ready: %v %#x %d %#x", ok, got, fn, gotData)
	}
	r.collect()
	r.expectLink("to the data, when the finalizer has run", r.link(0), 0)
	r.close()
}

func readyKeepsObjects(t kit.T) {
	r := newFinalRig(t, 0)
	var all []sys.Addr
	for i := 0; i < 300; i++ {
		obj := r.object(2, r.object(2, 0, 0))
		setRef(obj, 1, sys.Addr(i))
		r.finalize(obj, 0, gc.OrderTopological)
		all = append(all, obj)
	}
	for i := 0; i < 3; i++ {
		r.collect()
		for j := 0; j < 500; j++ {
			setRef(r.object(2), 1, 12345)
		}
	}
	for i, obj := range all {
		if getRef(obj, 1) != sys.Addr(i) || r.h.BaseOf(getRef(obj, 0)) != getRef(obj, 0) {
			t.Fatalf("object %d has not been kept", i)
		}
	}
	r.expectReady("all", all...)
	r.close()
}

func finalizerExchanged(t kit.T) {
	r := newFinalRig(t, 0)
	obj := r.object(2)
	steps := []struct {
		fn, data       uintptr
		oldFn, oldData uintptr
	}{
		{noFunction, 5, 0, 0}, {otherFunction, 1, 0, 0}, {someFunction, 2, otherFunction, 1},
		{noFunction, 9, someFunction, 2}, {noFunction, 9, 0, 0}, {someFunction, 3, 0, 0},
	}
	for i, s := range steps {
		oldFn, oldData, ok := r.h.RegisterFinalizer(obj, s.fn, s.data, gc.OrderNone)
		if !ok || oldFn != s.oldFn || oldData != s.oldData {
			t.Errorf("step %d: %d, %d, %v; want %d, %d", i, oldFn, oldData, ok, s.oldFn, s.oldData)
		}
	}
	r.collect()
	if got, fn, data, ok := r.h.NextReady(); !ok || got != obj || fn != someFunction || data != 3 {
		t.Errorf("ready: %v %#x %d %d", ok, got, fn, data)
	}
	r.close()
}

func freedIsNotFinalized(t kit.T) {
	r := newFinalRig(t, 0)
	small, large := r.object(2), r.object(3000)
	r.finalize(small, 0, gc.OrderTopological)
	r.finalize(large, 0, gc.OrderTopological)
	r.h.SetToggle(small, gc.ToggleWeak)
	if !r.h.Free(r.c, small) || !r.h.Free(r.c, large) {
		t.Fatalf("Free refuses")
	}
	r.collect()
	r.expectReady("after Free")
	if s := r.stats(); s.Finalizers != 0 || s.Toggles != 0 {
		t.Errorf("%d finalizers, %d toggles are left", s.Finalizers, s.Toggles)
	}
	r.close()
}

func togglesHold(t kit.T) {
	r := newFinalRig(t, 0)
	strong, weak, dropped := r.object(2, r.object(2)), r.object(2), r.object(2)
	for i, obj := range []sys.Addr{strong, weak, dropped, getRef(strong, 0)} {
		r.watch(r.link(uintptr(i)), obj, true)
	}
	for _, c := range []struct {
		obj   sys.Addr
		state int
	}{{strong, gc.ToggleWeak}, {strong, gc.ToggleStrong}, {weak, gc.ToggleWeak}, {dropped, gc.ToggleStrong},
		{dropped, gc.ToggleDrop}} {
		if !r.h.SetToggle(c.obj, c.state) {
			t.Errorf("SetToggle refuses")
		}
	}
	seen := map[sys.Addr]int{}
	for obj, next := r.h.NextToggle(0); obj != 0; obj, next = r.h.NextToggle(next) {
		seen[obj]++
	}
	if len(seen) != 2 || seen[strong] != 1 || seen[weak] != 1 {
		t.Errorf("toggles: %v", seen)
	}
	r.collect()
	r.expectLink("strong", r.link(0), strong)
	r.expectLink("weak", r.link(1), 0)
	r.expectLink("dropped", r.link(2), 0)
	r.expectLink("reached from a strong one", r.link(3), getRef(strong, 0))
	if s := r.stats(); s.Toggles != 1 {
		t.Errorf("%d toggles are left", s.Toggles)
	}
	r.h.SetToggle(strong, gc.ToggleWeak)
	r.collect()
	r.expectLink("strong made weak", r.link(0), 0)
	r.close()
}

func readyAll(t kit.T) {
	r := newFinalRig(t, 0)
	var all []sys.Addr
	for i := uintptr(0); i < 500; i++ {
		obj := r.object(2)
		r.setRoot(i, obj)
		r.finalize(obj, 0, uint32(i)%4)
		all = append(all, obj)
	}
	if !r.h.ReadyAll() {
		t.Errorf("ReadyAll refuses")
	}
	r.expectReady("all", all...)
	if s := r.stats(); s.Finalizers != 0 {
		t.Errorf("%d finalizers are left", s.Finalizers)
	}
	r.close()
}

func manyGoBack(t kit.T) {
	r := newFinalRig(t, 0)
	const count = 30000
	holder := r.alloc(count*2*sys.WordBytes, gc.KindPointerFree)
	r.setRoot(0, holder)
	for i := uintptr(0); i < count; i++ {
		obj := r.object(2)
		if i%1000 == 0 {
			r.setRoot(1+i/1000, obj)
		}
		r.watch(holder+sys.Addr(16*i), obj, false)
		r.watch(holder+sys.Addr(16*i+8), obj, true)
		r.finalize(obj, i, gc.OrderTopological)
	}
	full := r.stats().Bytes
	r.collect()
	s := r.stats()
	if s.ShortLinks != count/1000 || s.LongLinks != count || s.Finalizers != count/1000 || s.Ready != count-count/1000 {
		t.Errorf("after the collection: %+v", s)
	}
	if got := len(r.ready()); got != count-count/1000 {
		t.Errorf("%d were ready", got)
	}
	r.collect()
	s = r.stats()
	if s.ShortLinks != count/1000 || s.LongLinks != count/1000 || s.Ready != 0 {
		t.Errorf("at the end: %+v", s)
	}
	if s.Bytes*10 > full {
		t.Errorf("%d bytes of tables at the end, %d before", s.Bytes, full)
	}
	r.close()
}

func queueGrows(t kit.T) {
	r := newFinalRig(t, 0)
	const first, count, ran = 1500, 3000, 1400 // the ring has room for 2048 at first
	made := uintptr(0)
	drop := func(objects uintptr) {
		for i := uintptr(0); i < objects; i++ {
			inner := r.object(2)
			setRef(inner, 1, sys.Addr(made))
			r.finalize(r.object(2, inner), made, gc.OrderTopological)
			made++
		}
		r.collect()
	}
	drop(first)
	for i := 0; i < ran; i++ {
		if _, _, _, ok := r.h.NextReady(); !ok {
			t.Fatalf("finalizer %d of %d is not ready", i, ran)
		}
	}
	drop(count)
	for j := 0; j < count; j++ {
		setRef(r.object(2), 1, 12345)
	}
	found := uintptr(0)
	for obj, _, data, ok := r.h.NextReady(); ok; obj, _, data, ok = r.h.NextReady() {
		if inner := getRef(obj, 0); r.h.BaseOf(inner) != inner || getRef(inner, 1) != sys.Addr(data) {
			t.Fatalf("what object %d reaches has not been kept", data)
		}
		found++
	}
	if found != first-ran+count {
		t.Errorf("%d finalizers were ready, not %d", found, first-ran+count)
	}
	r.close()
}

func badObjectsRefused(t kit.T) {
	r := newFinalRig(t, 0)
	obj := r.object(4)
	for _, bad := range []sys.Addr{0, 8, obj + 8, obj + 1, r.roots, ^sys.Addr(0) &^ 15} {
		if _, _, ok := r.h.RegisterFinalizer(bad, someFunction, 0, gc.OrderNone); ok {
			t.Errorf("a finalizer of %#x", bad)
		}
		if r.h.SetToggle(bad, gc.ToggleStrong) {
			t.Errorf("a toggle of %#x", bad)
		}
	}
	if _, _, ok := r.h.RegisterFinalizer(obj, someFunction, 0, 4); ok {
		t.Errorf("a finalizer of order 4")
	}
	if r.h.SetToggle(obj, 3) || r.h.SetToggle(obj, -1) {
		t.Errorf("a toggle that is neither strong nor weak")
	}
	r.close()
}

func finalizersWithoutMemory(t kit.T) {
	const count, leastRange = 5000, 16 << 20
	r := newFinalRigOf(t, 0, leastRange)
	all := map[sys.Addr]bool{}
	for i := uintptr(0); i < count; i++ {
		obj := r.object(2)
		r.finalize(obj, i, gc.OrderTopological)
		all[obj] = true
	}
	for bytes := uintptr(1 << 20); bytes >= 4096; bytes /= 2 { // the space is full then
		for {
			if obj, _ := r.h.AllocSlow(r.c, bytes, gc.KindUncollectable, gc.FlagExpand); obj == 0 {
				break
			}
		}
	}
	last := r.object(2)
	if _, _, ok := r.h.RegisterFinalizer(last, someFunction, 0, gc.OrderNone); !ok {
		t.Errorf("the table has room, but a finalizer is refused")
	}
	all[last] = true
	rounds := 0
	for ; len(all) != 0 && rounds < 10; rounds++ {
		r.collect()
		for _, obj := range r.ready() {
			if !all[obj] {
				t.Fatalf("the finalizer of %#x runs twice", obj)
			}
			delete(all, obj)
		}
	}
	if len(all) != 0 || rounds < 2 || r.stats().Postponed == 0 {
		t.Errorf("%d finalizers have not run after %d collections, %d had to wait", len(all), rounds,
			r.stats().Postponed)
	}
	r.close()
}
