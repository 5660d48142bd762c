package objecttest

import (
	"fmt"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/object"
)

// This file: cases of the languages whose objects these are, each with what the language does.

var goldenTests = []kit.Test{
	{Name: "new objects are appended at the end", Run: testAppended},
	{Name: "Insert Last Before First rotates the list", Run: testInsertLast},
	{Name: "Insert 1 After 2 swaps them", Run: testInsertAfter},
	{Name: "Insert of an object beside itself changes nothing", Run: testInsertSame},
	{Name: "Each may delete the current object", Run: testEachDeletesCurrent},
	{Name: "Each may delete the current object when only its parameter held it", Run: testEachParameter},
	{Name: "Each does not visit what was deleted ahead of it", Run: testEachDeletesNext},
	{Name: "Each visits objects made in its body", Run: testEachMakes},
	{Name: "Each goes on when its variable is set to Null", Run: testEachNull},
	{Name: "a deleted object is Null, and equal to another one", Run: testDeletedIsNull},
	{Name: "Delete of Null and a second Delete do nothing", Run: testDeleteTwice},
	{Name: "After of a deleted object that is held is its old successor", Run: testAfterDeleted},
	{Name: "handles find their object in its type only", Run: testHandles},
	{Name: "a handle is gone with its object, and its number is not given again", Run: testHandleGone},
	{Name: "DeleteAll deletes what follows a tombstone that only its predecessor held", Run: testDeleteAllTombstone},
	{Name: "assignment to itself leaves the count alone", Run: testAssignSelf},
	{Name: "a freed slot is used again as the last of a chunk of 512", Run: testReuse512},
	{Name: "Unreleased counts deleted objects that are held", Run: testUnreleased},
}

func (r *rig) createMany(l *list, count int) []*place {
	var made []*place
	for i := 0; i < count; i++ {
		made = append(made, r.create(l))
	}
	return made
}

// numbers are the numbers of the objects of a list, going forward.
func (r *rig) numbers(l *list) string {
	text := ""
	for ref := r.w.First(l.t); ref != 0; ref = r.w.After(ref) {
		for _, p := range l.places {
			if p.ref == ref {
				text += fmt.Sprintf("%d ", p.number)
			}
		}
	}
	return text
}

func (r *rig) expect(l *list, want string) {
	if got := r.numbers(l); got != want {
		r.t.Errorf("the list is %q, expected %q", got, want)
	}
}

// each visits a list with a body and returns the numbers of what it visited. The model's places are held as the
// iteration holds them.
func (r *rig) each(l *list, body func(p *place)) string {
	visited := ""
	var at *place
	for ref := r.w.Step(l.t, 0); ref != 0; ref = r.w.Step(l.t, ref) {
		var p *place
		for _, q := range l.places {
			if q.ref == ref {
				p = q
			}
		}
		if p == nil || !p.alive {
			r.t.Fatalf("Each visits %#x, which is no object", uint64(ref))
		}
		p.held++
		r.modelRelease(at)
		at = p
		visited += fmt.Sprintf("%d ", p.number)
		body(p)
	}
	r.modelRelease(at)
	r.step()
	return visited
}

func (r *rig) visits(got, want string) {
	if got != want {
		r.t.Errorf("visited %q, expected %q", got, want)
	}
}

func testAppended(t T) {
	r := newRig(t, 0)
	r.createMany(r.lists[0], 5)
	r.expect(r.lists[0], "1 2 3 4 5 ")
	r.close()
}

func testInsertLast(t T) {
	r := newRig(t, object.FlagSingleOwner)
	made := r.createMany(r.lists[0], 5)
	r.move(made[4], made[0], false)
	r.expect(r.lists[0], "5 1 2 3 4 ")
	r.close()
}

func testInsertAfter(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 3)
	r.move(made[0], made[1], true)
	r.expect(r.lists[0], "2 1 3 ")
	r.close()
}

func testInsertSame(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 3)
	r.move(made[1], made[1], true)
	r.move(made[1], made[1], false)
	r.expect(r.lists[0], "1 2 3 ")
	r.close()
}

func testEachDeletesCurrent(t T) {
	r := newRig(t, 0)
	r.createMany(r.lists[0], 5)
	r.visits(r.each(r.lists[0], func(p *place) { r.remove(p) }), "1 2 3 4 5 ")
	r.expect(r.lists[0], "")
	if len(r.lists[0].places) != 0 {
		t.Errorf("%d tombstones are left", len(r.lists[0].places))
	}
	r.close()
}

// In the original a variable that is a parameter does not count, and the loop ends silently after the first object.
// Here the iteration itself holds the current one.
func testEachParameter(t T) {
	r := newRig(t, 0)
	r.createMany(r.lists[0], 5)
	var parameter object.Ref // not counted
	visited := r.each(r.lists[0], func(p *place) {
		parameter = p.ref
		r.remove(p)
	})
	r.visits(visited, "1 2 3 4 5 ")
	if r.w.IsAlive(parameter) {
		t.Errorf("the parameter is not Null")
	}
	r.close()
}

func testEachDeletesNext(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 5)
	r.visits(r.each(r.lists[0], func(p *place) {
		if p == made[1] {
			if r.w.After(p.ref) != made[2].ref {
				t.Errorf("3 does not follow 2")
			}
			r.remove(made[2])
		}
	}), "1 2 4 5 ")
	r.close()
}

func testEachMakes(t T) {
	r := newRig(t, 0)
	r.createMany(r.lists[0], 3)
	more := 0
	r.visits(r.each(r.lists[0], func(p *place) {
		if more < 2 {
			more++
			r.create(r.lists[0])
		}
	}), "1 2 3 4 5 ")
	r.close()
}

