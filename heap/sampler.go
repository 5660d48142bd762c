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
// Equation: the live samples of a site are its allocated ones without its freed ones.
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

// site is a stack, with what was sampled there. All is under sampler.mu.
type site struct {
	allocBlocks, allocBytes int64
	freeBlocks, freeBytes   int64
}

// sample is a block that is alive.
type sample struct {
	site *site
	size uintptr
}

func newSampler(rate int) *sampler {
	return &sampler{rate: rate, live: map[sys.Addr]*sample{}, sites: map[siteKey]*site{}}
}

// next is how many bytes to leave out before the next sample.
func (s *sampler) next() int64 {
	return int64(math.Min(rand.ExpFloat64()*float64(s.rate), 1<<50))
}

// add notes a block with the stack of the caller.
func (s *sampler) add(block sys.Addr, size uintptr) {
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
	at.allocBlocks++
	at.allocBytes += int64(size)
	s.live[block] = &sample{at, size}
}

// remove notes that a block is free, and returns its sample if it was one.
func (s *sampler) remove(block sys.Addr) *sample {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.live[block]
	if known != nil {
		known.site.freeBlocks++
		known.site.freeBytes += int64(known.size)
		delete(s.live, block)
	}
	return known
}

// restore takes remove back, for a block that stayed where it is and has another size now.
func (s *sampler) restore(block sys.Addr, known *sample, size uintptr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known.site.freeBlocks--
	known.site.freeBytes -= int64(known.size)
	known.site.allocBytes += int64(size) - int64(known.size)
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
