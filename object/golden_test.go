package object

import (
	"fmt"
	"slices"
	"testing"
)

// This file: the cases of the languages whose objects these are, in Go. objecttest has them for both compilers.

type thing struct {
	Number int
	Other  Var[thing]
	Third  Var[thing]
}

// eachKind runs a test with a type that has locks and one that has a single owner.
func eachKind(t *testing.T, run func(t *testing.T, things *Type[thing])) {
	for name, options := range map[string][]Option{"shared": nil, "owned": {WithSingleOwner()}} {
		t.Run(name, func(t *testing.T) {
			things := NewType[thing](t.Name(), options...)
			run(t, things)
			things.DeleteEach()
			if n := things.Unreleased(); n != 0 {
				t.Errorf("%d objects are unreleased at the end", n)
			}
			mustBeFine(t)
		})
	}
}

func mustBeFine(t *testing.T) {
	t.Helper()
	if wrong := world.Check(); wrong != "" {
		t.Fatal(wrong)
	}
}

func newThings(things *Type[thing], count int) []Ref[thing] {
	var made []Ref[thing]
	for i := range count {
		r := things.New()
		r.Must().Number = i + 1
		made = append(made, r)
	}
	return made
}

func numbersOf(things *Type[thing]) []int {
	var numbers []int
	for r := range things.Each() {
		numbers = append(numbers, r.Must().Number)
	}
	return numbers
}

func expect(t *testing.T, got []int, want ...int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got %v, expected %v", got, want)
	}
}

func TestNewObjectsAreAppended(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		made := newThings(things, 5)
		expect(t, numbersOf(things), 1, 2, 3, 4, 5)
		if things.First() != made[0] || things.Last() != made[4] || things.Count() != 5 {
			t.Errorf("first %v, last %v, count %d", things.First(), things.Last(), things.Count())
		}
		if things.After(made[1]) != made[2] || things.Before(made[1]) != made[0] || !things.After(made[4]).IsNull() {
			t.Error("After or Before is wrong")
		}
	})
}

func TestInsertMovesAnObject(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		made := newThings(things, 5)
		if err := things.InsertBefore(things.Last(), things.First()); err != nil {
			t.Fatal(err)
		}
		expect(t, numbersOf(things), 5, 1, 2, 3, 4)
		if err := things.InsertAfter(made[0], made[1]); err != nil {
			t.Fatal(err)
		}
		expect(t, numbersOf(things), 5, 2, 1, 3, 4)
		if err := things.InsertAfter(made[0], made[0]); err != nil {
			t.Fatal(err)
		}
		expect(t, numbersOf(things), 5, 2, 1, 3, 4)
	})
}

func TestEachMayDeleteTheCurrentObject(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		newThings(things, 5)
		var visited []int
		for r := range things.Each() {
			visited = append(visited, r.Must().Number)
			Delete(&r)
		}
		expect(t, visited, 1, 2, 3, 4, 5)
		expect(t, numbersOf(things))
		if things.Unreleased() != 0 {
			t.Errorf("%d are unreleased", things.Unreleased())
		}
	})
}

// In the original a loop whose variable is a parameter ends silently after the first object.
func TestEachMayDeleteTheCurrentObjectInAFunction(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		newThings(things, 5)
		visited := 0
		loop := func(parameter Ref[thing]) {
			for parameter = range things.Each() {
				visited++
				Delete(&parameter)
			}
		}
		loop(things.First())
		if visited != 5 || things.Count() != 0 {
			t.Errorf("visited %d, %d are left", visited, things.Count())
		}
	})
}

func TestEachDoesNotVisitWhatIsDeletedAhead(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		newThings(things, 5)
		var visited []int
		for r := range things.Each() {
			visited = append(visited, r.Must().Number)
			if r.Must().Number == 2 {
				next := things.After(r)
				Delete(&next)
			}
		}
		expect(t, visited, 1, 2, 4, 5)
	})
}

func TestEachVisitsObjectsMadeInItsBody(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		newThings(things, 3)
		var visited []int
		for r, fields := range things.All() {
			if len(visited) < 2 {
				things.New().Must().Number = 11 + len(visited)
			}
			visited = append(visited, fields.Number)
			r = Ref[thing]{} // the original crashes here
			_ = r
		}
		expect(t, visited, 1, 2, 3, 11, 12)
	})
}

func TestEachFollowsMoves(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		made := newThings(things, 5)
		var visited []int
		for r, fields := range things.All() {
			visited = append(visited, fields.Number)
			if fields.Number == 2 && len(visited) == 2 {
				if err := things.InsertAfter(made[3], r); err != nil {
					t.Fatal(err)
				}
			}
		}
		expect(t, visited, 1, 2, 4, 3, 5)
	})
}

func TestEachLetsGoHoweverItEnds(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		newThings(things, 100)
		for r := range things.Each() {
			Delete(&r)
			break
		}
		func() {
			for r := range things.Each() {
				Delete(&r)
				return
			}
		}()
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			for r := range things.Each() {
				Delete(&r)
				panic("in the body")
			}
		}()
		if things.Unreleased() != 0 || things.Count() != 97 {
			t.Errorf("%d are held, %d alive", things.Unreleased(), things.Count())
		}
	})
}

