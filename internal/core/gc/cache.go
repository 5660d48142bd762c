package gc

import (
	"unsafe"

	"granary/internal/core/sys"
)

// Cache is the address of a cache: the chains of free objects from which one thread at a time, or whoever is pinned to
// a P, allocates. CacheBytes of zeros are a cache of nobody: Alloc finds nothing there, and all other calls take it, or
// 0, for no cache, and go through the heap's lock.
type Cache sys.Addr

// CacheBytes is the size of a cache.
const CacheBytes = cacheBytes

// cacheState is what lies there.
//
//	noHead  nobody: it is 0
//	busy    held by the cache's user while it refills or frees; by whoever stops all users (Hold)
//	heads   the cache's user
//
// A head is the address of the next free object, 0 for none. The first word of a free object says where the one behind
// it is:
//
//	0          right behind, at the address plus the size: a run of fresh objects needs no links
//	endOfChain nowhere
//	otherwise  there
//
// Objects of kinds that are cleared read as zero but for that word. A user may be stopped between any two instructions
// of pop and push, and its chains then walked: at each moment the head names a proper chain, which may still hold the
// object that is being taken.
type cacheState struct {
	noHead   sys.Addr
	next     Cache // of all caches of the heap; const
	nextFree Cache // of those without a user; under Heap.cachesLock
	busy     uint32
	used     uint32  // 1 while it has a user; under Heap.cachesLock
	freed    uintptr // bytes freed since a chain was last handed over; the user's
	_        [24]byte
	heads    [cachedKinds << classShift]sys.Addr
}

const (
	endOfChain = 1
	headsAt    = unsafe.Offsetof(cacheState{}.heads)
	cacheBytes = (unsafe.Sizeof(cacheState{}) + 63) &^ 63
)

func (c Cache) state() *cacheState { return (*cacheState)(sys.Addr(c).Pointer()) }

// isNone reports whether a caller has no cache.
func (c Cache) isNone() bool { return c == 0 || c.state().used == 0 }

// head is where the chain of a kind and class begins.
func (c Cache) head(slot uintptr) *sys.Addr {
	return (*sys.Addr)((sys.Addr(c) + sys.Addr(headsAt+slot*sys.WordBytes)).Pointer())
}

// slotOf is the number of the chain for a kind and class.
func slotOf(kind uint32, class uintptr) uintptr { return uintptr(kind)<<classShift | class }

// Alloc is the fast path of an allocation: an object of a kind for at least that many bytes from the cache's chain,
// zero if the kind is cleared, aligned to 16. It returns 0 if AllocSlow has to be called.
func (h *Heap) Alloc(c Cache, bytes uintptr, kind uint32) sys.Addr {
	if bytes >= SmallMaxBytes || kind >= cachedKinds {
		return 0
	}
	class := classFor((bytes + h.rounding) >> granuleShift)
	head := c.head(slotOf(kind, class))
	object := *head
	if object == 0 {
		return 0
	}
	unchain(head, object, granulesOf(class)<<granuleShift)
	return object
}

// Chain is where the chain of a kind and size is in every cache: for callers that allocate more than one object of
// them. The zero Chain is that of no objects.
type Chain struct{ at, bytes uint16 }

// ChainOf is the chain from which Alloc takes such objects; the zero Chain if it takes none.
func (h *Heap) ChainOf(bytes uintptr, kind uint32) Chain {
	if bytes >= SmallMaxBytes || kind >= cachedKinds {
		return Chain{}
	}
	class := classFor((bytes + h.rounding) >> granuleShift)
	return Chain{
		at:    uint16(headsAt + slotOf(kind, class)*sys.WordBytes),
		bytes: uint16(granulesOf(class) << granuleShift),
	}
}

// Take is Alloc of an object of a chain.
func (c Cache) Take(from Chain) (object sys.Addr) {
	head := (*sys.Addr)((sys.Addr(c) + sys.Addr(from.at)).Pointer())
	if object = *head; object != 0 {
		unchain(head, object, uintptr(from.bytes))
	}
	return object
}

// unchain takes the first object off a chain of objects of that many bytes.
func unchain(head *sys.Addr, object sys.Addr, bytes uintptr) {
	link := object.Word()
	if link == 0 {
		*head = object + sys.Addr(bytes)
		return
	}
	// The next allocation reads its first word, and the program all of it.
	sys.PrefetchInline(sys.Addr(link))
	*head = sys.Addr(link &^ endOfChain)
	sys.CompilerBarrier()
	object.SetWord(0)
}

// push puts an object, zero if its kind is cleared, in front of a chain.
func push(head *sys.Addr, object sys.Addr) {
	link := uintptr(*head)
	if link == 0 {
		link = endOfChain
	}
	object.SetWord(link)
	sys.CompilerBarrier()
	*head = object
}

// NewCache takes a cache for a thread. It returns 0 if there is no memory for one: that works, but slowly.
func (h *Heap) NewCache() Cache {
	if !sys.Lock(&h.cachesLock) {
		return 0
	}
	c := h.freeCaches
	if c != 0 {
		h.freeCaches = c.state().nextFree
	} else if memory := h.TakeMeta(cacheBytes); memory != 0 {
		c = Cache(memory)
		c.state().next = h.caches
		h.caches = c
	}
	if c != 0 {
		c.state().used = 1
	}
	sys.Unlock(&h.cachesLock)
	return c
}

