package guard

import (
	"sync/atomic"
	"unsafe"

	"granary/internal/core/sys"
)

// FramesMost is how many frames of a stack are kept.
const FramesMost = 24

// stackTable keeps every stack once, behind a hash table of chains:
//
//	[buckets][stack, frames][stack, frames] ... used ... committed ... end of the region
//
// A stack's number is its distance from the region's start in words; 0 is the unknown stack. Stacks
// are found without a lock; lock is held while one is added. What is published never changes, but
// for the counts, which belong to the report of leaks.
type stackTable struct {
	region    sys.Addr // const; 0: all stacks are unknown
	used      uintptr  // bytes; under lock
	committed uintptr  // bytes; under lock
	lock      uint32
	unknown   stack // counts of blocks whose stack is unknown
}

// stack is followed by its frames, the innermost first.
type stack struct {
	next   uint32 // in the chain
	count  uint16 // of frames
	kind   uint16 // who allocates there, as the report of leaks says; 0: the program
	hash   uint64
	blocks uint64 // never freed
	bytes  uint64
}

const (
	stackRegionBytes  = 64 << 20
	stackGrowth       = 1 << 20
	stackBucketsCount = 1 << 16
	stackBucketsBytes = stackBucketsCount * 4
	stackHeadBytes    = 32
)

// init reserves the region. Without one the guard works, but knows no stacks.
func (t *stackTable) init() {
	region := sys.Reserve(stackRegionBytes)
	if region == 0 {
		return
	}
	if !sys.Commit(region, stackGrowth) {
		sys.Release(region, stackRegionBytes)
		return
	}
	t.used, t.committed = stackBucketsBytes, stackGrowth
	t.region = region
}

func (t *stackTable) at(id uint32) *stack {
	if id == 0 {
		return &t.unknown
	}
	return (*stack)((t.region + sys.Addr(uintptr(id)*sys.WordBytes)).Pointer())
}

func (t *stackTable) frames(id uint32) sys.Addr {
	return t.region + sys.Addr(uintptr(id)*sys.WordBytes) + stackHeadBytes
}

// intern is the number of a stack of up to FramesMost frames, 0 if it is not known and cannot be
// added.
func (t *stackTable) intern(frames sys.Addr, count uintptr) uint32 {
	if t.region == 0 || count == 0 || count > FramesMost {
		return 0
	}
	hash := hashFrames(frames, count)
	bucket := (*uint32)((t.region + sys.Addr(hash%stackBucketsCount*4)).Pointer())
	if id := t.find(atomic.LoadUint32(bucket), hash, frames, count); id != 0 {
		return id
	}
	if !sys.Lock(&t.lock) {
		return 0
	}
	// Somebody else may have added it meanwhile.
	id := t.find(atomic.LoadUint32(bucket), hash, frames, count)
	if id == 0 {
		id = t.addLocked(bucket, hash, frames, count)
	}
	sys.Unlock(&t.lock)
	return id
}

func (t *stackTable) find(id uint32, hash uint64, frames sys.Addr, count uintptr) uint32 {
	for ; id != 0; id = t.at(id).next {
		s := t.at(id)
		if s.hash == hash && uintptr(s.count) == count && sameFrames(t.frames(id), frames, count) {
			return id
		}
	}
	return 0
}

func (t *stackTable) addLocked(bucket *uint32, hash uint64, frames sys.Addr, count uintptr) uint32 {
	bytes := stackHeadBytes + count*sys.WordBytes
	if t.used+bytes > t.committed {
		if t.committed >= stackRegionBytes ||
			!sys.Commit(t.region+sys.Addr(t.committed), stackGrowth) {
			return 0
		}
		t.committed += stackGrowth
	}
	id := uint32(t.used / sys.WordBytes)
	s := t.at(id)
	s.next, s.count, s.hash = *bucket, uint16(count), hash
	sys.Copy(t.frames(id), frames, count*sys.WordBytes)
	t.used += bytes
	atomic.StoreUint32(bucket, id)
	return id
}

// after is the number of the stack that was added after this one (the first for 0), 0 if there is
// none.
func (t *stackTable) after(id uint32) uint32 {
	if t.region == 0 {
		return 0
	}
	at := uintptr(stackBucketsBytes)
	if id != 0 {
		at = uintptr(id)*sys.WordBytes + stackHeadBytes + uintptr(t.at(id).count)*sys.WordBytes
	}
	if at >= t.used {
		return 0
	}
	return uint32(at / sys.WordBytes)
}

func hashFrames(frames sys.Addr, count uintptr) uint64 {
	hash := uint64(count)
	for i := uintptr(0); i < count; i++ {
		hash = (hash ^ uint64((frames + sys.Addr(i*sys.WordBytes)).Word())) * hashFactor
		hash ^= hash >> 32
	}
	return hash
}

func sameFrames(a, b sys.Addr, count uintptr) bool {
	for i := sys.Addr(0); i < sys.Addr(count*sys.WordBytes); i += sys.WordBytes {
		if (a + i).Word() != (b + i).Word() {
			return false
		}
	}
	return true
}

// The head of a stack is what stackHeadBytes says, or this does not compile.
var _ [stackHeadBytes - unsafe.Sizeof(stack{})]byte
var _ [unsafe.Sizeof(stack{}) - stackHeadBytes]byte
