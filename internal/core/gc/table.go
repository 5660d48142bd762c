package gc

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// table is a growable hash table whose memory is a run of the space: no collection scans it, and it goes back when the
// table shrinks. An entry is a power of two of words; its first is the key, never 0. Slots are probed one after the
// other; a removal moves later entries up, so that there are no gravestones and no search passes an empty slot.
//
// Its user holds Heap.lock, or the world stands.
//
// Equations (checkTable):
//
//	count = slots whose key is not 0, and less than the number of slots
//	between an entry and the slot that its key hashes to no slot is empty
type table struct {
	entries    sys.Addr // the slots; 0: there is no memory yet
	count      uintptr
	run        space.Ref // that holds them
	bits       uint32    // log2 of the number of slots
	entryShift uint32    // log2 of the bytes of an entry
}

const (
	tableLeastBytes = BlockBytes
	// Tables up to half of a space granule lie in a granule at the offset that is their size: the two sizes between
	// which a table grows or shrinks never overlap there.
	tableSharedMost = space.GranuleBytes / 2

	hashFactor = 0x9e3779b97f4a7c15
)

func (t *table) slots() uintptr {
	if t.entries == 0 {
		return 0
	}
	return 1 << t.bits
}

func (t *table) bytes() uintptr { return t.slots() << t.entryShift }

func (t *table) entry(slot uintptr) sys.Addr { return t.entries + sys.Addr(slot<<t.entryShift) }

// home is the slot that a key hashes to.
func (t *table) home(key uintptr) uintptr { return key * hashFactor >> (64 - t.bits) }

// find is the entry of a key, 0 if it has none.
func (t *table) find(key uintptr) sys.Addr {
	if t.count == 0 {
		return 0
	}
	mask := t.slots() - 1
	for slot := t.home(key); ; slot = (slot + 1) & mask {
		e := t.entry(slot)
		switch e.Word() {
		case key:
			return e
		case 0:
			return 0
		}
	}
}

// put makes an entry of a key that has none. There is room.
func (t *table) put(key uintptr) sys.Addr {
	mask := t.slots() - 1
	slot := t.home(key)
	for t.entry(slot).Word() != 0 {
		slot = (slot + 1) & mask
	}
	t.entry(slot).SetWord(key)
	t.count++
	return t.entry(slot)
}

// insertEntry makes an entry of 1<<entryShift bytes for a key that has none; the rest of it is zero. It returns 0 if
// there is no memory.
func (h *Heap) insertEntry(t *table, entryShift uint32, key uintptr) sys.Addr {
	if t.entries == 0 {
		t.entryShift = entryShift
		if !h.resizeTable(t, log2(tableLeastBytes>>entryShift)) {
			return 0
		}
	} else if t.count >= t.slots()/4*3 && !h.resizeTable(t, t.bits+1) && t.count+1 >= t.slots() {
		return 0
	}
	return t.put(key)
}

// remove takes an entry out. What lies in later slots may move up into its slot.
func (t *table) remove(e sys.Addr) {
	mask := t.slots() - 1
	hole := uintptr(e-t.entries) >> t.entryShift
	for next := (hole + 1) & mask; ; next = (next + 1) & mask {
		key := t.entry(next).Word()
		if key == 0 {
			break
		}
		if (next-t.home(key))&mask >= (next-hole)&mask {
			sys.Copy(t.entry(hole), t.entry(next), 1<<t.entryShift)
			hole = next
		}
	}
	sys.Clear(t.entry(hole), 1<<t.entryShift)
	t.count--
}

// trimTable gives memory back if the table has far more than it needs.
func (h *Heap) trimTable(t *table) {
	if t.entries == 0 {
		return
	}
	if t.count == 0 {
		h.Give(t.run)
		t.entries, t.run, t.bits = 0, 0, 0
		return
	}
	bits := t.bits
	for t.count < 1<<bits/8 && 1<<(bits+t.entryShift) > tableLeastBytes {
		bits--
	}
	if bits != t.bits {
		h.resizeTable(t, bits) // without memory it stays as large as it is
	}
}

// resizeTable moves the entries into 1<<bits slots. It returns false, and the table is as it was, if there is no
// memory.
func (h *Heap) resizeTable(t *table, bits uint32) bool {
	bytes := uintptr(1) << (bits + t.entryShift)
	was := *t
	shared := bytes <= tableSharedMost
	t.bits = bits
	if was.entries == 0 || !shared || was.bytes() > tableSharedMost {
		t.run = h.takeRun(bytes)
		if t.run == 0 {
			*t = was
			return false
		}
	}
	t.entries = h.Addr(t.run)
	if shared {
		t.entries += sys.Addr(bytes)
	}
	if t.run == was.run || !h.Run(t.run).Zero {
		sys.Clear(t.entries, bytes)
	}
	t.count = 0
	for slot := uintptr(0); slot < was.slots(); slot++ {
		if from := was.entry(slot); from.Word() != 0 {
			sys.Copy(t.put(from.Word()), from, 1<<t.entryShift)
		}
	}
	if was.run != 0 && was.run != t.run {
		h.Give(was.run)
	}
	return true
}

// takeRun takes whole granules of the space, 0 if it has none.
func (h *Heap) takeRun(bytes uintptr) space.Ref {
	return h.Take(uint32((bytes+space.GranuleBytes-1)>>space.GranuleShift), 1)
}

// log2 is that of a power of two.
func log2(n uintptr) uint32 {
	bits := uint32(0)
	for n > 1 {
		n >>= 1
		bits++
	}
	return bits
}

// checkTable reports whether the equations of a table hold.
func (t *table) checkTable() bool {
	mask := t.slots() - 1
	count := uintptr(0)
	for slot := uintptr(0); slot < t.slots(); slot++ {
		key := t.entry(slot).Word()
		if key == 0 {
			continue
		}
		count++
		for at := t.home(key); at != slot; at = (at + 1) & mask {
			if t.entry(at).Word() == 0 {
				return false
			}
		}
	}
	return count == t.count && (count == 0 || count < t.slots())
}
