package heap

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"granary/internal/core/sys"
)

// sampler keeps the stacks of a few blocks: one each so many bytes, at distances that are random, so that every byte
// has the same chance. Those blocks lie in runs of their own, whatever their size: their free then takes the slow
// path by itself, and the fast one needs no look at whether a block was sampled.
//
// Equation: what the live samples of a site stand for is what was allocated there without what was freed.
type sampler struct {
	rate int // const

	mu    sync.Mutex
	live  map[sys.Addr]*sample
	sites map[siteKey]*site
}

const (
	sampleFrames = 32
	sitesMost    = 1 << 14 // beyond, stacks are counted in one site without frames
)

type siteKey [sampleFrames]uintptr

// site is a stack, with an estimate of what was allocated there. All is under sampler.mu.
type site struct {
	allocBlocks, allocBytes float64
	freeBlocks, freeBytes   float64
}

// sample is a block that is alive.
type sample struct {
	site      *site
	size      uintptr
	standsFor float64 // blocks of its size, itself included
}

// distance is how far it is to the next sample of a P or of a Cache. Its mean is the sampler's rate, but longer where
// so many bytes are handed out that samples would be closer than leastInterval: taking one costs a microsecond or more.
// The mean is chosen before the distance begins, from what happened before, so the estimates stay right.
type distance struct {
	left  int64  // bytes to be handed out until the next sample
	mean  int64  // of the distance; 0 before the first one
	since uint64 // when it began, nanoseconds
}

const (
	leastInterval = 500_000 // nanoseconds
	longest       = 32      // rates; so what follows a busy time is not left out for long
)

// take counts an allocation, or returns false, and counts nothing, if the distance ends with it.
func (d *distance) take(size int) bool {
	if d.left < int64(size) {
		return false
	}
	d.left -= int64(size)
	return true
}

// restart begins the next distance, by a draw from the exponential distribution with mean 1. It returns the mean of the
// one that ended, 0 if there was none. Rates that ask for more samples than the default does are kept to.
func (d *distance) restart(rate int, draw float64, now uint64) (ended int64) {
	ended = d.mean
	took := now - d.since
	switch {
	case ended == 0 || rate < DefaultProfileRate || took > 100*leastInterval:
		d.mean = int64(rate)
	case took < leastInterval:
		d.mean = min(2*ended, longest*int64(rate))
	case took > 4*leastInterval:
		d.mean = max(ended/2, int64(rate))
	}
	d.left, d.since = int64(min(draw*float64(d.mean), 1<<50)), now
	return ended
}

func newSampler(rate int) *sampler {
	return &sampler{rate: rate, live: map[sys.Addr]*sample{}, sites: map[siteKey]*site{}}
}

// isDue decides about a block that no distance counts: the mean is the rate, or 0 if it is not to be sampled.
func (s *sampler) isDue(size int) (mean int64) {
	if rand.ExpFloat64()*float64(s.rate) < float64(size) {
		return int64(s.rate)
	}
	return 0
}

// add notes a block, sampled with that mean distance, with the stack of the caller. A block of a size is sampled with
// the probability 1-e^(-size/mean), so it stands for the inverse of that.
func (s *sampler) add(block sys.Addr, size uintptr, mean int64) {
	standsFor := 1 / -math.Expm1(-float64(max(size, 1))/float64(mean))
	var key siteKey
	runtime.Callers(2, key[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.sites[key]
	if at == nil {
		if len(s.sites) >= sitesMost {
			key = siteKey{}
			at = s.sites[key]
		}
		if at == nil {
			at = &site{}
			s.sites[key] = at
		}
	}
	at.allocBlocks += standsFor
	at.allocBytes += standsFor * float64(size)
	s.live[block] = &sample{at, size, standsFor}
}

// remove notes that a block is free, and returns its sample if it was one.
func (s *sampler) remove(block sys.Addr) *sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.live[block]
	if known != nil {
		known.site.freeBlocks += known.standsFor
		known.site.freeBytes += known.standsFor * float64(known.size)
		delete(s.live, block)
	}
	return known
}

// restore takes remove back, for a block that stayed where it is and has another size now.
func (s *sampler) restore(block sys.Addr, known *sample, size uintptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known.site.freeBlocks -= known.standsFor
	known.site.freeBytes -= known.standsFor * float64(known.size)
	known.site.allocBytes += known.standsFor * (float64(size) - float64(known.size))
	known.size = size
	s.live[block] = known
}

// siteCopy is a site of a snapshot.
type siteCopy struct {
	stack []uintptr
	site
}

func (s *sampler) snapshot() []siteCopy {
	s.mu.Lock()
	defer s.mu.Unlock()
	copies := make([]siteCopy, 0, len(s.sites))
	for key, at := range s.sites {
		n := 0
		for n < len(key) && key[n] != 0 {
			n++
		}
		copies = append(copies, siteCopy{append([]uintptr(nil), key[:n]...), *at})
	}
	return copies
}
