package main

import "math/rand/v2"

// dense is the storage that entity component systems have, without a system around it: things of one kind in one
// slice, without a gap; an entity is an index into a table that says where its thing is, with a generation. A delete
// moves the last thing to the gap, so the order is lost, and pointers are good until the next change only.
type dense struct {
	things  []thing
	owners  []uint32 // of each thing: its entity's index
	slots   []slot   // by the entity's index
	free    uint32   // the first free slot, linked by place; 0: none
	known   []entity
	started bool
}

type slot struct{ place, generation uint32 }

type entity struct{ index, generation uint32 }

func (s *dense) add(id uint64) entity {
	if !s.started {
		s.slots, s.started = append(s.slots, slot{}), true
	}
	index := s.free
	if index == 0 {
		index = uint32(len(s.slots))
		s.slots = append(s.slots, slot{})
	} else {
		s.free = s.slots[index].place
	}
	s.slots[index].place = uint32(len(s.things))
	s.slots[index].generation++
	s.things = append(s.things, thing{ID: id})
	s.owners = append(s.owners, index)
	return entity{index, s.slots[index].generation}
}

func (s *dense) get(e entity) *thing {
	if at := s.slots[e.index]; at.generation == e.generation {
		return &s.things[at.place]
	}
	return nil
}

func (s *dense) remove(e entity) {
	at := &s.slots[e.index]
	if at.generation != e.generation {
		return
	}
	last := len(s.things) - 1
	s.things[at.place] = s.things[last]
	s.owners[at.place] = s.owners[last]
	s.slots[s.owners[last]].place = at.place
	s.things, s.owners = s.things[:last], s.owners[:last]
	at.generation++
	at.place, s.free = s.free, e.index
}

func (s *dense) pairs(n int) {
	for i := range n {
		s.remove(s.add(uint64(i)))
	}
}

func (s *dense) fill(n int) {
	s.known = make([]entity, 0, n)
	for i := range n {
		s.known = append(s.known, s.add(uint64(i)))
	}
}

func (s *dense) shuffle(random *rand.Rand) { shuffle(random, s.known) }

func (s *dense) look(n, among int) (sum uint64) {
	for ; n > 0; n -= among {
		for _, e := range s.known[:among] {
			p := s.get(e)
			if p == nil {
				panic("not there")
			}
			sum += p.ID
		}
	}
	return sum
}

func (s *dense) iterate() (count uint64) {
	for range s.owners {
		count++
	}
	return count
}

func (s *dense) sum() (sum uint64) {
	for i := range s.things {
		sum += s.things[i].ID
	}
	return sum
}

func (s *dense) replace(n int) {
	random := newRandom()
	for i := range n {
		at := random.IntN(len(s.known))
		s.remove(s.known[at])
		s.known[at] = s.add(uint64(i))
	}
}

func (s *dense) empty() {
	for _, e := range s.known {
		s.remove(e)
	}
}

func (s *dense) close() { *s = dense{} }
