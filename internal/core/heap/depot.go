package heap

import "granary/internal/core/sys"

// This file: the batches of the shared pool.

// depotShards is the number of depots a class has, a power of two. Threads put batches into, and take them from, the
// depot of their shard first: two threads that make and drop blocks of one class at the same time meet neither at a
// lock nor in each other's blocks.
const depotShards = 2

// depot holds batches of a class: free blocks as a cache handed them over, newest on top. Everything is under its lock,
// which is taken before the class's.
type depot struct {
	_     [sys.LineBytes]byte // no line with the depot of other threads, wherever the heap lies
	lock  uint32
	count uint32   // batches; read without the lock as a hint
	room  sys.Addr // for one batch more than classInfo.depot, 0 until the first
	spare sys.Addr // another, if one was made while the sweep had the first: see coolDepot
	in    uint64   // batches that came
	out   uint64   // and went
	seen  uint32   // in, as the last sweep saw it
	warm  bool     // the room has been used since its memory was given back
}

// slots is where a batch lies.
func (d *depot) slots(info *classInfo, index uint32) sys.Addr {
	return d.room + sys.Addr(uintptr(index*info.batch)*slotBytes)
}

// waiting is the number of batches in all depots.
func (ctl *central) waiting() uint32 {
	count := uint32(0)
	for i := range ctl.depots {
		count += ctl.depots[i].count
	}
	return count
}

// takeBatch copies a batch to slots: of the shard's depot, else of another.
func (ctl *central) takeBatch(shard uint32, info *classInfo, slots sys.Addr) bool {
	for i := uint32(0); i < depotShards; i++ {
		d := &ctl.depots[(shard+i)&(depotShards-1)]
		if d.count == 0 || !sys.Lock(&d.lock) {
			continue
		}
		taken := d.count != 0
		if taken {
			d.count--
			d.out++
			sys.Copy(slots, d.slots(info, d.count), uintptr(info.batch)*slotBytes)
		}
		sys.Unlock(&d.lock)
		if taken {
			return true
		}
	}
	return false
}

// putBatch copies a batch from slots to the shard's depot. It returns false if the pool has its fill, has no memory, or
// the lock is this thread's already (a signal handler).
func (h *Heap) putBatch(ctl *central, shard uint32, info *classInfo, slots sys.Addr) bool {
	d := &ctl.depots[shard&(depotShards-1)]
	if d.room == 0 {
		h.makeDepot(d, info)
	}
	if !ctl.hasRoom(d, info) || !sys.Lock(&d.lock) {
		return false
	}
	put := d.room != 0 && d.count < info.depot
	if put {
		sys.Copy(d.slots(info, d.count), slots, uintptr(info.batch)*slotBytes)
		d.count++
		d.in++
	}
	sys.Unlock(&d.lock)
	return put
}

// hasRoom reports whether one more batch may wait. The other depots are looked at only when this one has its share:
// their counts are in lines that other processors write.
func (ctl *central) hasRoom(d *depot, info *classInfo) bool {
	limit := ctl.depotLimit(info)
	return d.count < limit/depotShards || ctl.waiting() < limit
}

// holds reports whether a block waits in a batch.
func (ctl *central) holds(info *classInfo, block sys.Addr) bool {
	found := false
	for i := range ctl.depots {
		d := &ctl.depots[i]
		if sys.Lock(&d.lock) {
			found = found || holds(d.room, uintptr(d.count*info.batch), block)
			sys.Unlock(&d.lock)
		}
	}
	return found
}

// shardOf is the shard of a cache.
func (h *Heap) shardOf(c Cache) uint32 {
	if h.without(c) {
		return 0
	}
	return c.header().shard
}

