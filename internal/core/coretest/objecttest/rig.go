package objecttest

import (
	"unsafe"

	"granary/internal/core/object"
	"granary/internal/core/sys"
)

// thing is the fields of the tests' objects.
type thing struct {
	number uint64
	vars   [varsCount]object.Ref // counted
	block  sys.Addr
	array  struct {
		elements sys.Addr // of element
		count    uintptr
	}
	weak object.Ref // not counted
}

// element is what the array of a thing has.
type element struct {
	number uint64
	hold   object.Ref // counted
}

const varsCount = 2

// place is the model of an object as long as it has a place in its list.
type place struct {
	ref    object.Ref
	owner  *list
	number uint64
	alive  bool
	held   uint32 // variables, and iterations that stand here
	vars   [varsCount]*place
	inside []*place // what the elements of its array hold
	handle uint64
}

// list is the model of a type.
type list struct {
	t      *object.Type
	places []*place
	freed  []object.Ref // free slots in the order in which they were freed, by their last object
	used   map[uint32]bool
	made   uint64
	alive  uint64
}

// rig is a world and the model of it.
type rig struct {
	t       T
	w       *object.World
	lists   []*list
	outside []*place // variables outside of objects
	number  uint64
	handles uint64
	blocks  int // in use before
	steps   int
	every   int // check after so many steps
}

const outsideCount = 8

var (
	th thing
	e  element

	// things is the layout of a thing: three Fields, then that of an element.
	things = []object.Field{
		{Offset: unsafe.Offsetof(th.vars), Stride: 8, Kind: object.FieldVar, Count: varsCount, Bytes: 8},
		{Offset: unsafe.Offsetof(th.block), Stride: 8, Kind: object.FieldBlock, Count: 1, Bytes: 8},
		{Offset: unsafe.Offsetof(th.array), Stride: 16, Kind: object.FieldArray, Count: 1, Bytes: 16,
			ElementBytes: unsafe.Sizeof(e), Inner: 3, InnerCount: 1},
		{Offset: unsafe.Offsetof(e.hold), Stride: 8, Kind: object.FieldVar, Count: 1, Bytes: 8},
	}
)

// tables is where layouts lie, outside of the Go heap as all that the core is given.
var tables sys.Addr

const tablesBytes = 1 << 16

// tableOf copies a layout there. The next call writes over it.
func tableOf(fields []object.Field) sys.Addr {
	if tables == 0 {
		if tables = sys.Reserve(tablesBytes); tables == 0 || !sys.Commit(tables, tablesBytes) {
			panic("no memory")
		}
	}
	for i := range fields {
		*(*object.Field)((tables + sys.Addr(uintptr(i)*unsafe.Sizeof(fields[0]))).Pointer()) = fields[i]
	}
	return tables
}

func newWorld(t T) *object.World {
	prepare()
	w := &object.World{}
	if !w.Init(1 << 20) {
		t.Fatalf("no world")
	}
	return w
}

func newThingType(t T, w *object.World, flags uint32) *object.Type {
	made := w.NewType(unsafe.Sizeof(thing{}), tableOf(things), 3, uint32(len(things)), flags)
	if made == nil {
		t.Fatalf("no type")
	}
	return made
}

// newRig makes a world with a type for each of these flags.
func newRig(t T, flags ...uint32) *rig {
	r := &rig{t: t, blocks: blocksInUse(), every: 1}
	r.w = newWorld(t)
	for _, f := range flags {
		r.lists = append(r.lists, &list{t: newThingType(t, r.w, f), used: map[uint32]bool{}})
	}
	r.outside = make([]*place, outsideCount)
	return r
}

// close deletes everything, and looks whether anything is left.
func (r *rig) close() {
	r.every = 1
	for i := range r.outside {
		r.setOutside(i, nil)
	}
	for _, l := range r.lists {
		r.deleteAll(l)
	}
	r.check()
	for _, l := range r.lists {
		if len(l.places) != 0 {
			r.t.Errorf("%d objects are left", len(l.places))
		}
	}
	r.w.Close()
	if countsBlocks && blocksInUse() != r.blocks {
		r.t.Errorf("%d blocks are in use that were not before", blocksInUse()-r.blocks)
	}
}

func (r *rig) fields(p *place) *thing {
	return (*thing)(r.w.Find(p.ref, sys.Addr(object.StrideOf(unsafe.Sizeof(thing{})))))
}

// ---- steps: the call, and the same in the model ----

func (r *rig) create(l *list) *place {
	ref := r.w.New(l.t)
	if ref == 0 {
		r.t.Fatalf("no memory")
	}
	p := &place{ref: ref, owner: l, alive: true}
	index := uint32(ref)
	if l.used[index] {
		if len(l.freed) == 0 || uint32(l.freed[0]) != index {
			r.t.Fatalf("slot %d is used again before its turn", index)
		}
		if ref>>32 <= l.freed[0]>>32 {
			r.t.Fatalf("generation %d of slot %d comes after %d", ref>>32, index, l.freed[0]>>32)
		}
		l.freed = l.freed[1:]
	}
	l.used[index] = true
	l.places = append(l.places, p)
	l.made++
	l.alive++
	f := r.fields(p)
	if f == nil || *f != (thing{}) {
		r.t.Fatalf("the fields of a new object are not zero")
	}
	r.number++
	p.number, f.number = r.number, r.number
	r.step()
	return p
}

