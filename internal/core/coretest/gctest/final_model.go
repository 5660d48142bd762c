package gctest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// finalModel knows of every object what it refers to, and so what a collection must do about finalizers and links.
type finalModel struct {
	*finalRig
	random   uint64
	objects  map[sys.Addr]*finalNode
	order    []sys.Addr // the objects, in the order in which they were made
	rooted   [64]sys.Addr
	waiting  []finalReady // in the queue
	links    map[sys.Addr]finalLink
	nextLink uintptr
	plain    bool
}

type finalReady struct{ obj, data sys.Addr }

type finalNode struct {
	refs      [3]sys.Addr
	finalizer bool
	order     uint32
	data      sys.Addr
	toggle    int // gc.ToggleDrop: none
}

type finalLink struct {
	obj  sys.Addr
	long bool
	in   sys.Addr // the object that holds it, or 0
}

const finalLinkWord = 3 // of an object, behind its references

var finalModelTests = []kit.Test{
	{Name: "a model agrees on links and finalizers of random graphs", Run: finalModelAgrees},
	{Name: "the model agrees with interior addresses", Run: finalModelInterior},
	{Name: "the model agrees without java's rules", Run: finalModelPlain},
}

func finalModelAgrees(t kit.T) { runFinalModel(t, 1, 0, false) }

func finalModelInterior(t kit.T) { runFinalModel(t, 2, gc.ModeInterior, false) }

func finalModelPlain(t kit.T) { runFinalModel(t, 3, 0, true) }

func runFinalModel(t kit.T, seed uint64, mode uint32, plain bool) {
	m := &finalModel{
		finalRig: newFinalRig(t, mode), random: seed * 0x9e3779b97f4a7c15,
		objects: map[sys.Addr]*finalNode{}, links: map[sys.Addr]finalLink{}, plain: plain,
	}
	m.h.SetJavaFinalization(!plain)
	for round := 0; round < 120; round++ {
		for step := 0; step < 40+round; step++ {
			m.step()
		}
		m.collectAndCompare(round)
	}
	m.close()
}

func (m *finalModel) below(n uintptr) uintptr {
	m.random ^= m.random << 13
	m.random ^= m.random >> 7
	m.random ^= m.random << 17
	return uintptr(m.random>>20) % n
}

// some is one of the objects, 0 if there is none.
func (m *finalModel) some() sys.Addr {
	if len(m.order) == 0 {
		return 0
	}
	return m.order[m.below(uintptr(len(m.order)))]
}

// step changes something that the program could change as well: it only uses objects that it could still reach, or
// that no collection has looked at since they were made.
func (m *finalModel) step() {
	obj := m.some()
	n := m.objects[obj]
	switch what := m.below(20); {
	case what < 7 || n == nil:
		m.make()
	case what < 11:
		i, to := m.below(3), m.some()
		if m.below(6) == 0 {
			to = obj
		}
		n.refs[i] = to
		setRef(obj, i, to)
	case what < 13:
		m.setRooted(m.below(uintptr(len(m.rooted))), obj)
	case what < 14:
		m.setRooted(m.below(uintptr(len(m.rooted))), 0)
	case what < 17:
		m.setFinalizer(obj, n)
	case what < 18:
		n.toggle = int(m.below(3))
		m.h.SetToggle(obj, n.toggle)
	case what < 19:
		m.addLink(obj)
	default:
		m.takeReady()
	}
}

func (m *finalModel) make() {
	n := &finalNode{}
	for i := range n.refs {
		if m.below(2) == 0 {
			n.refs[i] = m.some()
		}
	}
	obj := m.object(4+m.below(8), n.refs[:]...)
	if m.objects[obj] != nil {
		m.t.Fatalf("object %#x is handed out twice", obj)
	}
	m.objects[obj] = n
	m.order = append(m.order, obj)
	if m.below(4) == 0 {
		m.setRooted(m.below(uintptr(len(m.rooted))), obj)
	}
}

func (m *finalModel) setRooted(i uintptr, obj sys.Addr) {
	m.rooted[i] = obj
	m.setRoot(i, obj)
}

func (m *finalModel) setFinalizer(obj sys.Addr, n *finalNode) {
	if m.below(5) == 0 {
		_, _, ok := m.h.RegisterFinalizer(obj, noFunction, 0, 0)
		if !ok {
			m.t.Fatalf("a finalizer cannot be taken back")
		}
		n.finalizer, n.data = false, 0
		return
	}
	n.finalizer, n.order, n.data = true, uint32(m.below(4)), 0
	if m.below(4) == 0 {
		n.data = m.some()
	}
	m.finalize(obj, uintptr(n.data), n.order)
}

// addLink registers a link to an object that lies outside of the heap, or in another object.
func (m *finalModel) addLink(obj sys.Addr) {
	l := finalLink{obj: obj, long: m.below(2) == 0}
	at := sys.Addr(0)
	if m.below(2) == 0 {
		l.in = m.some()
		at = l.in + finalLinkWord*sys.WordBytes
	} else if m.nextLink < finalLinks {
		at = m.link(m.nextLink)
		m.nextLink++
	}
	if _, taken := m.links[at]; taken || at == 0 {
		return
	}
	m.watch(at, obj, l.long)
	m.links[at] = l
}

func (m *finalModel) takeReady() {
	obj, _, _, ok := m.h.NextReady()
	if !ok {
		if len(m.waiting) != 0 {
			m.t.Fatalf("no finalizer is ready, but %d should be", len(m.waiting))
		}
		return
	}
	for i, waits := range m.waiting {
		if waits.obj == obj {
			m.waiting = append(m.waiting[:i:i], m.waiting[i+1:]...)
			return
		}
	}
	m.t.Fatalf("the finalizer of %#x should not be ready", obj)
}

