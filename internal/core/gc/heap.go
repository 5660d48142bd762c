package gc

import (
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

const (
	// BlockBytes is the size of a heap block.
	BlockBytes = 4096
	blockShift = 12
	// GranuleBytes is the unit of sizes and mark bits of this package, not the space's.
	GranuleBytes     = 16
	granuleShift     = 4
	granulesPerBlock = BlockBytes / GranuleBytes

	// SmallMaxBytes is the size of the largest objects that share a block.
	SmallMaxBytes    = 2048
	smallMaxGranules = SmallMaxBytes / GranuleBytes

	blocksPerSpaceGranule = space.GranuleBytes / BlockBytes
)

// Modes of a heap, set before its first use.
const (
	// ModeInterior makes addresses inside of an object found in the heap keep it alive, and adds the extra byte.
	ModeInterior = 1 << iota
	// ModeVerify runs the plain reference marker behind every collection and compares.
	ModeVerify
	// ModeKeepBlocks switches the release of free blocks off.
	ModeKeepBlocks
)

// Needs: why an allocation has no answer yet.
const (
	NeedNothing = iota
	NeedCollect // the driver should collect and ask again
	NeedMemory  // the heap may not grow, or the system refuses
)

// blockRef names a block by its number from the base of the range. 0 is none: the first blocks are the space's.
type blockRef uint32

// Heap is a managed heap. It must lie outside of the Go heap or in static storage, zeroed; it holds no Go pointer.
//
//	field                      written by
//	const fields               Init
//	lock's fields              whoever holds lock
//	marking's fields           the collection's driver while the world stands; workers by atomics
//
// Equations (Check):
//
//	blocks taken of the space (counts.blocks) = small + large + free
//	the index of every block of an object or small block names its first block; that of free blocks is 0
//	free.blocks, free.dirty = blocks in the lists of free runs; no two free runs are neighbours
//	outside of a collection no bit is grey, and a block waits to be swept (is in a list of reclaim) if and only if it
//	is a small one that is sorted and whose epoch is not marking.epoch; counts.unswept counts them
//	outside of a collection the marks of a sorted block are not stale
//	an object in a chain lies in a block that need not be swept, or is marked; it is in no other chain
type Heap struct {
	space.Space // first: finding an object reads its base

	index    sys.Addr // const: of the block numbered 0
	headers  sys.Addr // const
	dirt     sys.Addr // const: a bit a block, 1 if it need not read as zero; says something of free blocks only
	rooted   sys.Addr // const: a bit a block, 1 if uncollectable objects begin there, or once did; under lock
	mode     uint32   // const
	rounding uintptr  // const: what the fast path adds to a request before it counts granules
	limit    uintptr  // bytes of blocks, 0: none
	highest  uintptr  // bytes from the base up to the end of the highest block in use; grows only; atomic

	tables     sys.Addr // const: what Destroy needs
	tableBytes uintptr
	tablesUpTo uintptr // blocks whose index and header are committed; under lock

	nextLook uint64 // of the release of free blocks; under lock

	lock       uint32
	cachesLock uint32 // taken before the lock of any cache, and those before lock

	free       freeLists
	sorting    sorting
	reclaim    [kindMost][classCount]blockRef    // blocks to be swept, by kind and class; under lock
	shared     [kindMost][classCount]sharedChain // chains that no cache has; under lock
	kinds      [kindMost]kindInfo                // grows only
	kindCount  uint32
	caches     Cache                 // all there ever were, linked; under cachesLock
	freeCaches Cache                 // those without a user
	displaced  [BlockBytes / 8]uint8 // offsets at which an address keeps an object alive without ModeInterior: a bit each

	pace    pace
	marking marking
	counts  counts
	final   finalization
	layouts layouts
}
