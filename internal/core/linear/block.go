package linear

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// block is one of the pool. Its memory is a run of the space, of a power of two bytes, or none yet (bytes is 0).
//
//	state       free bit   owner   open    who may change it
//	free        1          0       0       nobody
//	taken       0          0       0       whoever cleared the bit
//	current     0          w+1     >= 2    worker w, but for left and open, which others take from
//	retired     0          0       >= 1    whoever frees: left and open only
//
// Equations (Check):
//
//	open = segments with left > 0, and one more while the block is current
//
// Whoever brings open to 0 has the block for himself, clears it and sets its bit. So a block is returned once, whatever
// is freed twice or was never allocated: left never falls below 0, and takes one from open only when it reaches 0.
type block struct {
	start    uintptr // atomic, as all that others read to find what an address belongs to
	bytes    uintptr
	usedUpTo uintptr // offset behind the last allocation; all of the block while it is current
	touched  uintptr // bytes from the start that may not read as zero
	tags     sys.Addr
	open     int32
	segments uint32 // in use, from the first; the last one is the open one while the block is current
	ref      space.Ref
	owner    uint32
	_        [8]byte
	segment  [segmentCount]segment
}

// segment is what a block handed out in one frame, or in 'step' frames that follow each other. The part of the block
// between two starts belongs to the one before.
//
//	left         the segment
//	0            is dead: nothing of it is alive
//	1 to ...     is closed: so many allocations are alive
//	bias - n     is open, and n of its allocations were freed by others than the worker
type segment struct {
	start   uintptr // offset in the block; atomic
	left    int64
	overdue int64  // of its allocations, so many were counted as too old; atomic
	frame   uint32 // the youngest that its allocations may be of; atomic
	_       uint32
}

const (
	segmentCount = 16
	bias         = 1 << 40
	ownerOffset  = 48 // in a granule's record: whose it is; see claim
)

// The block's head is one cache line, and a segment half of one.
const (
	_ = 64 + segmentCount*32 - unsafe.Sizeof(block{})
	_ = unsafe.Sizeof(block{}) - 64 - segmentCount*32
)

func (b *block) at(index uint32) *segment { return &b.segment[index&(segmentCount-1)] }

func (b *block) last() *segment { return b.at(b.segments - 1) }

// claim writes into the record of each granule of a block's run whose it is: the allocator's address, a page, plus the
// block's index and one. Records of granules that are somebody else's hold other values there.
func (a *Allocator) claim(index uint32) {
	b := a.block(index)
	a.mark(b, uintptr(a.addr())+uintptr(index)+1)
}

func (a *Allocator) forget(b *block) { a.mark(b, 0) }

func (a *Allocator) mark(b *block, value uintptr) {
	s := a.runs()
	for g := space.Ref(0); g < space.Ref(b.bytes>>space.GranuleShift); g++ {
		atomic.StoreUintptr(a.ownerWord(s, b.ref+g), value)
	}
}

func (a *Allocator) ownerWord(s *space.Space, ref space.Ref) *uintptr {
	return (*uintptr)((s.Record(ref) + ownerOffset).Pointer())
}

// find is the block that an address lies in.
func (a *Allocator) find(p sys.Addr) (index uint32, found bool) {
	s := a.runs()
	granule := s.Granule(p)
	if granule >= s.Committed() {
		return 0, false
	}
	value := atomic.LoadUintptr(a.ownerWord(s, space.Ref(granule))) - uintptr(a.addr()) - 1
	return uint32(value), value < BlocksMost
}

// findSegment is the segment that an address lies in; nil if nothing was handed out there.
func (b *block) findSegment(p sys.Addr) *segment {
	offset := uintptr(p) - atomic.LoadUintptr(&b.start)
	if offset >= atomic.LoadUintptr(&b.usedUpTo) {
		return nil
	}
	for i := atomic.LoadUint32(&b.segments); i > 0; i-- {
		if s := b.at(i - 1); offset >= atomic.LoadUintptr(&s.start) {
			return s
		}
	}
	return nil
}

