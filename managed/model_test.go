package managed

import (
	"math/rand"
	"testing"
	"time"
	"unsafe"
)

// This file: sequences of operations against a shadow model, which knows exactly what is reachable. Nothing that is
// reachable is ever lost, and when two collections are over nothing else is left, since layouts are exact.

// item is an object with everything that a field can be. The model names objects by number.
type item struct {
	id     int
	one    Ptr[item]
	noise  uintptr // looks like an address, and is none
	many   Slice[Ptr[item]]
	text   Slice[byte]
	word   Word
	weak   Weak[item]
	filler [3]int32
}

// shadow is what the model knows of an item.
type shadow struct {
	one, word, weak int // numbers of items, 0: none
	many            []int
	text            string
}

type model struct {
	t       testing.TB
	h       *Heap
	stack   *Stack
	script  *script
	items   map[int]*shadow
	next    int
	handles []modelHandle
	onStack []int
	seen    uint64 // collections
}

type modelHandle struct {
	hd   Handle[item]
	id   int
	weak bool
}

// script gives the bytes of a fuzz input as decisions.
type script struct {
	bytes []byte
	at    int
}

func (s *script) below(n int) int {
	if s.at >= len(s.bytes) {
		return 0
	}
	value := int(s.bytes[s.at])
	s.at++
	if n > 256 && s.at < len(s.bytes) {
		value = value<<8 | int(s.bytes[s.at])
		s.at++
	}
	return value % n
}

func (s *script) done() bool { return s.at >= len(s.bytes) }

func randomScript(seed int64, length int) []byte {
	bytes := make([]byte, length)
	rand.New(rand.NewSource(seed)).Read(bytes)
	return bytes
}

// runModel does what a script says.
func runModel(t testing.TB, bytes []byte, opts ...Option) {
	h := newHeap(t, append([]Option{WithRange(64 << 20), WithManualFinalizers()}, opts...)...)
	s := &model{t: t, h: h, script: &script{bytes: bytes}, items: map[int]*shadow{}}
	s.stack = must(h.NewStack(4096))
	err := h.Do(func(m *Mutator) {
		for !s.script.done() {
			s.step(m)
		}
		m.Collect()
		s.compare(m)
		m.Collect()
		s.compareLive()
	})
	if err != nil {
		t.Fatal(err)
	}
	check(t, h)
}

// find is the object of a number: the way to it leads over roots and fields, as in a program.
func (s *model) find(id int) *item {
	visited := map[int]bool{}
	var search func(n *item) *item
	search = func(n *item) *item {
		if n == nil || visited[n.id] {
			return nil
		}
		if n.id == id {
			return n
		}
		visited[n.id] = true
		if found := search(n.one.Get()); found != nil {
			return found
		}
		if found := search(pointer[item](n.word.Get())); found != nil {
			return found
		}
		for _, p := range n.many.Get() {
			if found := search(p.Get()); found != nil {
				return found
			}
		}
		return nil
	}
	for _, hd := range s.handles {
		if found := search(s.strong(hd)); found != nil {
			return found
		}
	}
	for i := range s.stack.Len() {
		if found := search(pointer[item](s.stack.At(i))); found != nil {
			return found
		}
	}
	return nil
}

func (s *model) strong(hd modelHandle) *item {
	if hd.weak {
		return nil
	}
	return hd.hd.Get()
}

// reachable are the numbers of items that the model can reach.
func (s *model) reachable() map[int]bool {
	set := map[int]bool{}
	var reach func(id int)
	reach = func(id int) {
		if id == 0 || set[id] {
			return
		}
		set[id] = true
		n := s.items[id]
		reach(n.one)
		reach(n.word)
		for _, other := range n.many {
			reach(other)
		}
	}
	for _, hd := range s.handles {
		if !hd.weak {
			reach(hd.id)
		}
	}
	for _, id := range s.onStack {
		reach(id)
	}
	return set
}

// some is a reachable item, nil if there is none.
func (s *model) some() (*item, int) {
	var roots []int
	for _, hd := range s.handles {
		if !hd.weak && hd.id != 0 {
			roots = append(roots, hd.id)
		}
	}
	roots = append(roots, s.onStack...)
	if len(roots) == 0 {
		return nil, 0
	}
	id := roots[s.script.below(len(roots))]
	for range s.script.below(6) {
		n, next := s.items[id], 0
		switch s.script.below(3) {
		case 0:
			next = n.one
		case 1:
			next = n.word
		default:
			if len(n.many) != 0 {
				next = n.many[s.script.below(len(n.many))]
			}
		}
		if next != 0 {
			id = next
		}
	}
	return s.find(id), id
}

func (s *model) step(m *Mutator) {
	switch what := s.script.below(40); {
	case what < 10:
		s.make(m)
	case what < 24:
		s.change(m)
	case what < 28:
		s.addHandle(m)
	case what < 31 && len(s.handles) != 0:
		i := s.script.below(len(s.handles))
		s.handles[i].hd.Free()
		s.handles = append(s.handles[:i], s.handles[i+1:]...)
	case what < 34 && len(s.onStack) != 0:
		s.stack.Pop()
		s.onStack = s.onStack[:len(s.onStack)-1]
	case what < 36:
		for range s.script.below(50) { // garbage
			must(m.Alloc(s.script.below(3000), Kind(s.script.below(2))))
		}
	case what < 38:
		m.CollectIncremental(0)
	case what == 38 && s.script.below(4) == 0:
		m.Collect()
	}
	if seen := s.h.collections.Load(); seen != s.seen {
		s.seen = seen
		s.compare(m)
	}
}

