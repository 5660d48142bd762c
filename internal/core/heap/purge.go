package heap

import (
	"math/bits"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: the part of the release sweep that looks into spans which classes hold. A class keeps one empty span, and
// after a program unloads its data a few blocks that stay can each keep a span. What lies free in such a span goes back
// page by page once nothing has happened in the span for long enough.
//
// While the system drops pages no lock is held. The sweep therefore takes all free blocks of the span first, as a
// program would, and puts them back afterwards: nobody else can be given one meanwhile.

// Activity of a span, in span.activity.
const (
	spanActive = 0 // blocks came or went since the last sweep
	spanQuiet  = 1 // not so since Stamp
	spanPurged = 2 // and its free pages went back
)

// claim is what the sweep took of a span.
type claim struct {
	free  [bitmapWords]uint64
	fresh uint32
	count uint32
}

// purgeSpans looks at every span. waiting says that there is a quiet or active one whose time has not come, dropped how
// many bytes went back.
func (h *Heap) purgeSpans(now, age uint64) (dropped uintptr, waiting bool) {
	for granule := uintptr(space.First); granule < h.Committed(); granule++ {
		class := classOf(uintptr(h.OwnerWord(granule).Word16()))
		info := &classTable[class&63]
		if class == 0 || granule&(uintptr(info.spanBytes)>>space.GranuleShift-1) != 0 {
			continue
		}
		bytes, early := h.purgeSpan(space.Ref(granule), class, now, age)
		dropped += bytes
		waiting = waiting || early
	}
	if dropped != 0 {
		h.AddReleased(uint64(dropped))
	}
	return dropped, waiting
}

// purgeSpan is purgeSpans for one; early says that it is too early for the span.
func (h *Heap) purgeSpan(ref space.Ref, class uintptr, now, age uint64) (dropped uintptr, early bool) {
	ctl := &h.classes[class&63]
	s := h.span(ref)
	if s.activity == spanPurged || !sys.Lock(&ctl.lock) {
		return 0, false
	}
	// A span on no list has no free block, or is on its way to or from the space.
	if s.list == listNone || uintptr(s.class) != class || s.activity == spanPurged {
		sys.Unlock(&ctl.lock)
		return 0, false
	}
	if s.activity == spanActive {
		s.activity, s.Stamp = spanQuiet, now
	}
	if now-s.Stamp < age {
		sys.Unlock(&ctl.lock)
		return 0, true
	}
	var taken claim
	h.claimLocked(ctl, ref, &taken)
	sys.Unlock(&ctl.lock)
	dropped = h.dropFreePages(ref, &classTable[class&63], &taken)
	sys.Lock(&ctl.lock)
	if s.activity == spanQuiet { // else somebody returned a block meanwhile
		s.activity = spanPurged
	}
	give := h.unclaimLocked(ctl, ref, &taken, dropped == uintptr(classTable[class&63].spanBytes))
	sys.Unlock(&ctl.lock)
	if give != 0 {
		h.giveSpan(give)
	}
	return dropped, false
}

// claimLocked takes all free blocks of a span.
func (h *Heap) claimLocked(ctl *central, ref space.Ref, taken *claim) {
	s := h.span(ref)
	if s.live == 0 {
		ctl.empty--
	}
	taken.free, taken.fresh, taken.count = s.free, s.fresh, s.blocks-s.live
	for word := range s.free {
		s.free[word] = 0
	}
	s.fresh, s.live = s.blocks, s.blocks
	h.unlistSpan(ctl, ref)
}

// unclaimLocked puts them back. If others returned all the rest meanwhile and the class has its empty span, one of the
// two is to be given to the space: it is returned, 0 for none.
func (h *Heap) unclaimLocked(ctl *central, ref space.Ref, taken *claim, all bool) (give space.Ref) {
	s := h.span(ref)
	// The blocks that are out are counted anew: a program that freed a claimed block a second time has upset the count.
	out := taken.fresh
	for word := range s.free {
		s.free[word] |= taken.free[word]
		out -= uint32(bits.OnesCount64(s.free[word]))
	}
	ctl.out += uint64(out) - uint64(s.live) + uint64(taken.count)
	s.fresh, s.hint, s.live = taken.fresh, 0, out
	if s.live != 0 {
		h.relistSpan(ctl, ref)
		return 0
	}
	give = h.retireLocked(ctl, ref)
	if all {
		s.zeroFrom = 0
	}
	return give
}

// dropFreePages gives back the pages of a span that hold none but claimed blocks, and returns how many bytes.
func (h *Heap) dropFreePages(ref space.Ref, info *classInfo, taken *claim) uintptr {
	touched := taken.fresh
	if from := h.span(ref).zeroFrom; from > touched {
		touched = from
	}
	page := sys.PageBytes()
	end := sys.AlignUp(uintptr(touched)*uintptr(info.bytes), page)
	if touched != 0 && taken.count == info.blocks {
		end = uintptr(info.spanBytes) // an empty span goes back whole
	}
	dropped := uintptr(0)
	for at := uintptr(0); at < end; at += page {
		from := at
		for at < end && taken.pageIsFree(info, uint32(at), uint32(page)) {
			at += page
		}
		if at > from && sys.Decommit(h.Addr(ref)+sys.Addr(from), at-from) {
			dropped += at - from
		}
	}
	return dropped
}

// pageIsFree reports whether every block that touches the page at an offset is claimed. Blocks never used are.
func (taken *claim) pageIsFree(info *classInfo, offset, page uint32) bool {
	index := offset / info.bytes
	end := (offset+page-1)/info.bytes + 1
	if end > taken.fresh {
		end = taken.fresh
	}
	for index < end {
		bit := index % wordBits
		count := wordBits - bit
		if count > end-index {
			count = end - index
		}
		mask := ^uint64(0) >> (wordBits - count) << bit
		if taken.free[uintptr(index/wordBits)&bitmapIndexMask]&mask != mask {
			return false
		}
		index += count
	}
	return true
}
