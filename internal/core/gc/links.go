package gc

import "granary/internal/core/sys"

// This file: weak links. A link is a word anywhere that refers to an object without keeping it alive; what the word
// holds is its user's affair (nothing that marking would take for an address), but the collector sets it to zero. A
// short link is cleared when its object is no longer reachable, a long one when it will not come back either, that is
// after its finalizer ran and forgot it.
//
// An entry of a table of links is the link's address, and the object's. 0 for the object: it is none of this heap's,
// and lives for ever.

const linkShift = 4

// Results of the calls that change links, with the values that clients of bdwgc know.
const (
	LinkDone      = 0
	LinkDuplicate = 1 // the link was registered before; it belongs to the new object now
	LinkNoMemory  = 2
	LinkUnknown   = 4 // no such link is registered
)

func (h *Heap) links(long bool) *table {
	if long {
		return &h.final.long
	}
	return &h.final.short
}

// RegisterLink has the word at link, a multiple of 8, cleared when the object at obj dies. obj may be an address inside
// of the object.
func (h *Heap) RegisterLink(link, obj sys.Addr, long bool) int {
	if !sys.Lock(&h.lock) {
		return LinkNoMemory
	}
	links, result := h.links(long), LinkDone
	e := links.find(uintptr(link))
	if e != 0 {
		result = LinkDuplicate
	} else if e = h.insertEntry(links, linkShift, uintptr(link)); e == 0 {
		result = LinkNoMemory
	}
	if e != 0 {
		(e + sys.WordBytes).SetWord(uintptr(h.BaseOf(obj)))
	}
	sys.Unlock(&h.lock)
	return result
}

// UnregisterLink forgets a link, and reports whether there was one.
func (h *Heap) UnregisterLink(link sys.Addr, long bool) bool {
	if !sys.Lock(&h.lock) {
		return false
	}
	links := h.links(long)
	e := links.find(uintptr(link))
	if e != 0 {
		links.remove(e)
		h.trimTable(links)
	}
	sys.Unlock(&h.lock)
	return e != 0
}

// MoveLink makes the word at to the link instead of that at from. It needs no memory.
func (h *Heap) MoveLink(from, to sys.Addr, long bool) int {
	if !sys.Lock(&h.lock) {
		return LinkNoMemory
	}
	links, result := h.links(long), LinkDone
	e := links.find(uintptr(from))
	if e == 0 {
		result = LinkUnknown
	} else if from != to && links.find(uintptr(to)) != 0 {
		result = LinkDuplicate
	} else {
		obj := (e + sys.WordBytes).Word()
		links.remove(e)
		(links.put(uintptr(to)) + sys.WordBytes).SetWord(obj)
	}
	sys.Unlock(&h.lock)
	return result
}

// clearLinks clears the links whose object is not marked. The world stands, and nothing is left to be marked.
func (h *Heap) clearLinks(links *table) {
	for slot := uintptr(0); slot < links.slots(); {
		e := links.entry(slot)
		link, obj := sys.Addr(e.Word()), sys.Addr((e + sys.WordBytes).Word())
		if link == 0 || obj == 0 || h.fate(obj) == fateAlive {
			slot++
			continue
		}
		link.SetWord(0)
		h.final.clearedLinks++
		links.remove(e)
	}
}

// dropLinks forgets the links that lie in objects which are not marked.
func (h *Heap) dropLinks(links *table) {
	for slot := uintptr(0); slot < links.slots(); {
		e := links.entry(slot)
		link := sys.Addr(e.Word())
		if link == 0 || !h.Owns(link) || h.fate(h.BaseOf(link)) != fateDead {
			slot++
			continue
		}
		links.remove(e)
	}
	h.trimTable(links)
}
