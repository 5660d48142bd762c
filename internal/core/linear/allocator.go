package linear

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// Limits of an allocator.
const (
	// BlocksMost is the largest pool.
	BlocksMost = 64
	// GrowthMost is the most that a block may grow by.
	GrowthMost = 8
	// BlockLeastBytes is the smallest block: a granule of the space.
	BlockLeastBytes = space.GranuleBytes
	// BlockMostBytes is the largest block before it grows.
	BlockMostBytes = 1 << 30
	// AlignMost is the largest alignment: what every block has.
	AlignMost = space.GranuleBytes
	// WorkersMost is how many workers an allocator can have at one time.
	WorkersMost = 4096
	// RecordBytes is the least size of the records of a space that linear allocators share.
	RecordBytes = 64

	unit     = 16 // allocations begin and end at multiples of it
	unitMask = unit - 1
)

// Config is what an allocator is made from. Zero fields stand for the most that is allowed, or for the default.
type Config struct {
	BlockBytes uintptr // rounded up to a power of two of at least BlockLeastBytes
	Blocks     uint32  // most blocks, 1 to 64; 0: 64
	Growth     uint32  // 1 to 8; 0: 8
	MaxAge     uint32  // frames an allocation may live; 0: any number
	Diagnose   bool
}

// Allocator is a linear allocator. It lies outside of the Go heap, at a page, and holds no Go pointer.
//
//	field                       written by
//	const fields                New
//	frame                       NextFrame, atomically
//	free                        whoever takes or returns a block, by compare-and-swap; see block
//	counts                      anybody, atomically
//	workersLock, freeWorkers    AddWorker and DropWorker
//	shards                      whoever holds the shard's lock
//
// Equations (Check):
//
//	taken blocks = used = bits of free that are 0, of the first 'most' bits
//	reserved = sum of the blocks' bytes <= most * requestMost
type Allocator struct {
	space       sys.Addr // const, as all up to frame: the space that blocks are runs of
	blockBytes  uintptr
	requestMost uintptr // bytes of the largest block
	most        uint32  // blocks
	maxAge      uint32
	step        uint32 // frames a segment; see segment
	diagnose    uint32
	frame       uint32
	tag         uint32 // the user's; const once set
	_           [80]byte

	free     uint64
	reserved uint64
	used     uint32
	usedPeak uint32
	_        [104]byte

	full      uint64
	tooLarge  uint64
	overdue   uint64 // allocations that became older than maxAge, and late: those of them that were freed then
	late      uint64
	misuses   uint64
	overflows int64 // blocks of the native heap now

	workersLock uint32
	freeWorkers uint32 // index + 1 of the first one of the list
	workersMade uint32
	prepared    uint32 // const: workers used by index
	forkMine    uint64 // locks that the forking thread held before: how often, 7 bits each

	shards [shardCount]shard
	blocks [BlocksMost]block
}

const (
	workerBytes    = 128
	allocatorBytes = unsafe.Sizeof(Allocator{})
)

// segmentFrames is how many ages a block can tell apart; two of its segments hold what is younger or older.
const segmentFrames = segmentCount - 2

func roundUp(n, least uintptr) uintptr {
	power := least
	for power < n {
		power *= 2
	}
	return power
}

// New makes an allocator over a space, nil if the configuration is out of bounds or there is no memory.
func New(s *space.Space, c Config) *Allocator {
	if c.Blocks == 0 {
		c.Blocks = BlocksMost
	}
	if c.Growth == 0 {
		c.Growth = GrowthMost
	}
	if c.Blocks > BlocksMost || c.Growth > GrowthMost || c.BlockBytes > BlockMostBytes || c.MaxAge > 1<<20 {
		return nil
	}
	start := sys.Map(memoryBytes)
	if start == 0 {
		return nil
	}
	a := (*Allocator)(start.Pointer())
	a.space = sys.Addr(uintptr(unsafe.Pointer(s)))
	a.blockBytes = roundUp(c.BlockBytes, BlockLeastBytes)
	a.requestMost = a.blockBytes * uintptr(c.Growth)
	for a.requestMost&(a.requestMost-1) != 0 { // blocks are powers of two
		a.requestMost &= a.requestMost - 1
	}
	a.most = c.Blocks
	a.maxAge = c.MaxAge
	a.step = 1 << 30
	if c.MaxAge != 0 {
		a.step = 1 + (c.MaxAge-1)/segmentFrames
	}
	if c.Diagnose {
		a.diagnose = 1
	}
	atomic.StoreUint64(&a.free, ^uint64(0)>>(BlocksMost-a.most))
	return a
}

// The workers lie behind an allocator, each on cache lines of its own. The offset is a constant, so that it takes no
// load to find one.
const (
	workersOffset = (allocatorBytes + 4095) &^ 4095
	memoryBytes   = (workersOffset + WorkersMost*workerBytes + 65535) &^ 65535 // pages, however large those are
)

// NewClosed makes an allocator that has neither memory nor a space. Its workers, used by index, refuse every request
// and every address on the fast paths. It stands in for one that is destroyed.
func NewClosed() *Allocator {
	start := sys.Map(memoryBytes)
	if start == 0 {
		return nil
	}
	return (*Allocator)(start.Pointer())
}

// Destroy gives all memory back. Nobody may use the allocator any more. Blocks of the native heap are the caller's to
// free before: TakeOverflow.
func (a *Allocator) Destroy() {
	s := a.runs()
	for i := uint32(0); i < BlocksMost; i++ {
		b := a.block(i)
		if b.bytes != 0 {
			a.forget(b)
			s.GiveNow(b.ref)
			a.dropTags(b)
		}
	}
	for i := uint32(0); i < shardCount; i++ {
		a.shards[i&shardMask].drop()
	}
	sys.Release(a.addr(), memoryBytes)
}

func (a *Allocator) addr() sys.Addr { return sys.Addr(uintptr(unsafe.Pointer(a))) }

func (a *Allocator) runs() *space.Space { return (*space.Space)(a.space.Pointer()) }

func (a *Allocator) block(index uint32) *block { return &a.blocks[index&(BlocksMost-1)] }

// Frame is the number of the current frame.
func (a *Allocator) Frame() uint32 { return atomic.LoadUint32(&a.frame) }

// Tag is a number that the user keeps with the allocator.
func (a *Allocator) Tag() uint32 { return a.tag }

// SetTag sets it, before anybody else uses the allocator.
func (a *Allocator) SetTag(tag uint32) { a.tag = tag }

// Diagnoses reports whether every allocation is followed.
func (a *Allocator) Diagnoses() bool { return a.diagnose != 0 }

// RequestMost is the largest request that a block can serve.
func (a *Allocator) RequestMost() uintptr { return a.requestMost }

// Need is what a request takes of a block, 0 for one that no block could serve.
func (a *Allocator) Need(size uintptr) uintptr {
	if size == 0 {
		return unit
	}
	if size > a.requestMost {
		return 0
	}
	return (size + unitMask) &^ unitMask
}