func (r *rig) remove(p *place) {
	if got := r.w.Delete(p.ref); got != p.alive {
		r.t.Errorf("Delete says %v for an object that is alive: %v", got, p.alive)
	}
	r.modelDelete(p)
	r.step()
}

// modelDelete is Delete in the model: what is held is let go of in the order of the fields.
func (r *rig) modelDelete(p *place) {
	if !p.alive {
		return
	}
	p.alive = false
	p.owner.alive--
	p.handle = 0
	held := append(append([]*place(nil), p.vars[:]...), p.inside...)
	p.vars, p.inside = [varsCount]*place{}, nil
	p.held++ // its list
	for _, h := range held {
		r.modelRelease(h)
	}
	r.modelRelease(p)
}

func (r *rig) modelRelease(p *place) {
	if p == nil {
		return
	}
	p.held--
	if p.held != 0 || p.alive {
		return
	}
	l := p.owner
	for i := range l.places {
		if l.places[i] == p {
			l.places = append(l.places[:i:i], l.places[i+1:]...)
			break
		}
	}
	l.freed = append(l.freed, p.ref)
}

// modelSet is the assignment to a counted variable in the model; what a freed object leaves is Null.
func (r *rig) modelSet(v **place, to *place) {
	if to != nil && !r.hasPlace(to) {
		to = nil
	}
	if to != nil {
		to.held++
	}
	old := *v
	*v = to
	r.modelRelease(old)
}

func (r *rig) hasPlace(p *place) bool { return p.alive || p.held != 0 }

func refOf(p *place) object.Ref {
	if p == nil {
		return 0
	}
	return p.ref
}

// assign does to a counted variable what the packages above the core do.
func (r *rig) assign(v *object.Ref, to object.Ref) {
	if to != 0 && !r.w.Retain(to) {
		to = 0
	}
	old := *v
	*v = to
	if old != 0 {
		r.w.Release(old)
	}
}

func (r *rig) setField(p *place, i int, to *place) {
	if f := r.fields(p); f != nil {
		r.assign(&f.vars[i], refOf(to))
		r.modelSet(&p.vars[i], to)
	} else if p.alive {
		r.t.Errorf("an object that is alive has no fields")
	}
	r.step()
}

// setOutside sets one of the variables outside of objects. Their references are those of the model.
func (r *rig) setOutside(i int, to *place) {
	ref := refOf(r.outside[i])
	r.assign(&ref, refOf(to))
	r.modelSet(&r.outside[i], to)
	if ref != refOf(r.outside[i]) {
		r.t.Errorf("a variable was set to %#x, and the model to %#x", uint64(ref), uint64(refOf(r.outside[i])))
	}
	r.step()
}

// setBlock gives an object's block field a block that nobody else frees.
func (r *rig) setBlock(p *place) {
	if f := r.fields(p); f != nil && f.block == 0 {
		f.block = testBlock()
	}
	r.step()
}

// setArray gives an object's array elements that hold others.
func (r *rig) setArray(p *place, held []*place) {
	f := r.fields(p)
	if f == nil || f.array.elements != 0 || len(held) > 2 {
		return
	}
	f.array.elements = testBlock()
	f.array.count = uintptr(len(held))
	for i, h := range held {
		e := (*element)((f.array.elements + sys.Addr(uintptr(i)*unsafe.Sizeof(element{}))).Pointer())
		*e = element{number: uint64(i)}
		r.assign(&e.hold, refOf(h))
		var v *place
		r.modelSet(&v, h)
		p.inside = append(p.inside, v)
	}
	r.step()
}

func (r *rig) move(p, to *place, after bool) {
	fine := p.owner == to.owner && r.hasPlace(p) && r.hasPlace(to)
	if got := r.w.Move(p.ref, to.ref, after); got != fine {
		r.t.Errorf("Move says %v, expected %v", got, fine)
	}
	if fine && p != to {
		l := p.owner
		at := l.find(p)
		l.places = append(l.places[:at:at], l.places[at+1:]...)
		at = l.find(to)
		if after {
			at++
		}
		rest := append([]*place{p}, l.places[at:]...)
		l.places = append(l.places[:at:at], rest...)
	}
	r.step()
}

func (l *list) find(p *place) int {
	for i := range l.places {
		if l.places[i] == p {
			return i
		}
	}
	return -1
}

func (r *rig) takeHandle(p *place) {
	got := r.w.Handle(p.ref)
	if p.alive && p.handle == 0 {
		r.handles++
		p.handle = r.handles
	}
	if got != p.handle {
		r.t.Errorf("the handle is %d, expected %d", got, p.handle)
	}
	r.step()
}

func (r *rig) deleteAll(l *list) {
	deleted := uint64(0)
	for _, p := range append([]*place(nil), l.places...) {
		if p.alive {
			deleted++
			r.modelDelete(p)
		}
	}
	if got := r.w.DeleteAll(l.t); got != deleted {
		r.t.Errorf("DeleteAll deleted %d objects of %d", got, deleted)
	}
	r.step()
}

func (r *rig) trim(l *list) {
	var before, after object.Stats
	r.w.Read(l.t, &before)
	given := r.w.Trim(l.t)
	r.w.Read(l.t, &after)
	if before.Bytes-after.Bytes != given {
		r.t.Errorf("Trim says that it gave %d bytes back, and it was %d", given, before.Bytes-after.Bytes)
	}
	if len(l.places) == 0 && after.Bytes != 0 && after.Free == after.Slots && before.Made > before.Slots {
		r.t.Errorf("nothing is alive, and Trim left %d bytes", after.Bytes)
	}
	r.step()
}