// DropCache gives a cache back; its free objects serve again after the next collection. The caller must not use it any
// more.
func (h *Heap) DropCache(c Cache) {
	if c == 0 || !sys.Lock(&h.cachesLock) {
		return // a signal handler ends the thread inside of the core: the cache is lost
	}
	if !sys.Lock(&c.state().busy) {
		sys.Unlock(&h.cachesLock)
		return
	}
	h.dropChains(c)
	sys.Unlock(&c.state().busy)
	c.state().nextFree = h.freeCaches
	h.freeCaches = c
	sys.Unlock(&h.cachesLock)
}

// dropChains leaves nothing in a cache, and the cache without a user.
func (h *Heap) dropChains(c Cache) {
	for kind := uint32(0); kind < cachedKinds; kind++ {
		for class := uintptr(0); class < classCount; class++ {
			h.dropChain(c.head(slotOf(kind, class)), class)
		}
	}
	c.state().used, c.state().freed = 0, 0
}

// ForgetChains leaves nothing in the cache of a thread that fork did not copy. The thread went on allocating while
// pages were copied, one before the other: a chain's head may be older than what lies there, so no chain is followed.
// What was in them serves again after the next collection.
func (h *Heap) ForgetChains(c Cache) {
	for kind := uint32(0); kind < cachedKinds; kind++ {
		for class := uintptr(0); class < classCount; class++ {
			*c.head(slotOf(kind, class)) = 0
		}
	}
	c.state().used, c.state().freed = 0, 0
}

// Hold waits until no user of a cache is inside of a refill or a free, keeps them from going there, and takes the
// heap's lock: all that BeginCycle and the functions up to StartSweep need. A driver that stops threads wherever they
// are calls it before: they then stand outside of this package, but for Alloc, or at one of these locks. One whose
// threads stop only outside of it may call it afterwards. Unhold ends it. It returns false, and holds nothing, if this
// thread has one of the locks already.
func (h *Heap) Hold() bool {
	if !sys.Lock(&h.cachesLock) {
		return false
	}
	for c := h.caches; c != 0; c = c.state().next {
		if !sys.Lock(&c.state().busy) {
			h.letGo(c)
			return false
		}
	}
	if !sys.Lock(&h.lock) {
		h.letGo(0)
		return false
	}
	return true
}

// Unhold: see Hold.
func (h *Heap) Unhold() {
	sys.Unlock(&h.lock)
	h.letGo(0)
}

// letGo unlocks the caches up to one, and their list.
func (h *Heap) letGo(upTo Cache) {
	for c := h.caches; c != upTo; c = c.state().next {
		sys.Unlock(&c.state().busy)
	}
	sys.Unlock(&h.cachesLock)
}

// nextInChain is the object behind one in a chain, 0 for none.
func nextInChain(object sys.Addr, class uintptr) sys.Addr {
	link := object.Word()
	if link == 0 {
		return object + sys.Addr(granulesOf(class)<<granuleShift)
	}
	return sys.Addr(link &^ endOfChain)
}

// dropChain forgets a chain. Its links are cleared: a stale address of one of its objects then leads to that alone.
func (h *Heap) dropChain(head *sys.Addr, class uintptr) {
	for object := *head; object != 0; {
		next := nextInChain(object, class)
		object.SetWord(0)
		object = next
	}
	*head = 0
}

// settleChains is what a collection begins with, while the world stands. Objects in the chains of caches are marked, as
// if in use, but not looked into: their users may have been stopped amid an allocation. What is longer than a refill
// makes it is cut off. The chains that no cache has are dropped.
func (h *Heap) settleChains() {
	kinds := h.kindCount
	if kinds > cachedKinds {
		kinds = cachedKinds
	}
	for c := h.caches; c != 0; c = c.state().next {
		for kind := uint32(0); kind < kinds; kind++ {
			for class := uintptr(0); class < classCount; class++ {
				if object := *c.head(slotOf(kind, class)); object != 0 {
					h.markChain(object, class)
				}
			}
		}
	}
	for kind := uint32(0); kind < h.kindCount; kind++ {
		for class := uintptr(0); class < classCount; class++ {
			shared := h.sharedChain(kind, class)
			h.dropChain(&shared.head, class)
			shared.count = 0
		}
	}
}

func (h *Heap) markChain(object sys.Addr, class uintptr) {
	most := refillObjects(class)
	if most < 2 {
		most = 2 // the first object's link belongs to a user who may be taking it
	}
	for {
		h.blacken(object)
		h.recordRoot(object, rootMarkOnly)
		next := nextInChain(object, class)
		if most--; most == 0 && next != 0 {
			object.SetWord(endOfChain)
			h.dropChain(&next, class)
		}
		if next == 0 {
			return
		}
		object = next
	}
}

// blacken marks a free object of a small block, not to be looked into. Others may mark in that block meanwhile (Shade).
func (h *Heap) blacken(object sys.Addr) {
	offset := uintptr(object - h.Base)
	granule := offset & (BlockBytes - 1) >> granuleShift
	hd := h.header(blockRef(offset >> blockShift))
	h.freshen(hd)
	orShared(&hd.marks[granule>>6&3], 1<<(granule&63))
}
