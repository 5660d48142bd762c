package main

import (
	"math/bits"
	"sync"
	"unsafe"

	"modernc.org/memory"

	"granary/heap"
)

// peer is one way to have memory. open sets a task's alloc and free; each task has one goroutine.
type peer struct {
	name string
	open func(t *task) error
}

// task is what one goroutine does. References to live blocks are kept in the form that the peer's users would keep
// them in: as pointers on the Go heap, or as Refs.
type task struct {
	workload
	steps   int
	loop    func(t *task) // set by open
	prepare func()
	finish  func()
}

func (t *task) run() { t.loop(t) }

// loopOf makes the loops for one form of reference, so that all peers run the same code around their calls.
func loopOf[R any](t *task, alloc func(size int) R, free func(r R)) {
	live := make([]R, t.live)
	t.prepare = func() {
		for i := range live {
			if t.live > 1 {
				live[i] = alloc(t.size)
			}
		}
	}
	t.loop = func(t *task) {
		if t.live == 1 {
			for range t.steps {
				free(alloc(t.size))
			}
			return
		}
		random := uint32(1)
		for range t.steps {
			random = random*1664525 + 1013904223
			at := &live[uint64(random)*uint64(t.live)>>32]
			free(*at)
			*at = alloc(t.size)
		}
	}
	finish := t.finish
	t.finish = func() {
		if t.live > 1 {
			for _, r := range live {
				free(r)
			}
		}
		if finish != nil {
			finish()
		}
	}
}

var sink []byte

var peers = []peer{
	{"granary heap", func(t *task) error { return openHeap(t, sharedHeap) }},
	{"granary heap, huge pages", func(t *task) error { return openHeap(t, hugeHeap) }},
	{"granary Cache", openCache},
	{"make", func(t *task) error {
		loopOf(t, func(size int) []byte {
			b := make([]byte, size)
			b[0] = 1
			return b
		}, func(b []byte) {
			if len(b) == 0 {
				sink = b // keeps the compiler from leaving the slice on the stack
			}
		})
		return nil
	}},
	{"sync.Pool by power of two", openPool},
	{"modernc.org/memory, no lock", openModernc},
}

var (
	sharedHeap = sync.OnceValues(func() (*heap.Heap, error) { return heap.New() })
	hugeHeap   = sync.OnceValues(func() (*heap.Heap, error) { return heap.New(heap.WithHugePages(true)) })
)

func touch(p unsafe.Pointer, err error) heap.Ref[byte] {
	if err != nil {
		panic(err)
	}
	*(*byte)(p) = 1
	return heap.RefOf((*byte)(p))
}

func openHeap(t *task, of func() (*heap.Heap, error)) error {
	h, err := of()
	if err != nil {
		return err
	}
	loopOf(t, func(size int) heap.Ref[byte] { return touch(h.Alloc(size)) },
		func(r heap.Ref[byte]) { h.Free(unsafe.Pointer(r.Get())) })
	return nil
}

func openCache(t *task) error {
	h, err := sharedHeap()
	if err != nil {
		return err
	}
	c, err := h.NewCache()
	if err != nil {
		return err
	}
	t.finish = func() { c.Close() }
	loopOf(t, func(size int) heap.Ref[byte] { return touch(c.Alloc(size)) },
		func(r heap.Ref[byte]) { c.Free(unsafe.Pointer(r.Get())) })
	return nil
}

var pools [32]sync.Pool

func openPool(t *task) error {
	loopOf(t, func(size int) unsafe.Pointer {
		class := bits.Len(uint(size - 1))
		p, _ := pools[class].Get().(unsafe.Pointer)
		if p == nil {
			p = unsafe.Pointer(unsafe.SliceData(make([]byte, 1<<class)))
		}
		*(*byte)(p) = 1
		return p
	}, func(p unsafe.Pointer) { pools[bits.Len(uint(t.size-1))].Put(p) })
	return nil
}

func openModernc(t *task) error {
	var a memory.Allocator
	t.finish = func() { a.Close() }
	loopOf(t, func(size int) uintptr {
		p, err := a.UnsafeMalloc(size)
		if err != nil {
			panic(err)
		}
		*(*byte)(p) = 1
		return uintptr(p)
	}, func(p uintptr) { a.UintptrFree(p) })
	return nil
}

// holder is one way to keep many blocks alive.
type holder struct {
	name string
	make func(count int) (held any, release func(), err error)
}

type object struct{ A, B, C, D uint64 }

var holders = []holder{
	{"nothing", func(int) (any, func(), error) { return nil, func() {}, nil }},
	{"heap.Ref", func(count int) (any, func(), error) { return hold(count, heap.RefOf[object]) }},
	{"pointers to blocks of package heap", func(count int) (any, func(), error) {
		return hold(count, func(p *object) *object { return p })
	}},
	{"pointers to objects of new", func(count int) (any, func(), error) {
		held := make([]*object, count)
		for i := range held {
			held[i] = new(object)
		}
		return held, func() {}, nil
	}},
}

func hold[R any](count int, ref func(*object) R) (any, func(), error) {
	h, err := heap.New()
	if err != nil {
		return nil, nil, err
	}
	held := make([]R, count)
	for i := range held {
		p, err := heap.Make[object](h)
		if err != nil {
			return nil, nil, err
		}
		held[i] = ref(p)
	}
	return held, func() { h.Close() }, nil
}