// takeReady takes a free block that has so many bytes, noBlock if there is none. It calls nobody and waits for nobody.
func (a *Allocator) takeReady(need uintptr) uint32 {
	for {
		free := atomic.LoadUint64(&a.free)
		index := a.ready(free, need)
		if index == noBlock || a.takeBit(free, index) {
			return index
		}
	}
}

// ready is the first of the free blocks that has so many bytes.
func (a *Allocator) ready(free uint64, need uintptr) uint32 {
	for ; free != 0; free &= free - 1 {
		index := uint32(bits.TrailingZeros64(free))
		if atomic.LoadUintptr(&a.block(index).bytes) >= need {
			return index
		}
	}
	return noBlock
}

// takeBit takes a block if the free ones are still those.
func (a *Allocator) takeBit(free uint64, index uint32) bool {
	if !atomic.CompareAndSwapUint64(&a.free, free, free&^(1<<index)) {
		return false
	}
	used := atomic.AddUint32(&a.used, 1)
	for peak := atomic.LoadUint32(&a.usedPeak); used > peak; peak = atomic.LoadUint32(&a.usedPeak) {
		if atomic.CompareAndSwapUint32(&a.usedPeak, peak, used) {
			break
		}
	}
	return true
}

// giveBit returns a block that is the caller's alone to the pool.
func (a *Allocator) giveBit(index uint32) {
	atomic.AddUint32(&a.used, ^uint32(0))
	for {
		free := atomic.LoadUint64(&a.free)
		if atomic.CompareAndSwapUint64(&a.free, free, free|1<<index) {
			return
		}
	}
}

// pool clears a block of which nothing is alive and returns it.
func (a *Allocator) pool(index uint32) {
	b := a.block(index)
	if b.tags != 0 {
		a.clearTags(b, 0, b.usedUpTo)
	}
	atomic.StoreUint32(&b.segments, 0)
	atomic.StoreUintptr(&b.usedUpTo, 0)
	a.giveBit(index)
}

// Take takes a block that has so many bytes, makes one or makes one larger; noBlock (see Taken) if it cannot. It may
// wait and call the system.
func (a *Allocator) Take(need uintptr) uint32 {
	for {
		free := atomic.LoadUint64(&a.free)
		index := a.ready(free, need)
		if index == noBlock {
			index = a.unready(free)
		}
		if index == noBlock {
			return noBlock
		}
		if !a.takeBit(free, index) {
			continue
		}
		if a.block(index).bytes < need && !a.grow(index, need) {
			a.giveBit(index)
			return noBlock
		}
		return index
	}
}

// Taken reports whether Take could take one.
func Taken(index uint32) bool { return index != noBlock }

// unready is the free block to be made larger: one that has memory already, so that the allocator holds no more than
// it must, else one that has none.
func (a *Allocator) unready(free uint64) uint32 {
	found := noBlock
	for ; free != 0; free &= free - 1 {
		index := uint32(bits.TrailingZeros64(free))
		if atomic.LoadUintptr(&a.block(index).bytes) != 0 {
			return index
		}
		if found == noBlock {
			found = index
		}
	}
	return found
}

// grow gives a block, which is the caller's alone, a run that holds so many bytes.
func (a *Allocator) grow(index uint32, need uintptr) bool {
	b := a.block(index)
	s := a.runs()
	bytes := roundUp(need, a.blockBytes)
	ref := s.Take(uint32(bytes>>space.GranuleShift), 1)
	if ref == 0 {
		return false
	}
	if a.diagnose != 0 && b.tags == 0 && !a.makeTags(b) {
		s.Give(ref)
		return false
	}
	if b.bytes != 0 {
		a.forget(b)
		s.Give(b.ref)
	}
	atomic.AddUint64(&a.reserved, uint64(bytes-b.bytes))
	b.ref, b.touched = ref, 0
	if !s.Run(ref).Zero {
		b.touched = bytes
	}
	atomic.StoreUintptr(&b.start, uintptr(s.Addr(ref)))
	atomic.StoreUintptr(&b.bytes, bytes)
	a.claim(index)
	return true
}
