package object_test

import (
	"errors"
	"fmt"

	"granary/object"
)

type Unit struct {
	Health int
	Target object.Var[Unit]
	Name   object.String
}

var units = object.NewType[Unit]("unit")

func newUnit(name string, health int) object.Ref[Unit] {
	r := units.New()
	u := r.Must()
	u.Health = health
	if err := u.Name.Set(name); err != nil {
		panic(err)
	}
	return r
}

func Example() {
	defer units.DeleteEach()
	wolf, hare := newUnit("wolf", 30), newUnit("hare", 5)
	wolf.Must().Target.Set(hare)

	object.Delete(&hare) // nobody has to tell the wolf

	_, err := wolf.Must().Target.Get()
	fmt.Println(err, errors.Is(err, object.ErrNotExist))
	// Output: Object does not exist. true
}

func ExampleType_Each() {
	defer units.DeleteEach()
	for i, name := range []string{"ant", "bee", "cat"} {
		newUnit(name, i)
	}
	for r, u := range units.All() {
		if u.Health == 1 {
			object.Delete(&r)
			newUnit("dog", 9) // is visited as well
		} else {
			fmt.Println(u.Name.String())
		}
	}
	// Output:
	// ant
	// cat
	// dog
}

func ExampleHandle() {
	defer units.DeleteEach()
	cat := newUnit("cat", 9)
	number := object.Handle(cat) // for a place that holds integers only
	fmt.Println(units.FromHandle(number).Must().Name.String())
	object.Delete(&cat)
	fmt.Println(units.FromHandle(number))
	// Output:
	// cat
	// Null
}
