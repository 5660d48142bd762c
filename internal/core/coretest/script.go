package coretest

import (
	"granary/internal/core/heap"
	"granary/internal/core/space"
)

// script reads operations from bytes. Past its end it reads zeros, so every prefix of a script is one.
type script struct {
	data []byte
	at   int
}

func (s *script) done() bool { return s.at >= len(s.data) }

func (s *script) byte() uintptr {
	if s.done() {
		s.at++
		return 0
	}
	s.at++
	return uintptr(s.data[s.at-1])
}

// size reads a size of one or two bytes: the low half of the first says how many bits the rest is shifted.
func (s *script) size() uintptr {
	shape := s.byte()
	return (s.byte() << (shape & 15) >> 2) + shape>>4
}

// RunSpaceScript runs a script of operations on a space, up to a number of steps.
func RunSpaceScript(t T, data []byte, most int) {
	r := newSpaceRig(t)
	s := &script{data: data}
	for !s.done() && r.steps < most {
		r.spaceStep(s.byte(), s)
	}
	r.giveAll()
	r.release(0, 0)
	r.close()
}

func (r *spaceRig) spaceStep(op uintptr, s *script) {
	var picked int
	if len(r.runs) > 0 && op&15 >= 5 && op&15 <= 11 {
		picked = int(s.byte()) % len(r.runs)
	} else if op&15 >= 5 && op&15 <= 11 {
		return
	}
	switch op & 15 {
	case 0, 1:
		r.take(1, 1)
	case 2:
		r.take(4, 4)
	case 3:
		r.take(uint32(op>>4)+1, 1<<(s.byte()%6))
	case 4:
		granules := s.byte()%64 + 1
		r.takeZero(uint32(granules), s.byte()*granules*space.GranuleBytes/255)
	case 5, 6, 7, 8:
		r.give(picked, false)
	case 9:
		r.give(picked, true)
	case 10:
		r.extend(r.runs[picked], uint32(op>>4)+1)
	case 11:
		r.shrink(r.runs[picked], uint32(op>>4)+1)
	case 12, 13, 14:
		r.release(uint64(s.byte())*second/100, uint64(op>>4)*second/10)
	case 15:
		if r.meta < 24 {
			r.takeMeta(64 + 64*(s.byte()<<2|op>>6))
		}
	}
}

const scriptCaches = 4

// RunHeapScript runs a script of operations on a heap with up to four threads, up to a number of steps. every is the
// number of steps between two looks of the invariant walkers.
func RunHeapScript(t T, data []byte, most, every int) {
	r := newRig(t, 2)
	r.every = every
	s := &script{data: data}
	for !s.done() && r.steps < most {
		op := s.byte()
		cache := int(op>>4) % (len(r.caches) + 1) // the last one is no cache
		switch op & 15 {
		case 0, 1, 2, 3:
			r.malloc(cache, s.size())
		case 4:
			r.calloc(cache, 1, s.size())
		case 5:
			r.scriptMany(cache, s.byte(), s.size())
		case 6:
			r.aligned(cache, 16<<(s.byte()%9), s.size()%70000)
		case 7, 8:
			if len(r.live) > 0 {
				r.realloc(cache, r.live[int(s.byte())%len(r.live)], s.size()+1)
			}
		case 9, 10, 11:
			if len(r.live) > 0 {
				r.free(cache, r.live[int(s.byte())%len(r.live)])
			}
		case 12:
			for n := s.byte(); n > 0 && len(r.live) > 0; n-- {
				r.free(cache, r.live[len(r.live)-1])
			}
		case 13:
			r.scriptThreads(s.byte(), cache)
		case 14:
			r.idle(cache, uint64(s.byte())*second/200, uint64(s.byte()&3)*second/2)
		case 15:
			r.h.ForkPrepare()
			r.h.ForkParent()
			r.step()
		}
	}
	r.close()
}

// scriptMany allocates a number of blocks of one small size, so that spans fill.
func (r *rig) scriptMany(cache int, count, size uintptr) {
	if size > heap.SmallMaxBytes {
		size %= heap.SmallMaxBytes
	}
	if len(r.live) > 4000 || count*size > 1<<20 {
		count = count&3 + 1
	}
	for ; count > 0; count-- {
		r.malloc(cache, size)
	}
}

// scriptThreads ends or starts a thread.
func (r *rig) scriptThreads(which uintptr, cache int) {
	if which&1 == 0 && len(r.caches) < scriptCaches {
		r.newCache()
	} else if cache < len(r.caches) {
		r.dropCache(cache)
	}
	r.step()
}
