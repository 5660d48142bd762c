package object

// Sites returns where an object of a diagnosed type was made, and where it was deleted, as numbers of stacks. known is
// false if the type is not diagnosed, or if the slot has had another object since: so many were deleted meanwhile.
func (w *World) Sites(ref Ref) (made, deleted uint32, known bool) {
	t := w.TypeOf(ref)
	if t == nil || t.flags&FlagDiagnose == 0 {
		return 0, 0, false
	}
	t.enter()
	if g := w.node(ref.index()).generation - ref.generation(); g <= 1 {
		s := w.site(ref.index())
		made, deleted, known = s.made, s.deleted, true
	}
	t.leave()
	return made, deleted, known
}

// NextAlive returns the object after ref, or the first one for 0, and where it was made, if its type is diagnosed. It
// holds nothing: if ref was freed between two calls the walk ends.
func (w *World) NextAlive(t *Type, ref Ref) (next Ref, made uint32) {
	t.enter()
	index := t.first
	if ref != 0 {
		if n := w.placeLocked(ref); n != nil {
			index = n.next
		} else {
			index = 0
		}
	}
	next = w.forwardLocked(index)
	if next != 0 && t.flags&FlagDiagnose != 0 {
		made = w.site(next.index()).made
	}
	t.leave()
	return next, made
}
