// World is a simulation of 10,000 things of four types that refer to each other and come and go: cities build units,
// units hunt each other and carry items, units and items are grouped in bands. Nobody who deletes a thing looks for
// those who know of it: they find Null.
//
//	go run ./examples/world [-ticks N] [-seed N]
//
// The same seed prints the same summary. With GRANARY_DEBUG_ALLOC=1 a leak is reported with the place where the object
// was made.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"granary/object"
)

type city struct {
	Name   object.String
	Units  int
	Allied object.Var[city]
}

type unit struct {
	Health int
	Home   object.Ref[city] // Null when the city fell
	Target object.Var[unit] // counted: as long as somebody hunts it, the place of a dead unit in the list is known
	Band   object.Var[band]
	Pack   [4]object.Var[item]
}

type item struct {
	Worth int
	Owner object.Ref[unit]
}

type band struct {
	Members object.Slice[object.Var[unit]]
	Leader  object.Var[unit]
}

// world is everything, and what happened.
type world struct {
	random *rand.Rand
	cities *object.Type[city]
	units  *object.Type[unit]
	items  *object.Type[item]
	bands  *object.Type[band]

	born, killed, looted, lost, orphans, disbanded int
	handles                                        []int64 // of units that a player keeps an eye on
}

const (
	citiesCount = 100
	unitsCount  = 6000
	itemsCount  = 3500
	bandsCount  = 400
)

func newWorld(seed uint64) *world {
	w := &world{
		random: rand.New(rand.NewPCG(seed, 1)),
		cities: object.NewType[city]("city", object.WithSingleOwner()),
		units:  object.NewType[unit]("unit", object.WithSingleOwner()),
		items:  object.NewType[item]("item", object.WithSingleOwner()),
		bands:  object.NewType[band]("band", object.WithSingleOwner()),
	}
	for range citiesCount {
		w.found()
	}
	w.fill()
	return w
}

// fill makes what is missing to 10,000.
func (w *world) fill() {
	for w.units.Count() < unitsCount {
		for c := range w.cities.Each() {
			w.recruit(c)
		}
	}
	for u := range w.units.Each() {
		if w.items.Count() >= itemsCount {
			break
		}
		w.find(u)
	}
	for w.bands.Count() < bandsCount {
		w.gather()
	}
}

func (w *world) found() {
	c := w.cities.New().Must()
	if err := c.Name.Set(fmt.Sprintf("city %d", w.random.IntN(1000))); err != nil {
		panic(err)
	}
	c.Allied.Set(w.cities.First())
}

func (w *world) recruit(home object.Ref[city]) {
	u := w.units.New().Must()
	u.Health, u.Home = 50+w.random.IntN(50), home
	home.Must().Units++
	w.born++
}

// find gives a unit an item if it has room.
func (w *world) find(r object.Ref[unit]) {
	u := r.Must()
	for i := range u.Pack {
		if u.Pack[i].IsNull() {
			found := w.items.New()
			found.Must().Worth, found.Must().Owner = 1+w.random.IntN(9), r
			u.Pack[i].Set(found)
			return
		}
	}
}

// gather makes a band of some units that follow each other in the list and are in none.
func (w *world) gather() {
	r := w.bands.New()
	b := r.Must()
	leader := w.units.First()
	for range w.random.IntN(200) {
		leader = w.units.After(leader)
	}
	b.Leader.Set(leader)
	for u := leader; !u.IsNull() && b.Members.Len() < 8; u = w.units.After(u) {
		if u.Must().Band.IsNull() {
			if err := b.Members.Resize(b.Members.Len() + 1); err != nil {
				panic(err)
			}
			b.Members.At(b.Members.Len() - 1).Set(u)
			u.Must().Band.Set(r)
		}
	}
	// So that the next band begins with others.
	if err := w.units.InsertAfter(leader, w.units.Last()); err != nil && !errors.Is(err, object.ErrNotExist) {
		panic(err)
	}
}

// tick lets everybody act once.
func (w *world) tick(number int) {
	for r := range w.units.Each() {
		w.act(r)
	}
	for r, b := range w.bands.All() {
		if b.Leader.IsNull() { // it died, whoever killed it
			w.disbanded++
			object.Delete(&r)
		}
	}
	for r, i := range w.items.All() {
		if i.Owner.IsNull() && w.random.IntN(4) == 0 { // dropped long ago
			w.lost++
			object.Delete(&r)
		}
	}
	if number%10 == 0 {
		fallen := w.cities.First()
		object.Delete(&fallen)
		w.found()
	}
	w.fill()
}

// act is one unit's turn: it hunts, and may kill any unit, itself included.
func (w *world) act(r object.Ref[unit]) {
	u := r.Must()
	if u.Home.IsNull() {
		w.orphans++
		u.Home = w.cities.First()
	}
	target, err := u.Target.Get()
	if errors.Is(err, object.ErrNotExist) { // never had one, or it died: go on from where it was
		next := w.units.After(u.Target.Ref())
		if next.IsNull() {
			next = w.units.After(r)
		}
		u.Target.Set(next)
		if w.random.IntN(500) == 0 {
			w.handles = append(w.handles, object.Handle(r))
		}
		return
	}
	if target.Health -= w.random.IntN(30); target.Health <= 0 {
		w.loot(u, target)
		object.Delete(&u.Target)
		w.killed++
	}
}

// loot takes the items of another unit that there is room for. The others stay behind without an owner.
func (w *world) loot(u, from *unit) {
	for i := range from.Pack {
		for k := range u.Pack {
			if !from.Pack[i].IsNull() && u.Pack[k].IsNull() {
				u.Pack[k].Set(from.Pack[i].Ref())
				from.Pack[i].Clear()
				w.looted++
			}
		}
	}
}

func (w *world) print(out io.Writer) {
	alive, worth := 0, 0
	for _, h := range w.handles {
		if !w.units.FromHandle(h).IsNull() {
			alive++
		}
	}
	for _, i := range w.items.All() {
		worth += i.Worth
	}
	fmt.Fprintf(out, "%d cities, %d units, %d items worth %d, %d bands\n", w.cities.Count(), w.units.Count(),
		w.items.Count(), worth, w.bands.Count())
	fmt.Fprintf(out, "born %d, killed %d, items looted %d and lost %d, bands disbanded %d, cities missed %d times\n",
		w.born, w.killed, w.looted, w.lost, w.disbanded, w.orphans)
	fmt.Fprintf(out, "of %d units kept by their handles %d are alive\n", len(w.handles), alive)
	fmt.Fprintf(out, "dead but still known: %d units, %d items\n", w.units.Unreleased(), w.items.Unreleased())
}

// end deletes everything, and returns how many objects are left.
func (w *world) end() int {
	w.bands.DeleteEach()
	w.items.DeleteEach()
	w.units.DeleteEach()
	w.cities.DeleteEach()
	return w.units.Count() + w.units.Unreleased() + w.items.Count() + w.items.Unreleased() + w.bands.Count() +
		w.bands.Unreleased() + w.cities.Count() + w.cities.Unreleased()
}

func run(out io.Writer, seed uint64, ticks int) int {
	w := newWorld(seed)
	for i := range ticks {
		w.tick(i)
	}
	w.print(out)
	left := w.end()
	fmt.Fprintf(out, "%d objects are left\n", left)
	return left
}

func main() {
	ticks := flag.Int("ticks", 200, "how long it goes on")
	seed := flag.Uint64("seed", 1, "what happens")
	flag.Parse()
	if run(os.Stdout, *seed, *ticks) != 0 {
		object.ReportLeaks(os.Stderr)
		os.Exit(1)
	}
}
