// Package memory stands in for modernc.org/memory, the allocator under modernc.org/libc and all programs that are
// transpiled onto it, modernc.org/sqlite first of all. Those programs stay as they are; their go.mod gets two lines:
//
//	replace modernc.org/memory => <Granary>/heap/modernc
//	replace granary => <Granary>
//
// It has everything that version 1.13.0 exports, under the same rules, with these differences:
//
//   - Each Allocator is a heap of package granary/heap: `GRANARY_DEBUG_ALLOC=1` finds double frees and writes past the
//     end, its blocks are in heap.WriteProfile, and memory goes back to the system a second after it is free.
//   - A wrong pointer is an error of Free and Realloc, and not a corrupted list.
//   - Allocator.Allocs is always kept, not only with the build tag memory.counters.
//   - Shared is an Allocator that any goroutine may use at any time, for a libc that takes no lock around it.
//
// Structures:
//
//	Allocator   a heap and its Cache, for callers that take turns, as libc's do
//	Shared      a heap, for callers that do not
//	known       the heaps of both, by which UsableSize finds the one that a block is on
package memory

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"granary/heap"
)

// known are the heaps that are open; copied to be changed.
var known struct {
	sync.Mutex
	heaps atomic.Pointer[[]*heap.Heap]
}

var options = []heap.Option{heap.WithName("modernc.org/memory")} // of the heaps; const but for tests

func openHeap() (*heap.Heap, error) {
	h, err := heap.New(options...)
	if err != nil {
		return nil, err
	}
	changeKnown(func(heaps []*heap.Heap) []*heap.Heap { return append(heaps, h) })
	return h, nil
}

func closeHeap(h *heap.Heap) error {
	changeKnown(func(heaps []*heap.Heap) []*heap.Heap {
		return slices.DeleteFunc(heaps, func(other *heap.Heap) bool { return other == h })
	})
	return h.Close()
}

func changeKnown(change func([]*heap.Heap) []*heap.Heap) {
	known.Lock()
	defer known.Unlock()
	var heaps []*heap.Heap
	if old := known.heaps.Load(); old != nil {
		heaps = slices.Clone(*old)
	}
	heaps = change(heaps)
	known.heaps.Store(&heaps)
}

// pointer is the pointer to an address outside of the Go heap.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

func mustBeSize(size int) {
	if size < 0 {
		panic(fmt.Sprintf("memory: a block cannot have %d bytes", size))
	}
}

// UintptrUsableSize is the bytes of a block that the program may use, at least what it asked for. It is 0 for address 0
// and whatever is not a block of an Allocator or a Shared.
func UintptrUsableSize(p uintptr) int {
	if heaps := known.heaps.Load(); heaps != nil && p != 0 {
		for _, h := range *heaps {
			if size := h.UsableSize(pointer(p)); size != 0 {
				return size
			}
		}
	}
	return 0
}

// UnsafeUsableSize is UintptrUsableSize.
func UnsafeUsableSize(p unsafe.Pointer) int { return UintptrUsableSize(uintptr(p)) }

// UsableSize is UintptrUsableSize of the block that p is the first byte of.
func UsableSize(p *byte) int { return UintptrUsableSize(uintptr(unsafe.Pointer(p))) }

// UsableSizeFor is the usable size of what malloc and calloc return for size bytes: exact up to 32 KiB, but for the few
// blocks that are samples of the profile, and debug mode, where a block has what was asked for. It panics if size is
// negative.
func UsableSizeFor(size int) int {
	mustBeSize(size)
	if size == 0 {
		return 0
	}
	return heap.GoodSize(size)
}