// reach adds an object and all that it reaches.
func (m *finalModel) reach(set map[sys.Addr]bool, obj sys.Addr) {
	if obj == 0 || set[obj] {
		return
	}
	set[obj] = true
	for _, ref := range m.objects[obj].refs {
		m.reach(set, ref)
	}
}

// alive is what is reachable before finalizers are looked at.
func (m *finalModel) alive() map[sys.Addr]bool {
	set := map[sys.Addr]bool{}
	for _, obj := range m.rooted {
		m.reach(set, obj)
	}
	for _, waits := range m.waiting {
		m.reach(set, waits.obj)
		m.reach(set, waits.data)
	}
	for obj, n := range m.objects {
		if n.finalizer {
			m.reach(set, n.data)
		}
		if n.toggle == gc.ToggleStrong {
			m.reach(set, obj)
		}
	}
	return set
}

// decide adds what finalizable objects keep alive to the set, and returns those which are to be finalized.
func (m *finalModel) decide(set map[sys.Addr]bool) []sys.Addr {
	var dead, ready []sys.Addr
	for _, obj := range m.order {
		if m.objects[obj].finalizer && !set[obj] {
			dead = append(dead, obj)
		}
	}
	for _, obj := range dead {
		n := m.objects[obj]
		for _, ref := range n.refs {
			if n.order != gc.OrderNone && (n.order != gc.OrderIgnoreSelf || ref != obj) {
				m.reach(set, ref)
			}
		}
	}
	for _, obj := range dead {
		if !set[obj] {
			ready = append(ready, obj)
		}
	}
	if m.plain {
		for _, obj := range ready { // what they reach may be gone
			set[obj] = true
		}
		return ready
	}
	for _, obj := range ready {
		if m.objects[obj].order != gc.OrderUnreachable {
			m.reach(set, obj)
		}
	}
	var kept []sys.Addr
	for _, obj := range ready {
		if m.objects[obj].order != gc.OrderUnreachable || !set[obj] {
			kept = append(kept, obj)
		}
	}
	for _, obj := range kept {
		m.reach(set, obj)
	}
	return kept
}

// clearLinks does in the model what a collection does to links of one kind whose objects are not in the set.
func (m *finalModel) clearLinks(set map[sys.Addr]bool, long bool, cleared map[sys.Addr]bool) {
	for at, l := range m.links {
		if l.long == long && !set[l.obj] {
			cleared[at] = true
			delete(m.links, at)
		}
	}
}

func (m *finalModel) collectAndCompare(round int) {
	if m.plain {
		// Without java's rules what an object of no order reaches is lost before it is finalized.
		for _, obj := range m.order {
			if n := m.objects[obj]; n.finalizer && n.order == gc.OrderNone {
				n.order = gc.OrderTopological
				m.finalize(obj, uintptr(n.data), n.order)
			}
		}
	}
	m.collect()
	set, cleared := m.alive(), map[sys.Addr]bool{}
	m.clearLinks(set, false, cleared)
	ready := m.decide(set)
	m.clearLinks(set, true, cleared)
	for at := range cleared {
		if at.Word() != 0 {
			m.t.Fatalf("round %d: a link to a dead object holds %#x", round, at.Word())
		}
	}
	for _, obj := range ready {
		m.objects[obj].finalizer = false
		m.waiting = append(m.waiting, finalReady{obj, m.objects[obj].data})
	}
	if got := m.h.ReadyCount(); int(got) != len(m.waiting) {
		m.t.Fatalf("round %d: %d finalizers are ready, want %d", round, got, len(m.waiting))
	}
	m.compareObjects(round, set)
	m.compareTables(round, set)
}

func (m *finalModel) compareObjects(round int, set map[sys.Addr]bool) {
	var order []sys.Addr
	for _, obj := range m.order {
		if m.h.IsMarked(obj) != set[obj] {
			m.t.Fatalf("round %d: object %#x is marked: %v, should be: %v", round, obj, m.h.IsMarked(obj), set[obj])
		}
		if !set[obj] {
			delete(m.objects, obj)
			continue
		}
		order = append(order, obj)
		for i, ref := range m.objects[obj].refs {
			if getRef(obj, uintptr(i)) != ref {
				m.t.Fatalf("round %d: object %#x has lost a reference", round, obj)
			}
		}
	}
	m.order = order
}

func (m *finalModel) compareTables(round int, set map[sys.Addr]bool) {
	short, long, finalizers, toggles := 0, 0, 0, 0
	for at, l := range m.links {
		if l.in != 0 && !set[l.in] {
			delete(m.links, at)
			continue
		}
		if at.Word() != ^uintptr(l.obj) {
			m.t.Fatalf("round %d: a link to a living object holds %#x", round, at.Word())
		}
		if l.long {
			long++
		} else {
			short++
		}
	}
	for _, n := range m.objects {
		if n.finalizer {
			finalizers++
		}
		if n.toggle != gc.ToggleDrop {
			toggles++
		}
	}
	s := m.stats()
	if int(s.ShortLinks) != short || int(s.LongLinks) != long || int(s.Finalizers) != finalizers ||
		int(s.Toggles) != toggles {
		m.t.Fatalf("round %d: %+v, want %d short and %d long links, %d finalizers, %d toggles", round, s, short, long,
			finalizers, toggles)
	}
}
