package main

import (
	"math/rand/v2"

	"github.com/mlange-42/ark/ecs"
)

// entities is Ark, an entity component system whose entities with the same components lie side by side in one table.
// Here there is one component, a thing. A delete moves the last entity of the table to the gap.
type entities struct {
	world  *ecs.World
	things *ecs.Map1[thing]
	every  *ecs.Filter1[thing]
	known  []ecs.Entity
	one    thing // what NewEntity copies: kept here, so that no call allocates
}

func newEntities() *entities {
	world := ecs.NewWorld()
	return &entities{world: &world, things: ecs.NewMap1[thing](&world), every: ecs.NewFilter1[thing](&world)}
}

func (s *entities) add(id uint64) ecs.Entity {
	s.one.ID = id
	return s.things.NewEntity(&s.one)
}

func (s *entities) pairs(n int) {
	for i := range n {
		s.world.RemoveEntity(s.add(uint64(i)))
	}
}

func (s *entities) fill(n int) {
	s.known = make([]ecs.Entity, 0, n)
	for i := range n {
		s.known = append(s.known, s.add(uint64(i)))
	}
}

func (s *entities) shuffle(random *rand.Rand) { shuffle(random, s.known) }

func (s *entities) look(n, among int) (sum uint64) {
	for ; n > 0; n -= among {
		for _, e := range s.known[:among] {
			sum += s.things.Get(e).ID
		}
	}
	return sum
}

// iterate asks for every entity, as a visit of the others gives the reference, too.
func (s *entities) iterate() (count uint64) {
	for q := s.every.Query(); q.Next(); {
		if !q.Entity().IsZero() {
			count++
		}
	}
	return count
}

func (s *entities) sum() (sum uint64) {
	for q := s.every.Query(); q.Next(); {
		sum += q.Get().ID
	}
	return sum
}

func (s *entities) replace(n int) {
	random := newRandom()
	for i := range n {
		at := random.IntN(len(s.known))
		s.world.RemoveEntity(s.known[at])
		s.known[at] = s.add(uint64(i))
	}
}

func (s *entities) empty() {
	for _, e := range s.known {
		s.world.RemoveEntity(e)
	}
}

func (s *entities) close() { *s = entities{} }
