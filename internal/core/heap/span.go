package heap

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

const (
	bitmapWords     = tinySpanBytes / 16 / 64
	spanRecordBytes = 64 + bitmapWords*8

	listNone          = 0xff
	wordBits          = 64
	bitmapIndexMask   = bitmapWords - 1
	spanListIndexMask = 15 // spans are listed by the bit length of live: 0, 1, 2..3, 4..7, ... 4096: 14 lists
)

// What can be wrong with a block that is freed.
const (
	returnedFine = 0

	MisuseInside  = 1 // the address is inside a block
	MisuseTwice   = 2 // the block is free already
	MisuseForeign = 3 // no block is there
)

// span is the record of a run that a class has cut into blocks. All fields are under the class's lock.
//
//	block index   0 ......... fresh ........ zeroFrom ........ blocks
//	              given out   never given    never given out
//	              or free     since empty    since it read as zero
//
// A block below fresh is free in the span if its bit is set. Equations (Check):
//
//	live = fresh - bits set          blocks out of the span: the program's, in caches, in batches
//	live < blocks  <=>  the span is in central.lists[Len(live)]
//
// No bit at or above fresh is set, and none in words below hint.
type span struct {
	space.Run       // Next and Prev: the list of the class. Stamp: since when it has been quiet
	class     uint8 // const while the class has it; of a span that the class has no more it can still be here
	list      uint8 // index of its list, or listNone
	activity  uint8 // spanActive, spanQuiet or spanPurged: see purge.go
	_         uint8
	blocks    uint32 // const while the class has it
	live      uint32
	fresh     uint32
	zeroFrom  uint32
	hint      uint32
	serial    uint32 // of this use of the run as a span
	_         uint32
	free      [bitmapWords]uint64
}

// The record must hold a span and no more; a difference does not compile.
const (
	_ = spanRecordBytes - unsafe.Sizeof(span{})
	_ = unsafe.Sizeof(span{}) - spanRecordBytes
)

func (h *Heap) span(ref space.Ref) *span { return (*span)(h.Record(ref).Pointer()) }

// spanOf is the span that holds an address whose granule belongs to a class.
func (h *Heap) spanOf(block sys.Addr, info *classInfo) space.Ref {
	granules := uintptr(info.spanBytes) >> space.GranuleShift
	return space.Ref(h.Granule(block) &^ (granules - 1))
}

func (h *Heap) listSpan(ctl *central, ref space.Ref) {
	s := h.span(ref)
	index := bits.Len32(s.live)
	s.list = uint8(index)
	head := &ctl.lists[index&spanListIndexMask]
	s.Prev, s.Next = 0, *head
	if *head != 0 {
		h.span(*head).Prev = ref
	}
	*head = ref
	ctl.listed |= 1 << uint(index)
}

func (h *Heap) unlistSpan(ctl *central, ref space.Ref) {
	s := h.span(ref)
	head := &ctl.lists[s.list&spanListIndexMask]
	if s.Prev != 0 {
		h.span(s.Prev).Next = s.Next
	} else {
		*head = s.Next
		if *head == 0 {
			ctl.listed &^= 1 << uint(s.list)
		}
	}
	if s.Next != 0 {
		h.span(s.Next).Prev = s.Prev
	}
	s.Next, s.Prev = 0, 0
	s.list = listNone
}

// relistSpan moves a span to the list for its number of live blocks, or off all lists if it is full.
func (h *Heap) relistSpan(ctl *central, ref space.Ref) {
	s := h.span(ref)
	if s.live < s.blocks && uint8(bits.Len32(s.live)) == s.list {
		return
	}
	if s.list != listNone {
		h.unlistSpan(ctl, ref)
	}
	if s.live < s.blocks {
		h.listSpan(ctl, ref)
	}
}

// Blocks smaller than a cache line are handed out so that neighbours in time are none in memory: within groups of 16,
// by steps of 4. Blocks that a thread allocates one after the other and gives to several threads then do not share a
// line, which the threads would take from each other with every write. All 16 lie within a few lines all the same.
const (
	spreadGroup = 16
	spreadStep  = 4
)

