//go:build gc

package objecttest

import (
	"sync"

	"granary/internal/core/object"
	"granary/internal/core/sys"
)

// memory is the blocks that are in use, with their bytes: each a mapping of its own, which is gone when it is freed.
var memory struct {
	sync.Mutex
	blocks map[sys.Addr]uintptr
	after  int // allocations that succeed before others fail; below 0: all succeed
	stacks uint32
}

func init() {
	memory.blocks = map[sys.Addr]uintptr{}
	memory.after = -1
	object.AllocateHandler = allocateBlock
	object.FreeHandler = freeBlock
	object.StackHandler = func() uint32 {
		memory.Lock()
		defer memory.Unlock()
		memory.stacks++
		return memory.stacks
	}
}

func allocateBlock(bytes uintptr) sys.Addr {
	memory.Lock()
	defer memory.Unlock()
	if memory.after == 0 {
		return 0
	}
	if memory.after > 0 {
		memory.after--
	}
	bytes = sys.AlignUp(bytes, sys.PageBytes())
	block := sys.Reserve(bytes)
	if block == 0 || !sys.Commit(block, bytes) {
		return 0
	}
	memory.blocks[block] = bytes
	return block
}

func freeBlock(block sys.Addr) {
	memory.Lock()
	defer memory.Unlock()
	if memory.blocks[block] == 0 {
		panic("a block was freed that is not in use")
	}
	sys.Release(block, memory.blocks[block])
	delete(memory.blocks, block)
}

// blocksInUse is how many blocks are in use; countsBlocks says that it knows.
func blocksInUse() int {
	memory.Lock()
	defer memory.Unlock()
	return len(memory.blocks)
}

const countsBlocks = true

// failAllocations has all allocations but the next ones fail; below 0 none.
func failAllocations(after int) {
	memory.Lock()
	memory.after = after
	memory.Unlock()
}

func prepare() {}

func testBlock() sys.Addr { return allocateBlock(40) }