// flush makes room in a full bin: its older half goes to the shared pool as a batch, or to the spans if the pool
// has its fill. It returns false if a lock of the class is this thread's already (a signal handler).
func (h *Heap) flush(c Cache, class uintptr) bool {
	info := &classTable[class&63]
	b := c.classBin(class)
	oldest := info.room - info.batch
	if !h.putBatch(&h.classes[class&63], c.header().shard, info, b.slotAddr(oldest)) &&
		!h.returnBlocks(class, b.slotAddr(oldest), info.batch) {
		return false
	}
	sys.Move(b.slotAddr(b.room+info.batch), b.slotAddr(b.room), uintptr(oldest-b.room)*slotBytes)
	b.room += info.batch
	return true
}

// depotLimit is how many batches may wait: no more than the class's spans have blocks, so that a small heap keeps
// little, and at most classInfo.depot. Where threads of both shards put batches half as many more can be there.
func (ctl *central) depotLimit(info *classInfo) uint32 {
	limit := depotLeast + ctl.spans*info.blocks/info.batch
	if limit > info.depot {
		limit = info.depot
	}
	return limit
}

func depotBytes(info *classInfo) uintptr {
	return sys.AlignUp(uintptr(info.depot*info.batch)*slotBytes, sys.PageBytes())
}

// makeDepot gives a depot room for batches: the spare, or new memory.
func (h *Heap) makeDepot(d *depot, info *classInfo) {
	if !sys.Lock(&d.lock) {
		return
	}
	if d.room == 0 {
		d.room, d.spare = d.spare, 0
	}
	have := d.room != 0
	sys.Unlock(&d.lock)
	if have {
		return
	}
	if memory := h.TakeMeta(depotBytes(info)); memory != 0 {
		d.addRoom(memory)
	}
}

// addRoom puts memory for batches where it is missing.
func (d *depot) addRoom(memory sys.Addr) {
	if !sys.Lock(&d.lock) {
		return
	}
	if d.room == 0 {
		d.room = memory
	} else {
		d.spare = memory
	}
	sys.Unlock(&d.lock)
}

// coolDepots gives back the memory of a class's rooms for batches to which no batch has come since the last sweep.
// While the system drops the pages the depot has no room, and makes another if it needs it.
func (h *Heap) coolDepots(class uintptr) {
	ctl := &h.classes[class&63]
	for i := range ctl.depots {
		ctl.depots[i].cool(&classTable[class&63])
	}
}

func (d *depot) cool(info *classInfo) {
	if d.room == 0 || !sys.Lock(&d.lock) {
		return
	}
	memory := d.room
	quiet := d.count == 0 && memory != 0 && d.seen == uint32(d.in) && d.warm
	if !quiet {
		d.warm = d.warm || d.seen != uint32(d.in)
		d.seen = uint32(d.in)
		sys.Unlock(&d.lock)
		return
	}
	d.room, d.warm = 0, false
	sys.Unlock(&d.lock)
	sys.Decommit(memory, depotBytes(info))
	d.addRoom(memory)
}

// drainDepots sorts the waiting batches of a class into their spans.
func (h *Heap) drainDepots(class uintptr) {
	ctl := &h.classes[class&63]
	info := &classTable[class&63]
	for i := range ctl.depots {
		d := &ctl.depots[i]
		for d.count != 0 && h.drainOne(ctl, d, class, info) {
		}
	}
}

// drainOne sorts one batch. It returns false if there is none, or a lock is this thread's already (a signal handler).
func (h *Heap) drainOne(ctl *central, d *depot, class uintptr, info *classInfo) bool {
	if !sys.Lock(&d.lock) {
		return false
	}
	if d.count == 0 || !sys.Lock(&ctl.lock) {
		sys.Unlock(&d.lock)
		return false
	}
	var give giving
	d.count--
	wrong, what := h.returnBlocksLocked(ctl, class, d.slots(info, d.count), info.batch, &give)
	sys.Unlock(&ctl.lock)
	sys.Unlock(&d.lock)
	h.finishReturn(class, &give, wrong, what)
	return true
}
