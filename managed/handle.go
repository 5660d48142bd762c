package managed

import (
	"sync"
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/gc"
	"granary/internal/core/sys"
)

// HandleKind is what a Handle does for its object.
type HandleKind uint8

// The kinds of handles.
const (
	// Normal handles keep their object alive.
	Normal HandleKind = iota
	// WeakShort handles do not; they refer to nothing once the object is not reachable otherwise.
	WeakShort
	// WeakLong handles do not either, but refer to the object until it will not be brought back by a finalizer.
	WeakLong
	// Pinned handles are Normal ones that also say that the address is known elsewhere. Nothing ever moves in this
	// heap; they are counted apart.
	Pinned
	handleKinds
)

// Handle refers to an object of a heap from Go memory, where the collector does not look: a root, or a weak reference.
// The zero Handle refers to nothing. Copies of a handle are the same handle; once one is freed the others refer to
// nothing.
//
// Handles may be used by any goroutine; what Get returns only by a mutator.
type Handle[T any] struct {
	heap *Heap
	ref  handleRef
}

// handleRef names an entry of a table.
//
//	bit   63 ... 32     31        30 ... 0
//	      generation    weak      index, plus 1; 0: none
type handleRef uint64

const (
	handleWeak       = 1 << 31
	handleGeneration = 32
	handlesPerChunk  = 4096
	handleChunksMost = 1 << 15
)

// handleTable holds the handles of a heap that are strong, or weak, in chunks outside of the Go heap.
//
//	chunk   handlesPerChunk addresses, which are what a collection sees; then as many states
//
// Of an entry that is free the state is the number of the next free one; its generation has risen.
type handleTable struct {
	mu     sync.Mutex
	chunks atomic.Pointer[[]sys.Addr]
	used   int      // entries that were ever used
	free   uint32   // the first free one, plus 1
	live   [4]int64 // by kind
}

type handleState struct {
	generation uint32
	next       uint32 // free: the next free one, plus 1
	kind       HandleKind
	inUse      bool
}

const handleChunkBytes = handlesPerChunk * (wordBytes + unsafe.Sizeof(handleState{}))

// entry is the address and the state of an entry, nil if there is none with this number.
func (t *handleTable) entry(index int) (*uintptr, *handleState) {
	chunks := t.chunks.Load()
	if chunks == nil || index/handlesPerChunk >= len(*chunks) {
		return nil, nil
	}
	chunk, at := (*chunks)[index/handlesPerChunk], uintptr(index%handlesPerChunk)
	word := chunk + sys.Addr(at*wordBytes)
	state := chunk + sys.Addr(handlesPerChunk*wordBytes+at*unsafe.Sizeof(handleState{}))
	return (*uintptr)(word.Pointer()), (*handleState)(state.Pointer())
}

// take makes an entry of a kind.
func (t *handleTable) take(kind HandleKind) (index int, word *uintptr, generation uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free != 0 {
		index = int(t.free) - 1
	} else if index = t.used; index%handlesPerChunk == 0 && !t.grow() {
		return 0, nil, 0
	}
	word, state := t.entry(index)
	if t.free != 0 {
		t.free = state.next
	} else {
		t.used++
	}
	state.kind, state.inUse = kind, true
	t.live[kind]++
	return index, word, state.generation
}

func (t *handleTable) grow() bool {
	var chunks []sys.Addr
	if old := t.chunks.Load(); old != nil {
		chunks = append(chunks, *old...)
	}
	if len(chunks) >= handleChunksMost {
		return false
	}
	chunk := takeChunk()
	if chunk == 0 {
		return false
	}
	chunks = append(chunks, chunk)
	t.chunks.Store(&chunks)
	return true
}

// give frees an entry, and reports whether it was in use with this generation.
func (t *handleTable) give(index int, generation uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	word, state := t.entry(index)
	if state == nil || !state.inUse || state.generation != generation {
		return false
	}
	t.live[state.kind]--
	*word = 0
	atomic.AddUint32(&state.generation, 1)
	state.inUse = false
	state.next, t.free = t.free, uint32(index)+1
	return true
}

// mark takes all handles as roots.
func (t *handleTable) mark(c *core.Heap) {
	chunks := t.chunks.Load()
	if chunks == nil {
		return
	}
	for i, chunk := range *chunks {
		count := min(t.used-i*handlesPerChunk, handlesPerChunk)
		c.MarkRange(chunk, chunk+sys.Addr(uintptr(count)*wordBytes))
	}
}

// lost is the first address of the table that is of no marked object, 0 if there is none.
func (t *handleTable) lost(c *core.Heap) sys.Addr {
	for i := range t.used {
		if word, _ := t.entry(i); !isFound(c, *word) {
			return sys.Addr(*word)
		}
	}
	return 0
}

func (t *handleTable) counts() [4]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}