func TestNestedLoopsOverOneType(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		newThings(things, 40)
		pairs := 0
		for outer := range things.Each() {
			for inner := range things.Each() {
				pairs++
				if inner.Must().Number%2 == 0 && inner != outer {
					Delete(&inner)
				}
			}
		}
		// Once over 40, later over the 20 odd ones.
		if pairs != 40+19*20 || things.Count() != 20 {
			t.Errorf("%d pairs, %d left", pairs, things.Count())
		}
	})
}

func TestDeletedObjectsAreNullAndEqual(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		made := newThings(things, 3)
		a, b, copied := made[0], made[1], made[0]
		if a.Equal(b) || !a.Equal(copied) || a.Equal(Ref[thing]{}) {
			t.Error("Equal is wrong for objects alive")
		}
		Delete(&a)
		Delete(&b)
		if a != (Ref[thing]{}) || !copied.IsNull() || !copied.Equal(made[1]) || !copied.Equal(Ref[thing]{}) ||
			copied.Equal(made[2]) {
			t.Error("Equal is wrong for deleted objects")
		}
		Delete(&copied)
		Delete(&a)
		var never Ref[thing]
		Delete(&never)
		if things.Count() != 1 {
			t.Errorf("%d objects", things.Count())
		}
	})
}

func TestAfterGoesOnFromADeletedObject(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		made := newThings(things, 3)
		var v Var[thing]
		v.Set(made[0])
		first := made[0]
		Delete(&first)
		if things.After(v.Ref()) != made[1] || things.Unreleased() != 1 {
			t.Errorf("after the deleted one comes %v", things.After(v.Ref()))
		}
		if err := things.InsertAfter(v.Ref(), made[2]); err != nil { // its place can be moved, too
			t.Error(err)
		}
		if things.Before(v.Ref()) != made[2] || !things.After(v.Ref()).IsNull() {
			t.Error("the deleted one did not move")
		}
		v.Clear()
		if things.Unreleased() != 0 {
			t.Errorf("%d are unreleased", things.Unreleased())
		}
	})
}

func TestHandles(t *testing.T) {
	things, others := NewType[thing]("thing"), NewType[thing]("other")
	a := things.New()
	h := Handle(a)
	if h <= 0 || Handle(a) != h || things.FromHandle(h) != a {
		t.Errorf("handle %d is %v", h, things.FromHandle(h))
	}
	if !others.FromHandle(h).IsNull() || Handle(Ref[thing]{}) != 0 || !things.FromHandle(0).IsNull() ||
		!things.FromHandle(-1).IsNull() || !things.FromHandle(1<<62).IsNull() {
		t.Error("a wrong handle is an object")
	}
	old := a
	Delete(&a)
	if !things.FromHandle(h).IsNull() || Handle(old) != 0 {
		t.Error("a deleted object has a handle")
	}
	b := things.New()
	if got := Handle(b); got != h+1 {
		t.Errorf("the next handle is %d after %d", got, h)
	}
	Delete(&b)
	mustBeFine(t)
}

// In the original the walk follows the freed tombstone, and 3 survives.
func TestDeleteEachPassesATombstone(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		made := newThings(things, 3)
		made[0].Must().Other.Set(made[1])
		second := made[1]
		Delete(&second)
		if n := things.DeleteEach(); n != 2 || things.Count() != 0 || things.Unreleased() != 0 {
			t.Errorf("deleted %d, %d are left, %d unreleased", n, things.Count(), things.Unreleased())
		}
	})
}

func TestAssignmentToItself(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		a := things.New()
		f := a.Must()
		for range 3 {
			f.Other.Set(f.Other.Ref())
			f.Other.Set(a)
		}
		var v Var[thing]
		v.Set(a)
		Delete(&a)
		if things.Unreleased() != 1 {
			t.Errorf("%d are unreleased", things.Unreleased())
		}
		v.Set(v.Ref())
		v.Clear()
		if things.Unreleased() != 0 {
			t.Errorf("%d are unreleased", things.Unreleased())
		}
	})
}

func TestDeleteOfAVarSetsItToNull(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		made := newThings(things, 2)
		field := &made[0].Must().Other
		field.Set(made[1])
		Delete(field)
		if field.Ref() != (Ref[thing]{}) || !made[1].IsNull() || things.Unreleased() != 0 || things.Count() != 1 {
			t.Errorf("%v, %v, %d unreleased", field, made[1], things.Unreleased())
		}
	})
}

func TestMemoryIsUsedAgainInTheOrderInWhichItWasFreed(t *testing.T) {
	eachKind(t, func(t *testing.T, things *Type[thing]) {
		first := things.New()
		at := fmt.Sprintf("%p", first.Must())
		Delete(&first)
		for i := range 511 {
			if r := things.New(); fmt.Sprintf("%p", r.Must()) == at {
				t.Fatalf("used again after %d others", i)
			}
		}
		if r := things.New(); fmt.Sprintf("%p", r.Must()) != at {
			t.Error("not used again after 511 others")
		}
	})
}
