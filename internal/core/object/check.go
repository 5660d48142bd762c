package object

import "granary/internal/core/sys"

// Check walks everything and returns "" or what is wrong: each type's list, free slots and chunks against its figures,
// and the handles. Nobody else may use the world meanwhile.
func (w *World) Check() string {
	if w.chunkCount == 0 || w.chunkCount > w.chunksMost || uintptr(w.chunkCount)<<chunkShift > w.mask()+1 ||
		w.node(0).generation != 0 || w.entry(0).of != 0 {
		return "object: the tables are out of bounds, or the null slot is in use"
	}
	types, chunks := uint32(0), uint64(1)
	for t := w.typeAt(w.types); t != nil; t = t.Older() {
		if wrong := w.CheckType(t); wrong != "" {
			return wrong
		}
		if t.id != w.typeCount-types {
			return "object: types are not numbered in a row"
		}
		types++
		chunks += t.chunks
	}
	if types != w.typeCount || chunks != uint64(w.chunkCount) {
		return "object: types or chunks are miscounted"
	}
	return w.checkHandles()
}

// CheckType is the part of Check for one type.
func (w *World) CheckType(t *Type) string {
	if t.lock != 0 {
		return "object: a type is locked"
	}
	if wrong := w.checkList(t); wrong != "" {
		return wrong
	}
	if wrong := w.checkFree(t); wrong != "" {
		return wrong
	}
	return w.checkChunks(t)
}

func (w *World) checkList(t *Type) string {
	alive, tombstones, before := uint64(0), uint64(0), uint32(0)
	for index := t.first; index != 0; {
		n := w.node(index)
		if w.entryOf(index).of != t.addr() {
			return "object: a list has a slot of another type"
		}
		if n.prev != before {
			return "object: the links of a list do not match"
		}
		if n.count == 0 {
			return "object: a list has a slot that nobody holds"
		}
		if n.isAlive() {
			alive++
		} else {
			tombstones++
		}
		if alive > t.alive() || tombstones > t.tombstones {
			return "object: a list is longer than its type says"
		}
		before, index = index, n.next
	}
	if before != t.last || alive != t.alive() || tombstones != t.tombstones {
		return "object: a list is shorter than its type says"
	}
	if t.deleted > t.made {
		return "object: a type deleted more objects than it made"
	}
	if t.clearing != 0 {
		return "object: slots are being cleared, and nobody is at it"
	}
	return checkRuns(t)
}

// checkRuns: no iteration is under way while a world is checked but by the one who checks.
func checkRuns(t *Type) string {
	used := uint32(0)
	for i := range t.runs {
		if t.runs[i].end != 0 {
			used++
		}
	}
	if t.care/careRun != used {
		return "object: the runs that iterations hold are miscounted"
	}
	if t.quickAfter != quickNever && (t.quickAfter != t.reuseAfter || t.freshNext != t.freshEnd) {
		return "object: slots never used would be left over"
	}
	return ""
}

func (w *World) checkFree(t *Type) string {
	count, last := uint32(0), uint32(0)
	for index := t.freeHead; index != 0; index = w.node(index).next {
		n := w.node(index)
		if w.entryOf(index).of != t.addr() || n.count != 0 || n.isAlive() || n.prev != 0 {
			return "object: a slot among the free ones is not free"
		}
		if count++; count > t.freeCount {
			return "object: more slots are free than the type says"
		}
		last = index
	}
	if count != t.freeCount || count != 0 && last != t.freeTail {
		return "object: fewer slots are free than the type says"
	}
	return ""
}

func (w *World) checkChunks(t *Type) string {
	chunks, idle := uint64(0), uint64(0)
	for chunk := t.newestChunk; chunk != 0; chunk = w.entry(chunk).older {
		e := w.entry(chunk)
		if chunk >= w.chunkCount || e.of != t.addr() || e.slots != t.slots {
			return "object: a chunk is not its type's"
		}
		if chunks++; chunks > t.chunks {
			return "object: more chunks than the type says"
		}
		for index := chunk << chunkShift; index < chunk<<chunkShift+t.slots; index++ {
			n := w.node(index)
			if n.count == 0 && n.isAlive() || n.count != 0 && e.fields == 0 {
				return "object: an object is alive but not in its list, or has no memory"
			}
			if n.count == 0 {
				idle++
			}
			if !n.isAlive() && e.side != 0 && *w.handleOf(index) != 0 {
				return "object: a deleted object has a handle"
			}
		}
	}
	fresh := uint64(t.freshEnd - t.freshNext)
	if chunks != t.chunks || idle != fresh+uint64(t.freeCount)+uint64(t.retired) {
		return "object: slots are lost"
	}
	if chunks*uint64(t.slots) != idle+t.alive()+t.tombstones {
		return "object: slots are miscounted"
	}
	for index := t.freshNext; index != t.freshEnd; index++ {
		if *w.node(index) != (node{}) {
			return "object: a slot never used is not fresh"
		}
	}
	return ""
}

func (w *World) checkHandles() string {
	count := uintptr(0)
	for place := uintptr(0); place < w.handleRoom; place++ {
		e := w.handleAt(place)
		if e.number == 0 {
			continue
		}
		count++
		if e.number > w.lastHandle || !w.IsAlive(e.ref) || *w.handleOf(e.ref.index()) != e.number {
			return "object: a handle does not match its object"
		}
		for from := w.handleHome(e.number); from != place; from = (from + 1) & (w.handleRoom - 1) {
			if w.handleAt(from).number == 0 {
				return "object: a handle lies where it is not found"
			}
		}
	}
	if count != w.handleCount {
		return "object: handles are miscounted"
	}
	given := uintptr(0)
	for chunk := uint32(1); chunk < w.chunkCount; chunk++ {
		e := w.entry(chunk)
		for slot := uintptr(0); e.side != 0 && slot < chunkSlots; slot++ {
			if (e.side + sys.Addr(slot*handleBytes)).Word() != 0 {
				given++
			}
		}
	}
	if given != count {
		return "object: an object's handle is not in the table"
	}
	return ""
}

// VarsTo counts the FieldVars of all objects alive of a type that hold one object: for tests that keep account.
func (w *World) VarsTo(t *Type, to Ref) uint64 {
	found := uint64(0)
	for ref := w.First(t); ref != 0; ref = w.After(ref) {
		memory := w.fields(t, ref.index())
		for i := uint32(0); i < t.layoutCount; i++ {
			f := fieldAt(t.layout, i)
			for k := uint32(0); f.Kind == FieldVar && k < f.Count; k++ {
				if Ref((memory + sys.Addr(f.Offset+uintptr(k)*f.Stride)).Word()) == to {
					found++
				}
			}
		}
	}
	return found
}

// CountOf is how often an object is held, its list's hold included while it is in it; 0 for one that has no place.
func (w *World) CountOf(ref Ref) uint32 {
	if w.TypeOf(ref) == nil {
		return 0
	}
	if n := w.placeLocked(ref); n != nil {
		return n.count
	}
	return 0
}

// AgeSlot sets the generation of a slot that is free or never used, so that tests need not wait for its last life.
func (w *World) AgeSlot(ref Ref, generation uint32) { w.node(ref.index()).generation = generation &^ 1 }