// make makes an item and puts it on the stack.
func (s *model) make(m *Mutator) {
	if s.stack.Len() >= 200 {
		return
	}
	n := must(Make[item](m))
	s.next++
	n.id = s.next
	s.items[n.id] = &shadow{}
	if err := s.stack.Push(uintptr(unsafe.Pointer(n))); err != nil {
		s.t.Fatal(err)
	}
	s.onStack = append(s.onStack, n.id)
}

// change changes a field of some item.
func (s *model) change(m *Mutator) {
	_, from := s.some()
	_, to := s.some()
	if from == 0 {
		return
	}
	known := s.items[from]
	switch s.script.below(7) {
	case 0, 1:
		s.find(from).one.Set(s.find(to))
		known.one = to
	case 2:
		s.find(from).word.Set(uintptr(unsafe.Pointer(s.find(to))))
		known.word = to
	case 3:
		many := must(MakeSlice[Ptr[item]](m, s.script.below(20)))
		var others []int
		for i := range many {
			_, other := s.some()
			many[i].Set(s.find(other))
			others = append(others, other)
		}
		s.find(from).many.Set(many)
		known.many = others
	case 4:
		text := must(MakeSlice[byte](m, s.script.below(100)))
		for i := range text {
			text[i] = byte(s.script.below(256))
		}
		known.text = string(text)
		s.find(from).text.Set(text)
	case 5:
		if err := s.find(from).weak.Set(m, s.find(to)); err != nil {
			s.t.Fatal(err)
		}
		known.weak = to
	case 6:
		s.find(from).one.Set(nil)
		known.one = 0
	}
	if n := s.find(from); n != nil {
		n.noise = uintptr(unsafe.Pointer(s.find(to)))
	}
}

func (s *model) addHandle(m *Mutator) {
	n, id := s.some()
	if len(s.handles) >= 20 || n == nil {
		return
	}
	kind := HandleKind(s.script.below(int(handleKinds)))
	s.handles = append(s.handles, modelHandle{must(NewHandle(m, n, kind)), id, kind == WeakShort || kind == WeakLong})
}

// compare looks at every item after a collection.
func (s *model) compare(m *Mutator) {
	set := s.reachable()
	for id := range set {
		n, known := s.find(id), s.items[id]
		if n == nil {
			s.t.Fatalf("item %d is lost", id)
		}
		if string(n.text.Get()) != known.text || len(known.many) != n.many.Len() {
			s.t.Fatalf("item %d has changed", id)
		}
		if idOf(n.one.Get()) != known.one || idOf(pointer[item](n.word.Get())) != known.word {
			s.t.Fatalf("a reference of item %d has changed", id)
		}
		for i, p := range n.many.Get() {
			if idOf(p.Get()) != known.many[i] {
				s.t.Fatalf("element %d of item %d has changed", i, id)
			}
		}
		s.compareWeak(n.weak.Get(), &known.weak, set)
	}
	for i := range s.handles {
		if hd := &s.handles[i]; hd.weak {
			s.compareWeak(hd.hd.Get(), &hd.id, set)
		}
	}
}

// compareWeak checks a weak reference. One to something unreachable may live until the next collection that began
// after it became so.
func (s *model) compareWeak(n *item, id *int, set map[int]bool) {
	switch {
	case n == nil && set[*id]:
		s.t.Fatalf("a weak reference to item %d is cleared, though it is reachable", *id)
	case n == nil:
		*id = 0
	case n.id != *id:
		s.t.Fatalf("a weak reference to item %d leads to %d", *id, n.id)
	}
}

func idOf(n *item) int {
	if n == nil {
		return 0
	}
	return n.id
}

// compareLive checks that nothing else is alive than what is reachable, when two collections are over.
func (s *model) compareLive() {
	want := int64(0)
	for id := range s.reachable() {
		n := s.find(id)
		want += int64(s.h.Size(unsafe.Pointer(n)))
		for _, part := range []uintptr{n.many.addr, n.text.addr} {
			if part != 0 {
				want += int64(s.h.Size(addr(part)))
			}
		}
	}
	if live := s.h.Stats().LiveBytes; live != want {
		s.t.Errorf("%d bytes are alive, %d are reachable", live, want)
	}
}

func TestModelAgreesWithRandomPrograms(t *testing.T) {
	for name, opts := range map[string][]Option{
		"whole":    nil,
		"interior": {WithInterior(true)},
		"sliced":   {WithTimeSlice(time.Microsecond), WithHelpers(0)},
		"manual":   {WithMode(Manual)},
		"helped":   {WithTimeSlice(20 * time.Microsecond)},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range int64(6) {
				runModel(t, randomScript(seed, 6000), opts...)
			}
		})
	}
}

// FuzzOperations runs any bytes as a program.
func FuzzOperations(f *testing.F) {
	for seed := range int64(4) {
		f.Add(randomScript(seed, 500), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, bytes []byte, sliced bool) {
		var opts []Option
		if sliced {
			opts = append(opts, WithTimeSlice(time.Microsecond), WithHelpers(0))
		}
		runModel(t, bytes[:min(len(bytes), 3000)], opts...)
	})
}
