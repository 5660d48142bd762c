package heap

import (
	"sync/atomic"

	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// This file: the normal tier, requests above SmallMaxBytes. Each is a run of the space of its own. What is larger than
// normalMaxBytes, or finds the range full, the system allocator serves, as it does all of the tier if the user says so
// (ModeNormalSystem). What the system allocator has no memory for may be a run of any size (takeFreed): under a limit
// of the address space, what was freed in the range is all that is left.
//
// A freed run keeps its memory until the release sweep, or the next request takes it: a program that frees and
// allocates buffers does not pay for fresh pages each time, which is most of what large blocks cost. So that this costs
// little memory, large runs go back to the system at once when that would take the heap far beyond its peak of use.

const (
	normalMaxBytes   = 64 << 20 // above, a mapping's own cost does not count
	normalMaxAlign   = space.BaseAlign
	requestMaxBytes  = ^uintptr(0) >> 2 // no address space has more; sums with it do not overflow
	releaseNowBytes  = 1 << 20          // runs of this size may be released as they are freed,
	keptDirtyBytes   = 16 << 20         // if all memory held is more by this and
	keptDirtyPortion = 4                // by this part than the most that was ever used
	colourStep       = 64               // blocks do not all start at the same place of a page,
	colourMask       = 0xfc0            // so that not all compete for the same lines of the processor's caches
	usableUnit       = 4096             // the usable size of a block ends at such a boundary

	classNormal      = 0xff // span.class of a run of the normal tier
	classNormalFreed = 0xfe // and after it was freed
)

// normalCounts are the figures of one thread's normal-tier traffic.
type normalCounts struct {
	mallocs uint64
	frees   uint64
	bytes   uint64 // asked for
	live    int64  // bytes; negative for a thread that frees what others allocated
}

// mayGrow reports whether the limit leaves room for so many bytes more. What is free but has not gone back to the
// system does not count; if it stands in the way it goes back now. c is the cache of the thread that asks.
func (h *Heap) mayGrow(c Cache, bytes uintptr) bool {
	if h.limit == 0 {
		return true
	}
	if !h.fitsLimit(bytes) {
		h.sortWaiting(c) // blocks that wait hold spans that may be empty otherwise
		if !h.fitsLimit(bytes) {
			return false
		}
	}
	if h.systemBytes()+h.HeldBytes() > h.limit-bytes {
		h.releaseRuns(sys.Now(), 0)
	}
	return true
}

// overLimit is the answer to a request that the limit has no room for.
func (h *Heap) overLimit() sys.Addr {
	atomic.AddUint64(&h.limitFailures, 1)
	return h.tooLarge()
}

// fitsLimit compares what is used, and bytes more, with the limit.
func (h *Heap) fitsLimit(bytes uintptr) bool {
	return bytes <= h.limit && h.systemBytes()+h.UsedBytes() <= h.limit-bytes
}

// systemBytes is what the system allocator's blocks have; it is counted under a limit only.
func (h *Heap) systemBytes() uintptr { return uintptr(atomic.LoadInt64(&h.systemLive)) }

// count books normal-tier traffic on the thread's cache, or for threads without one in one place.
func (h *Heap) count(c Cache, mallocs, frees, bytes uint64, live int64) {
	if h.without(c) {
		atomic.AddUint64(&h.lost.mallocs, mallocs)
		atomic.AddUint64(&h.lost.frees, frees)
		atomic.AddUint64(&h.lost.bytes, bytes)
		atomic.AddInt64(&h.lost.live, live)
		return
	}
	n := &c.header().normal
	n.mallocs += mallocs
	n.frees += frees
	n.bytes += bytes
	n.live += live
}

// normalRun is the record of a run of the normal tier. It belongs to whoever has the block.
type normalRun struct {
	space.Run
	class  uint8 // classNormal, in the place of span.class
	_      [3]byte
	offset uint32  // of the block in the run
	bytes  uintptr // usable: what was asked for, up to the end of a page
}

func (h *Heap) normalRun(ref space.Ref) *normalRun { return (*normalRun)(h.Record(ref).Pointer()) }

// takeNormal takes a run for a block of size bytes at a multiple of alignment, or returns 0.
func (h *Heap) takeNormal(size, alignment uintptr) space.Ref {
	if h.mode&ModeNormalSystem != 0 || size > normalMaxBytes || alignment > normalMaxAlign {
		return 0
	}
	ref := h.Take(runShape(size, alignment))
	h.startNormal(ref, size, alignment)
	return ref
}

// takeFreed is takeNormal for a block of any size that the system allocator has no memory for. It takes what was freed
// only, of which as much as can be comes together first: the range never makes room for what the system refused.
func (h *Heap) takeFreed(c Cache, size, alignment uintptr) space.Ref {
	if h.mode&ModeNormalSystem != 0 || size > h.Committed()<<space.GranuleShift || alignment > normalMaxAlign {
		return 0
	}
	h.sortWaiting(c)
	h.releaseRuns(sys.Now(), 0)
	ref, _ := h.TakeFree(runShape(size, alignment))
	h.startNormal(ref, size, alignment)
	return ref
}

// runShape is how many granules a block needs, and at a multiple of how many.
func runShape(size, alignment uintptr) (granules, align uint32) {
	granules = uint32((size + space.GranuleBytes - 1) >> space.GranuleShift)
	align = uint32(alignment >> space.GranuleShift)
	if granules == 0 {
		granules = 1
	}
	if align == 0 {
		align = 1
	}
	return granules, align
}

// startNormal places a block in a run that was taken for it, if one was.
func (h *Heap) startNormal(ref space.Ref, size, alignment uintptr) {
	if ref == 0 {
		return
	}
	s := h.normalRun(ref)
	s.class, s.offset = classNormal, 0
	if alignment <= 16 {
		colour := atomic.AddUint32(&h.colour, colourStep) & colourMask
		if size+uintptr(colour) <= h.Bytes(ref) {
			s.offset = colour
		}
	}
	if size == 0 {
		size = 1
	}
	s.setUsable(size)
}

// normalBlock is the run of a block of the normal tier, 0 for any other address.
func (h *Heap) normalBlock(block sys.Addr) space.Ref {
	granule := h.Granule(block)
	if granule >= h.Committed() {
		return 0
	}
	if !h.normalAt(space.Ref(granule), block, classNormal) {
		return 0
	}
	return space.Ref(granule)
}

// normalAt reports whether the block of the normal tier that is or was in a run, as class says, begins at an address.
func (h *Heap) normalAt(ref space.Ref, block sys.Addr, class uint8) bool {
	s := h.normalRun(ref)
	return s.class == class && h.Addr(ref)+sys.Addr(s.offset) == block
}

// setUsable sets the usable size of a block for which size bytes are asked.
func (s *normalRun) setUsable(size uintptr) {
	s.bytes = sys.AlignUp(uintptr(s.offset)+size, usableUnit) - uintptr(s.offset)
}

func (h *Heap) normalMalloc(c Cache, size uintptr) sys.Addr { return h.normalAligned(c, 16, size) }

func (h *Heap) normalCalloc(c Cache, size uintptr) sys.Addr {
	if !h.mayGrow(c, size) {
		return h.overLimit()
	}
	ref := h.takeNormal(size, 16)
	if ref == 0 {
		if block := systemCalloc(size); block != 0 {
			return h.countSystem(c, block, size)
		}
		if ref = h.takeFreed(c, size, 16); ref == 0 {
			return 0
		}
	}
	h.ClearDirty(ref, uintptr(h.normalRun(ref).offset)+size)
	return h.countNormal(c, ref, size)
}

func (h *Heap) normalAligned(c Cache, alignment, size uintptr) sys.Addr {
	if !h.mayGrow(c, size) {
		return h.overLimit()
	}
	ref := h.takeNormal(size, alignment)
	if ref == 0 {
		if block := systemAllocate(alignment, size); block != 0 {
			return h.countSystem(c, block, size)
		}
		if ref = h.takeFreed(c, size, alignment); ref == 0 {
			return 0
		}
	}
	return h.countNormal(c, ref, size)
}

// countNormal books a block of the range. It returns its address.
func (h *Heap) countNormal(c Cache, ref space.Ref, size uintptr) sys.Addr {
	s := h.normalRun(ref)
	h.count(c, 1, 0, uint64(size), int64(s.bytes))
	return h.Addr(ref) + sys.Addr(s.offset)
}

func systemAllocate(alignment, size uintptr) sys.Addr {
	if alignment <= 16 {
		return systemMalloc(size)
	}
	return systemAligned(alignment, size)
}

// countSystem books a block that the system allocator gave for the normal tier. It returns its address.
func (h *Heap) countSystem(c Cache, block sys.Addr, size uintptr) sys.Addr {
	h.count(c, 1, 0, uint64(size), int64(systemUsableSize(block)))
	h.countLive(int64(systemUsableSize(block)))
	return block
}

// countLive keeps the bytes of the system allocator's blocks, if there is a limit that they count against.
func (h *Heap) countLive(bytes int64) {
	if h.limit != 0 {
		atomic.AddInt64(&h.systemLive, bytes)
	}
}

// normalFree takes back a block of the normal tier's runs.
func (h *Heap) normalFree(c Cache, ref space.Ref) {
	s := h.normalRun(ref)
	h.count(c, 0, 1, 0, -int64(s.bytes))
	s.class = classNormalFreed
	given := false
	peak := h.PeakUsedBytes()
	if h.Bytes(ref) >= releaseNowBytes && h.HeldBytes() > peak+peak/keptDirtyPortion+keptDirtyBytes {
		given = h.GiveNow(ref)
	} else {
		given = h.Give(ref)
	}
	if !given {
		s.class = classNormal // a signal handler interrupted the space: the block stays allocated for good
	}
}

// foreignFree passes a block on to the system allocator.
func (h *Heap) foreignFree(c Cache, block sys.Addr) {
	if h.mode&ModeSystem == 0 {
		h.count(c, 0, 1, 0, -int64(systemUsableSize(block)))
		h.countLive(-int64(systemUsableSize(block)))
	}
	systemFree(block)
}

// normalRealloc resizes a block of the normal tier to a size above the classes, in place if it can: within its run,
// or into free granules behind it. A block that shrinks to half gives the rest back.
func (h *Heap) normalRealloc(c Cache, ref space.Ref, size uintptr) sys.Addr {
	s := h.normalRun(ref)
	block := h.Addr(ref) + sys.Addr(s.offset)
	have, before := h.Bytes(ref), s.bytes
	want := sys.AlignUp(uintptr(s.offset)+size, space.GranuleBytes)
	fits := want <= have
	if !fits && size <= normalMaxBytes && h.mayGrow(c, want-have) {
		fits = h.Extend(ref, uint32((want-have)>>space.GranuleShift))
	}
	if fits {
		if want <= have/2 {
			h.Shrink(ref, uint32(want>>space.GranuleShift))
		}
		s.setUsable(size)
		h.count(c, 0, 0, 0, int64(s.bytes)-int64(before))
		return block
	}
	to := h.normalMalloc(c, size)
	if to != 0 {
		sys.Copy(to, block, before)
		h.normalFree(c, ref)
	}
	return to
}

// foreignRealloc resizes a block of the system allocator to a size above the classes.
func (h *Heap) foreignRealloc(c Cache, block sys.Addr, size uintptr) sys.Addr {
	before := systemUsableSize(block)
	if size > before && !h.mayGrow(c, size-before) {
		return h.overLimit()
	}
	result := systemRealloc(block, size)
	if result == 0 {
		return h.leaveSystem(c, block, before, size)
	}
	change := int64(systemUsableSize(result)) - int64(before)
	h.count(c, 0, 0, 0, change)
	h.countLive(change)
	return result
}

// leaveSystem moves a block into freed memory of the range, as the system allocator has none for its new size.
func (h *Heap) leaveSystem(c Cache, block sys.Addr, before, size uintptr) sys.Addr {
	ref := h.takeFreed(c, size, 16)
	if ref == 0 {
		return 0
	}
	to := h.countNormal(c, ref, size)
	if before > size {
		before = size
	}
	sys.Copy(to, block, before)
	h.foreignFree(c, block)
	return to
}

// overflowMalloc serves a small request for which there is no span: the range is full, the system refuses memory,
// the limit is reached, or a signal handler interrupted the core.
func (h *Heap) overflowMalloc(size uintptr) sys.Addr {
	if !h.mayGrow(h.noCache, size) {
		return h.overLimit()
	}
	atomic.AddUint64(&h.overflows, 1)
	block := systemMalloc(size)
	if block != 0 {
		h.count(h.noCache, 0, 0, 0, int64(systemUsableSize(block)))
		h.countLive(int64(systemUsableSize(block)))
	}
	return block
}
