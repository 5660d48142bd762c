package objecttest

import "granary/internal/core/object"

func (r *rig) step() {
	r.steps++
	if r.every != 0 && r.steps%r.every == 0 {
		r.check()
	}
}

// check compares everything with the model.
func (r *rig) check() {
	if wrong := r.w.Check(); wrong != "" {
		r.t.Fatalf("%s", wrong)
	}
	for _, l := range r.lists {
		r.checkOrder(l)
		r.checkFigures(l)
		for _, p := range l.places {
			r.checkPlace(p)
		}
	}
}

func (r *rig) checkOrder(l *list) {
	forward, backward := r.w.First(l.t), r.w.Last(l.t)
	for i := range l.places {
		if p := l.places[i]; p.alive {
			if forward != p.ref {
				r.t.Fatalf("going forward %#x comes, expected object %d", uint64(forward), p.number)
			}
			forward = r.w.After(forward)
		}
		if p := l.places[len(l.places)-1-i]; p.alive {
			if backward != p.ref {
				r.t.Fatalf("going backward %#x comes, expected object %d", uint64(backward), p.number)
			}
			backward = r.w.Before(backward)
		}
	}
	if forward != 0 || backward != 0 {
		r.t.Fatalf("the list does not end: %#x, %#x", uint64(forward), uint64(backward))
	}
}

func (r *rig) checkFigures(l *list) {
	var s object.Stats
	r.w.Read(l.t, &s)
	if s.Alive != l.alive || s.Unreleased != uint64(len(l.places))-l.alive || s.Made != l.made ||
		l.t.Count() != s.Alive || l.t.Unreleased() != s.Unreleased {
		r.t.Fatalf("the figures are %+v, the model has %d alive of %d", s, l.alive, len(l.places))
	}
}

func (r *rig) checkPlace(p *place) {
	count := p.held
	if p.alive {
		count++
	}
	if got := r.w.CountOf(p.ref); got != count {
		r.t.Fatalf("object %d is held %d times, expected %d", p.number, got, count)
	}
	f := r.fields(p)
	if r.w.IsAlive(p.ref) != p.alive || (f != nil) != p.alive {
		r.t.Fatalf("object %d reads as Null: %v", p.number, f == nil)
	}
	if got := r.w.FromHandle(p.owner.t, p.handle); p.handle != 0 && got != p.ref {
		r.t.Fatalf("handle %d is object %#x, expected %d", p.handle, uint64(got), p.number)
	}
	if f == nil {
		return
	}
	if f.number != p.number {
		r.t.Fatalf("object %d has the fields of %d", p.number, f.number)
	}
	for i := range p.vars {
		if f.vars[i] != refOf(p.vars[i]) {
			r.t.Fatalf("a field of object %d is %#x, expected %#x", p.number, uint64(f.vars[i]),
				uint64(refOf(p.vars[i])))
		}
	}
}
