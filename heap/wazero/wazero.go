// Package wazero gives the linear memories of WebAssembly modules, run by github.com/tetratelabs/wazero, memory of
// package heap: addresses for the most that a module may have are reserved, memory comes as it grows.
//
//	ctx = experimental.WithMemoryAllocator(ctx, wazero.New(heap.Default()))
//	module, err := runtime.InstantiateModule(ctx, compiled, config)
//
// So a memory grows without being copied, its bytes are no concern of the garbage collector, closing the module gives
// them back at once, and the heap's limit holds: memory.grow returns -1 to the module. Memories never move, so shared
// ones may lie here as well.
//
// Structures:
//
//	Allocator   a heap
//	memory      a Region of it
package wazero

import (
	"fmt"
	"math"

	"github.com/tetratelabs/wazero/experimental"

	"granary/heap"
)

// Allocator is an experimental.MemoryAllocator. Any number of modules may use it at any time.
type Allocator struct{ heap *heap.Heap }

var _ experimental.MemoryAllocator = Allocator{}

// New makes an Allocator of the heap.
func New(h *heap.Heap) Allocator { return Allocator{h} }

// Allocate reserves addresses for a memory of most bytes at most, and takes no memory yet. wazero's interface knows no
// errors here: it panics if there are none, as wazero itself would.
func (a Allocator) Allocate(_, most uint64) experimental.LinearMemory {
	if most > math.MaxInt {
		panic(fmt.Errorf("reserve %d bytes for a WebAssembly memory: %w", most, heap.ErrSize))
	}
	region, err := a.heap.Reserve(int(most))
	if err != nil {
		panic(fmt.Errorf("reserve %d bytes for a WebAssembly memory: %w", most, err))
	}
	return &memory{region: region}
}

// memory is a linear memory of a module.
type memory struct {
	region *heap.Region
	begun  bool // it has the size it began with
}

// Reallocate grows the memory in place. It returns nil, which the module sees as a memory.grow that failed, if there is
// no memory. A module that cannot even begin makes it panic with the reason: wazero does not expect nil then.
func (m *memory) Reallocate(size uint64) []byte {
	if size > math.MaxInt {
		return nil
	}
	b, err := m.region.Resize(int(size))
	switch {
	case err == nil:
		m.begun = true
		return b
	case m.begun:
		return nil
	}
	m.region.Free()
	panic(fmt.Errorf("commit %d bytes for a WebAssembly memory: %w", size, err))
}

// Free gives the memory back.
func (m *memory) Free() { m.region.Free() }
