package heap

import (
	"math/bits"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// Check walks the whole heap and returns "" or what is wrong: the space, every span against its bits, list and
// class, every class against its spans, batches and caches. Nobody else may use the heap meanwhile.
func (h *Heap) Check() string {
	if wrong := h.Space.Check(); wrong != "" {
		return wrong
	}
	for class := uintptr(1); class <= ClassCount; class++ {
		if wrong := h.checkClass(class); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (h *Heap) checkClass(class uintptr) string {
	ctl := &h.classes[class&63]
	info := &classTable[class&63]
	var spans, listed, empty uint32
	var live uint64
	for g := uintptr(space.First); g < h.Frontier(); g += h.Granules(space.Ref(g)) {
		ref := space.Ref(g)
		if classOf(uintptr(h.OwnerOf(h.Addr(ref)))) != class {
			continue
		}
		if wrong := h.checkSpan(ref, class); wrong != "" {
			return wrong
		}
		s := h.span(ref)
		spans++
		live += uint64(s.live)
		if s.live == 0 {
			empty++
		}
	}
	if spans != ctl.spans || live != ctl.out || empty != ctl.empty {
		return "heap: a class miscounts its spans, blocks or empty spans"
	}
	for index := range ctl.lists {
		if (ctl.lists[index] != 0) != (ctl.listed>>uint(index)&1 != 0) {
			return "heap: the mask of lists does not match the lists"
		}
		before := space.Ref(0)
		for ref := ctl.lists[index]; ref != 0; ref = h.span(ref).Next {
			s := h.span(ref)
			if int(s.list) != index || bits.Len32(s.live) != index || s.Prev != before {
				return "heap: a span is on the wrong list"
			}
			before = ref
			listed++
		}
	}
	for g := uintptr(space.First); g < h.Frontier(); g += h.Granules(space.Ref(g)) {
		if classOf(uintptr(h.OwnerOf(h.Addr(space.Ref(g))))) == class && h.span(space.Ref(g)).list != listNone {
			listed--
		}
	}
	if listed != 0 {
		return "heap: the lists of a class hold other spans than those that say so"
	}
	return h.checkWaiting(class, ctl, info)
}

func (h *Heap) checkSpan(ref space.Ref, class uintptr) string {
	s := h.span(ref)
	set := 0
	for word := range s.free {
		set += bits.OnesCount64(s.free[word])
		if s.free[word] != 0 {
			if uint32(word) < s.hint {
				return "heap: a free block lies below the span's hint"
			}
			if uint32(word*wordBits+bits.Len64(s.free[word])) > s.fresh {
				return "heap: a block that was never out is marked as back"
			}
		}
	}
	switch {
	case uintptr(s.class) != class || s.blocks != classTable[class&63].blocks:
		return "heap: a span has the wrong class"
	case s.live != s.fresh-uint32(set) || s.fresh > s.blocks || s.zeroFrom > s.blocks:
		return "heap: a span's live blocks do not add up"
	case (s.live == s.blocks) != (s.list == listNone):
		return "heap: a span with free blocks is on no list, or a full one is"
	}
	return ""
}

// checkWaiting looks at the blocks in batches and caches: each is out of its span, and none is there twice.
func (h *Heap) checkWaiting(class uintptr, ctl *central, info *classInfo) string {
	waiting := uint64(0)
	for i := range ctl.depots {
		d := &ctl.depots[i]
		blocks := d.count * info.batch
		if d.count > info.depot || !h.areOut(class, d.room, uintptr(blocks)) {
			return "heap: a batch holds a block that is not out of its span"
		}
		waiting += uint64(blocks)
	}
	for c := h.caches; c != 0; c = c.header().next {
		b := c.classBin(class)
		empty := b.room == info.room+1
		if b.room > info.room+1 || empty != (b.newest == 0) ||
			!empty && *b.slot(uintptr(info.room)) != 0 {
			return "heap: a bin's stack is out of its bounds"
		}
		waiting += uint64(b.count())
		if empty {
			continue
		}
		newest := sys.Addr(uintptr(unsafe.Pointer(&b.newest)))
		if !h.areOut(class, newest, 1) || b.holds(sys.Addr(b.newest&^freshTag)) {
			return "heap: a cache's newest block is not out of its span, or is in the cache twice"
		}
		count := uintptr(b.count()) - 1
		if !h.areOut(class, sys.Addr(uintptr(unsafe.Pointer(b.slot(uintptr(b.room))))), count) {
			return "heap: a cache holds a block that is not out of its span"
		}
	}
	if waiting > ctl.out {
		return "heap: more blocks wait in caches and batches than are out of spans"
	}
	return ""
}

func (h *Heap) areOut(class uintptr, slots sys.Addr, count uintptr) bool {
	info := &classTable[class&63]
	for i := uintptr(0); i < count; i++ {
		block := sys.Addr((slots + sys.Addr(i)*slotBytes).Word() &^ freshTag)
		if classOf(uintptr(h.OwnerOf(block))) != class {
			return false
		}
		ref := h.spanOf(block, info)
		s := h.span(ref)
		offset := uint32(block - h.Addr(ref))
		index := offset / info.bytes
		if offset%info.bytes != 0 || index >= s.fresh ||
			s.free[uintptr(index/wordBits)&bitmapIndexMask]>>(index%wordBits)&1 != 0 {
			return false
		}
		if holds(slots, i, block) {
			return false
		}
	}
	return true
}
