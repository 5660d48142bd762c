package linear

import "sync/atomic"

// Stats are the figures of an allocator. Counts are since it was made unless they say 'now'.
type Stats struct {
	BlockBytes    uint64 // as rounded up
	RequestMost   uint64 // bytes of the largest block
	BlocksMost    uint64
	BlocksUsed    uint64 // now: taken from the pool
	BlocksPeak    uint64 // most at one time
	Reserved      uint64 // bytes of all blocks; they are never given back, so this is the peak
	ReservedMost  uint64 // what it can be at most
	Live          uint64 // allocations in blocks now
	OverflowsLive uint64 // blocks of the native heap now
	Full          uint64 // requests that found no block
	TooLarge      uint64 // requests larger than a block may be
	Overdue       uint64 // allocations that became older than the maximum age
	Late          uint64 // those of them that were freed
	Misuses       uint64 // frees that were refused
	Frame         uint64
}

// Read fills the figures; each is exact for some moment.
func (a *Allocator) Read(stats *Stats) {
	stats.BlockBytes, stats.RequestMost = uint64(a.blockBytes), uint64(a.requestMost)
	stats.BlocksMost, stats.ReservedMost = uint64(a.most), uint64(a.most)*uint64(a.requestMost)
	stats.BlocksUsed, stats.BlocksPeak = uint64(atomic.LoadUint32(&a.used)), uint64(atomic.LoadUint32(&a.usedPeak))
	stats.Reserved = atomic.LoadUint64(&a.reserved)
	stats.Full, stats.TooLarge = atomic.LoadUint64(&a.full), atomic.LoadUint64(&a.tooLarge)
	stats.Late, stats.Overdue = atomic.LoadUint64(&a.late), atomic.LoadUint64(&a.overdue)
	stats.Misuses = atomic.LoadUint64(&a.misuses)
	stats.OverflowsLive = uint64(atomic.LoadInt64(&a.overflows))
	stats.Frame = uint64(a.Frame())
	live := int64(0)
	for i := uint32(0); i < a.most; i++ {
		b := a.block(i)
		if atomic.LoadInt32(&b.open) == 0 {
			continue
		}
		for j := uint32(0); j < atomic.LoadUint32(&b.segments); j++ {
			if alive := a.alive(b, b.at(j)); alive > 0 {
				live += alive
			}
		}
	}
	stats.Live = uint64(live)
}

// Overdue is Stats.Overdue.
func (a *Allocator) Overdue() uint64 { return atomic.LoadUint64(&a.overdue) }