func testEachNull(t T) {
	r := newRig(t, 0)
	r.createMany(r.lists[0], 4)
	var variable *place
	r.visits(r.each(r.lists[0], func(p *place) {
		variable = p
		variable = nil // the original crashes here
	}), "1 2 3 4 ")
	if variable != nil {
		t.Errorf("the variable is not Null")
	}
	r.close()
}

func testDeletedIsNull(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 2)
	r.setOutside(0, made[0])
	r.remove(made[0])
	r.remove(made[1])
	for _, p := range made {
		if r.w.IsAlive(p.ref) || r.w.Find(p.ref, 8) != nil {
			t.Errorf("object %d was deleted and is not Null", p.number)
		}
	}
	r.close()
}

func testDeleteTwice(t T) {
	r := newRig(t, 0)
	p := r.create(r.lists[0])
	r.setOutside(0, p)
	r.remove(p)
	r.remove(p)
	r.setOutside(0, nil)
	r.remove(p)
	if r.w.Delete(0) {
		t.Errorf("Null was deleted")
	}
	r.close()
}

func testAfterDeleted(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 3)
	r.setOutside(0, made[0])
	r.setOutside(1, made[2])
	r.remove(made[0])
	r.remove(made[2])
	if got := r.w.After(made[0].ref); got != made[1].ref {
		t.Errorf("after the deleted first comes %#x", uint64(got))
	}
	if got := r.w.Before(made[2].ref); got != made[1].ref {
		t.Errorf("before the deleted last comes %#x", uint64(got))
	}
	r.setOutside(0, nil)
	if got := r.w.After(made[0].ref); got != 0 {
		t.Errorf("after an object that is gone comes %#x", uint64(got))
	}
	r.close()
}

func testHandles(t T) {
	r := newRig(t, 0, 0)
	a, b := r.create(r.lists[0]), r.create(r.lists[1])
	r.takeHandle(a)
	r.takeHandle(b)
	r.takeHandle(a)
	if a.handle != 1 || b.handle != 2 {
		t.Errorf("the first handles are %d and %d", a.handle, b.handle)
	}
	for _, c := range []struct {
		l    *list
		h    uint64
		want object.Ref
	}{{r.lists[0], 1, a.ref}, {r.lists[1], 1, 0}, {r.lists[1], 2, b.ref}, {r.lists[0], 0, 0}, {r.lists[0], 3, 0},
		{r.lists[0], 1 << 63, 0}} {
		if got := r.w.FromHandle(c.l.t, c.h); got != c.want {
			t.Errorf("handle %d is %#x, expected %#x", c.h, uint64(got), uint64(c.want))
		}
	}
	if r.w.Handle(0) != 0 {
		t.Errorf("Null has a handle")
	}
	r.close()
}

func testHandleGone(t T) {
	r := newRig(t, 0)
	a := r.create(r.lists[0])
	r.takeHandle(a)
	h := a.handle
	r.remove(a)
	if got := r.w.FromHandle(r.lists[0].t, h); got != 0 {
		t.Errorf("the handle of a deleted object is %#x", uint64(got))
	}
	if got := r.w.Handle(a.ref); got != 0 {
		t.Errorf("a deleted object has the handle %d", got)
	}
	b := r.create(r.lists[0])
	r.takeHandle(b)
	if b.handle != h+1 {
		t.Errorf("the next handle is %d after %d", b.handle, h)
	}
	r.close()
}

// In the original the walk follows the tombstone 2 to the free slots, and 3 survives.
func testDeleteAllTombstone(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 3)
	r.setField(made[0], 0, made[1])
	r.remove(made[1])
	r.deleteAll(r.lists[0])
	r.expect(r.lists[0], "")
	if len(r.lists[0].places) != 0 {
		t.Errorf("%d places are left", len(r.lists[0].places))
	}
	r.close()
}

func testAssignSelf(t T) {
	r := newRig(t, 0)
	p := r.create(r.lists[0])
	for i := 0; i < 3; i++ {
		r.setOutside(0, p)
		r.setField(p, 0, p)
	}
	if got := r.w.CountOf(p.ref); got != 3 {
		t.Errorf("held %d times: by the list, a variable and a field it should be 3", got)
	}
	r.remove(p)
	r.setOutside(0, p) // deleted, but its place is held
	r.close()
}

func testReuse512(t T) {
	r := newRig(t, 0)
	r.every = 0
	first := r.create(r.lists[0])
	r.remove(first)
	for i := 1; i < 512; i++ {
		p := r.create(r.lists[0])
		if uint32(p.ref) == uint32(first.ref) {
			t.Fatalf("the slot is used again after %d others", i-1)
		}
	}
	if p := r.create(r.lists[0]); uint32(p.ref) != uint32(first.ref) || p.ref == first.ref {
		t.Errorf("the object after 511 others is %#x, the first was %#x", uint64(p.ref), uint64(first.ref))
	}
	r.check()
	r.close()
}

func testUnreleased(t T) {
	r := newRig(t, 0)
	made := r.createMany(r.lists[0], 3)
	r.setField(made[0], 1, made[1])
	r.setOutside(2, made[1])
	r.remove(made[1])
	if got := r.lists[0].t.Unreleased(); got != 1 {
		t.Errorf("%d objects are unreleased", got)
	}
	r.remove(made[0])
	r.setOutside(2, nil)
	if got := r.lists[0].t.Unreleased(); got != 0 {
		t.Errorf("%d objects are unreleased after the last variable let go", got)
	}
	r.close()
}
