package main

import (
	"container/list"
	"math/rand/v2"

	"granary/object"
)

var peers = []peer{
	{"object, single owner", func() store { return newObjects(object.WithSingleOwner()) }},
	{"object", func() store { return newObjects() }},
	{"map of pointers", func() store { return &pointers{things: map[uint64]*thing{}} }},
	{"container/list of pointers", func() store { return &listed{things: list.New()} }},
	{"Ark (ECS)", func() store { return newEntities() }},
	{"dense table", func() store { return &dense{} }},
}

const known = 1024 // things that are looked at again and again

func newRandom() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func shuffle[T any](random *rand.Rand, known []T) {
	random.Shuffle(len(known), func(i, j int) { known[i], known[j] = known[j], known[i] })
}

// objects is package object.
type objects struct {
	kind *object.Type[thing]
	refs []object.Ref[thing]
}

func newObjects(options ...object.Option) *objects {
	return &objects{kind: object.NewType[thing]("thing", options...)}
}

func (s *objects) pairs(n int) {
	for i := range n {
		r := s.kind.New()
		r.Must().ID = uint64(i)
		object.Delete(&r)
	}
}

func (s *objects) fill(n int) {
	s.refs = make([]object.Ref[thing], 0, n)
	for i := range n {
		r := s.kind.New()
		r.Must().ID = uint64(i)
		s.refs = append(s.refs, r)
	}
}

func (s *objects) shuffle(random *rand.Rand) { shuffle(random, s.refs) }

func (s *objects) look(n, among int) (sum uint64) {
	for ; n > 0; n -= among {
		for _, r := range s.refs[:among] {
			p, err := r.Get()
			if err != nil {
				panic(err)
			}
			sum += p.ID
		}
	}
	return sum
}

func (s *objects) iterate() (count uint64) {
	for range s.kind.Each() {
		count++
	}
	return count
}

func (s *objects) sum() (sum uint64) {
	for _, p := range s.kind.All() {
		sum += p.ID
	}
	return sum
}

func (s *objects) replace(n int) {
	random := newRandom()
	for i := range n {
		at := random.IntN(len(s.refs))
		object.Delete(&s.refs[at])
		r := s.kind.New()
		r.Must().ID = uint64(i)
		s.refs[at] = r
	}
}

func (s *objects) empty() {
	for i := range s.refs {
		object.Delete(&s.refs[i])
	}
}

func (s *objects) close() { s.kind.Trim() }

// pointers is a map.
type pointers struct {
	things map[uint64]*thing
	ids    []uint64
	last   uint64
}

func (s *pointers) add() uint64 {
	s.last++
	s.things[s.last] = &thing{ID: s.last}
	return s.last
}

func (s *pointers) pairs(n int) {
	for range n {
		delete(s.things, s.add())
	}
}

func (s *pointers) fill(n int) {
	s.ids = make([]uint64, 0, n)
	for i := range n {
		id := s.add()
		s.things[id].ID = uint64(i)
		s.ids = append(s.ids, id)
	}
}

func (s *pointers) shuffle(random *rand.Rand) { shuffle(random, s.ids) }

func (s *pointers) look(n, among int) (sum uint64) {
	for ; n > 0; n -= among {
		for _, id := range s.ids[:among] {
			p := s.things[id]
			if p == nil {
				panic("not there")
			}
			sum += p.ID
		}
	}
	return sum
}

func (s *pointers) iterate() (count uint64) {
	for range s.things {
		count++
	}
	return count
}

func (s *pointers) sum() (sum uint64) {
	for _, p := range s.things {
		sum += p.ID
	}
	return sum
}

func (s *pointers) replace(n int) {
	random := newRandom()
	for range n {
		at := random.IntN(len(s.ids))
		delete(s.things, s.ids[at])
		s.ids[at] = s.add()
	}
}

func (s *pointers) empty() {
	for _, id := range s.ids {
		delete(s.things, id)
	}
}

func (s *pointers) close() { *s = pointers{} }

// listed is a container/list.
type listed struct {
	things   *list.List
	elements []*list.Element
}

func (s *listed) pairs(n int) {
	for i := range n {
		s.things.Remove(s.things.PushBack(&thing{ID: uint64(i)}))
	}
}

func (s *listed) fill(n int) {
	s.elements = make([]*list.Element, 0, n)
	for i := range n {
		s.elements = append(s.elements, s.things.PushBack(&thing{ID: uint64(i)}))
	}
}

func (s *listed) shuffle(random *rand.Rand) { shuffle(random, s.elements) }

func (s *listed) look(n, among int) (sum uint64) {
	for ; n > 0; n -= among {
		for _, e := range s.elements[:among] {
			sum += e.Value.(*thing).ID
		}
	}
	return sum
}

func (s *listed) iterate() (count uint64) {
	for e := s.things.Front(); e != nil; e = e.Next() {
		count++
	}
	return count
}

func (s *listed) sum() (sum uint64) {
	for e := s.things.Front(); e != nil; e = e.Next() {
		sum += e.Value.(*thing).ID
	}
	return sum
}

func (s *listed) replace(n int) {
	random := newRandom()
	for i := range n {
		at := random.IntN(len(s.elements))
		s.things.Remove(s.elements[at])
		s.elements[at] = s.things.PushBack(&thing{ID: uint64(i)})
	}
}

func (s *listed) empty() {
	for _, e := range s.elements {
		s.things.Remove(e)
	}
}

func (s *listed) close() { *s = listed{} }