// takeBlocks moves up to want blocks of a span to slots: recycled blocks first, then fresh ones, by rising addresses
// (but for the spreading above). It returns how many. The span's list is the caller's business.
func (h *Heap) takeBlocks(ref space.Ref, info *classInfo, slots sys.Addr, want uint32) uint32 {
	s := h.span(ref)
	first := uintptr(h.Addr(ref))
	end := slots + sys.Addr(want)*slotBytes
	slot := slots
	word := uintptr(s.hint)
	for left := s.fresh - s.live; left > 0 && slot < end; {
		free := s.free[word&bitmapIndexMask]
		for ; free != 0 && slot < end; left-- {
			index := word*wordBits + uintptr(bits.TrailingZeros64(free))
			free &= free - 1
			slot.SetWord(first + index*uintptr(info.bytes))
			slot += slotBytes
		}
		s.free[word&bitmapIndexMask] = free
		if free == 0 {
			word++
		}
	}
	s.hint = uint32(word)
	for fresh := s.fresh; slot < end && fresh < s.blocks; s.fresh = fresh {
		if info.bytes < sys.LineBytes && fresh+spreadGroup <= s.blocks && slot+spreadGroup*slotBytes <= end {
			for k := uint32(0); k < spreadGroup; k++ {
				slot.SetWord(s.freshBlock(first, fresh+k%spreadStep*spreadStep+k/spreadStep, info))
				slot += slotBytes
			}
			fresh += spreadGroup
			continue
		}
		slot.SetWord(s.freshBlock(first, fresh, info))
		slot += slotBytes
		fresh++
	}
	taken := uint32((slot - slots) / slotBytes)
	s.live += taken
	s.activity = spanActive
	return taken
}

// freshBlock is a block at or above fresh, with the tag if it reads as zero.
func (s *span) freshBlock(first uintptr, index uint32, info *classInfo) uintptr {
	block := first + uintptr(index)*uintptr(info.bytes)
	if index >= s.zeroFrom {
		block |= freshTag
	}
	return block
}

// returnBlock puts the block at an offset back into its span. It returns returnedFine, and the caller counts the block
// out of live, or one of the Misuse... values.
func (s *span) returnBlock(offset, magic uint32) int {
	index := uint32(uint64(offset) * uint64(magic) >> 32)
	if offset*magic >= magic {
		return MisuseInside
	}
	word := uintptr(index / wordBits)
	bit := uint64(1) << (index % wordBits)
	if index >= s.fresh || s.free[word&bitmapIndexMask]&bit != 0 {
		return MisuseTwice
	}
	s.free[word&bitmapIndexMask] |= bit
	if uint32(word) < s.hint {
		s.hint = uint32(word)
	}
	return returnedFine
}

// emptySpan forgets which blocks of a span with live 0 were used: it starts again from its first block.
func (s *span) emptySpan() {
	for word := uintptr(0); word*wordBits < uintptr(s.fresh); word++ {
		s.free[word&bitmapIndexMask] = 0
	}
	if s.zeroFrom < s.fresh {
		s.zeroFrom = s.fresh
	}
	s.fresh, s.hint = 0, 0
	s.Stamp = 0
}

// newSpan takes a span for a class, or returns 0. No lock is held. Before the committed part grows, and whenever the
// heap has taken much fresh memory, the blocks that wait in the shared pool and in the cache of the thread that asks
// are sorted into their spans: one waiting block can hold a span that is otherwise empty.
func (h *Heap) newSpan(c Cache, class uintptr, info *classInfo) space.Ref {
	if !h.mayGrow(c, uintptr(info.spanBytes)) {
		return 0
	}
	granules := info.spanBytes >> space.GranuleShift
	ref, need := h.TakeFree(granules, granules)
	if ref == 0 && need != 0 {
		h.sortWaiting(c)
		ref = h.Take(granules, granules)
	}
	if ref == 0 {
		return 0
	}
	s := h.span(ref)
	s.list, s.activity = listNone, spanActive // its class: see addSpanLocked
	s.blocks, s.live, s.fresh, s.hint = info.blocks, 0, 0, 0
	s.zeroFrom = 0
	if !s.Zero {
		s.zeroFrom = info.blocks
	}
	s.serial = atomic.AddUint32(&h.spanSerial, 1)
	h.SetOwner(ref, uint16(info.binOffset))
	if s.Zero {
		h.tookFresh(c, granules)
	}
	return ref
}

// Fresh memory that classes may take before waiting blocks are sorted: a part of what the heap holds, and at least so
// much.
const (
	freshPartShift = 6
	freshLeast     = 1 << 20 >> space.GranuleShift
)

func (h *Heap) tookFresh(c Cache, granules uint32) {
	most := uint32(h.HeldBytes() >> (space.GranuleShift + freshPartShift))
	if most < freshLeast {
		most = freshLeast
	}
	if atomic.AddUint32(&h.freshGranules, granules) >= most {
		h.sortWaiting(c)
	}
}