// handleChunks are those of closed heaps, whose addresses are kept as handles may still be looked up.
var handleChunks struct {
	sync.Mutex
	free []sys.Addr
}

func takeChunk() sys.Addr {
	handleChunks.Lock()
	defer handleChunks.Unlock()
	if last := len(handleChunks.free) - 1; last >= 0 {
		chunk := handleChunks.free[last]
		handleChunks.free = handleChunks.free[:last]
		return chunk
	}
	return memory(handleChunkBytes)
}

// release gives the memory back, but not the addresses.
func (t *handleTable) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if chunks := t.chunks.Load(); chunks != nil {
		for _, chunk := range *chunks {
			if sys.Decommit(chunk, sys.AlignUp(handleChunkBytes, sys.PageBytes())) {
				handleChunks.Lock()
				handleChunks.free = append(handleChunks.free, chunk)
				handleChunks.Unlock()
			}
		}
	}
}

func (h *Heap) handleTable(weak bool) *handleTable {
	if weak {
		return &h.weak
	}
	return &h.handles
}

// Results of the core's calls for links.
const linkNoMemory = core.LinkNoMemory

// NewHandle makes a handle for an object of the mutator's heap; nil makes one that refers to nothing yet. Errors are
// ErrNoObject and ErrNoMemory. Free it when it is not needed any more.
func NewHandle[T any](m *Mutator, to *T, kind HandleKind) (Handle[T], error) {
	h := m.heap
	if kind >= handleKinds {
		return Handle[T]{}, ErrKind
	}
	object := addrOf(unsafe.Pointer(to))
	if object != 0 && h.core.BaseOf(object) == 0 {
		return Handle[T]{}, ErrNoObject
	}
	weak := kind == WeakShort || kind == WeakLong
	t := h.handleTable(weak)
	index, word, generation := t.take(kind)
	if word == nil {
		return Handle[T]{}, ErrNoMemory
	}
	*word = uintptr(object)
	if weak && object != 0 && h.core.RegisterLink(linkAt(word), object, kind == WeakLong) == linkNoMemory {
		t.give(index, generation)
		return Handle[T]{}, ErrNoMemory
	}
	ref := handleRef(generation)<<handleGeneration | handleRef(index+1)
	if weak {
		ref |= handleWeak
	}
	return Handle[T]{h, ref}, nil
}

func linkAt(word *uintptr) sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(word))) }

func (r handleRef) index() int         { return int(r&(handleWeak-1)) - 1 }
func (r handleRef) isWeak() bool       { return r&handleWeak != 0 }
func (r handleRef) generation() uint32 { return uint32(r >> handleGeneration) }

// find is the entry of a handle, nil if it was freed.
func (hd Handle[T]) find() (*uintptr, *handleState) {
	if hd.ref == 0 || !hd.heap.usable() {
		return nil, nil
	}
	word, state := hd.heap.handleTable(hd.ref.isWeak()).entry(hd.ref.index())
	if state == nil || atomic.LoadUint32(&state.generation) != hd.ref.generation() {
		return nil, nil
	}
	return word, state
}

// Get is the object, or nil. Only a mutator may use it, until its next safepoint; after that only if something keeps it
// alive.
func (hd Handle[T]) Get() *T {
	word, _ := hd.find()
	if word == nil {
		return nil
	}
	object := atomic.LoadUintptr(word)
	if hd.ref.isWeak() && object != 0 && barriers.Load() != 0 {
		overwritten(object) // now it is reachable again, so marking must know it
	}
	return pointer[T](object)
}

// Set makes the handle refer to another object of its heap, or to nothing. The caller is a mutator. Errors are
// ErrNoObject, also for a handle that was freed, and ErrNoMemory.
func (hd Handle[T]) Set(to *T) error {
	word, state := hd.find()
	object := addrOf(unsafe.Pointer(to))
	if word == nil || object != 0 && hd.heap.core.BaseOf(object) == 0 {
		return ErrNoObject
	}
	if hd.ref.isWeak() {
		c, link, long := hd.heap.core, linkAt(word), state.kind == WeakLong
		if object == 0 {
			c.UnregisterLink(link, long)
		} else if c.RegisterLink(link, object, long) == linkNoMemory {
			return ErrNoMemory
		}
	}
	atomic.StoreUintptr(word, uintptr(object))
	return nil
}

// Kind is what NewHandle was told.
func (hd Handle[T]) Kind() HandleKind {
	if _, state := hd.find(); state != nil {
		return state.kind
	}
	return Normal
}

// Free gives the handle up. It and its copies refer to nothing from then on. It reports whether it was in use.
func (hd Handle[T]) Free() bool {
	word, state := hd.find()
	if word == nil {
		return false
	}
	h := hd.heap
	if hd.ref.isWeak() {
		h.core.UnregisterLink(linkAt(word), state.kind == WeakLong)
	}
	return h.handleTable(hd.ref.isWeak()).give(hd.ref.index(), hd.ref.generation())
}
