package gctest

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/gc"
	"granary/internal/core/sys"
)

// script reads operations from bytes. Past its end it reads zeros, so every prefix of a script is one.
type script struct {
	data []byte
	at   int
}

func (s *script) done() bool { return s.at >= len(s.data) }

func (s *script) byte() uintptr {
	s.at++
	if s.at > len(s.data) {
		return 0
	}
	return uintptr(s.data[s.at-1])
}

// size reads a size of one or two bytes: the low half of the first says how many bits the rest is shifted.
func (s *script) size() uintptr {
	shape := s.byte()
	return (s.byte() << (shape & 15) >> 3) + shape>>4
}

const scriptCaches = 4

// ScriptModes are the modes in which scripts run.
var scriptModes = []uint32{0, gc.ModeInterior, gc.ModeInterior | gc.ModeVerify, gc.ModeVerify}

// RunScript runs a script of operations on a heap with up to four threads, up to a number of steps. limit is the heap's
// limit, 0 for none; every is the number of steps between two looks of the walker.
func RunScript(t kit.T, data []byte, most, every int, limit uintptr) {
	s := &script{data: data}
	r := newRigOf(t, rigRange, scriptModes[s.byte()&3], limit)
	r.newCache()
	r.every = every
	r.lazy = true
	r.full = limit != 0
	r.runScript(s, most)
	r.close()
}

func (r *rig) runScript(s *script, most int) {
	for !s.done() && r.steps < most {
		r.scriptStep(s, s.byte())
	}
}

func (r *rig) scriptStep(s *script, op uintptr) {
	cache := int(op>>5) % (len(r.caches) + 1) // the last one is no cache
	switch op & 31 {
	case 0, 1, 2, 3, 4, 5, 6, 7:
		r.scriptAlloc(s, cache)
	case 8, 9:
		r.scriptMany(s, cache)
	case 10, 11, 12, 13:
		if o, to := r.pick(s.byte()), r.pickReached(s.byte()); o != nil {
			r.setRef(o, int(op>>5)%refWords, to)
		}
	case 14:
		if o := r.pick(s.byte()); o != nil {
			r.setRef(o, int(op>>5)%refWords, nil)
		}
	case 15, 16:
		r.setRoot(int(s.byte()*2)%rigRoots, nil)
	case 17, 18:
		if o := r.pickReached(s.byte()); o != nil {
			r.setRoot(int(s.byte()*2+op>>7)%rigRoots, o)
		}
	case 19, 20, 21:
		if o := r.pick(s.byte()); o != nil && o.named == 0 {
			r.free(cache, o)
		}
	case 22:
		for n := s.byte() * 4; n > 0; n-- {
			if o := r.pick(n); o != nil && o.named == 0 {
				r.free(cache, o)
			}
		}
	case 23, 24:
		if o := r.pick(s.byte()); o != nil {
			r.resize(o, s.size()+1)
		}
	case 25:
		r.collect()
	case 26, 27:
		r.slice()
	case 28:
		if op>>6 == 0 {
			r.h.Sort(1)
		} else {
			r.h.SweepAll(s.byte())
		}
		r.step()
	case 29:
		r.idle(uint64(s.byte())*second/200, uint64(op>>6)*second/2)
	case 30:
		r.scriptThreads(cache, s.byte())
	case 31:
		r.scriptRare(s)
	}
}

// scriptAlloc makes an object and has something name it, or not.
func (r *rig) scriptAlloc(s *script, cache int) {
	how := s.byte()
	kind := uint32(how%kindsOfRigs+3) % kindsOfRigs
	o := r.alloc(cache, s.size(), kind, uint32(how>>7)*gc.FlagIgnoreOffPage)
	if o == nil {
		return
	}
	switch how >> 5 & 3 {
	case 0, 1:
		r.setRoot(int(s.byte()*2)%rigRoots, o)
	case 2:
		if from := r.pickReached(s.byte()); from != nil {
			r.setRef(from, int(how)&1, o)
		}
	}
}

// scriptMany makes many objects of a size, so that blocks fill: half of them garbage, the others a list.
func (r *rig) scriptMany(s *script, cache int) {
	how, size := s.byte(), s.size()%3000
	count := s.byte()
	if len(r.all) > 3000 || count*size > 1<<19 {
		count &= 7
	}
	var before *object
	for ; count > 0; count-- {
		o := r.alloc(cache, size, uint32(how)%kindsOfRigs, 0)
		if o == nil {
			return
		}
		if count&1 == 0 {
			continue
		}
		if before != nil && before.hasRefs() && r.isKept(before) {
			r.setRef(before, 0, o)
		} else {
			r.setRoot(int(how*2+count)%rigRoots, o)
		}
		before = o
	}
}

// isKept reports whether an object can still be reached: an allocation may have collected.
func (r *rig) isKept(o *object) bool { return o.index < len(r.all) && r.all[o.index] == o }

// pick draws an object.
func (r *rig) pick(number uintptr) *object {
	if len(r.all) == 0 {
		return nil
	}
	return r.all[(number*number+number*31)%uintptr(len(r.all))]
}

// pickReached draws an object that a program could get hold of. Between two slices of a collection one must not come
// back that could not be reached as it began.
func (r *rig) pickReached(number uintptr) *object {
	for i := uintptr(0); i < rigRoots; i++ {
		if o := r.rooted[(number*2+i)%rigRoots]; o != nil {
			if to := o.refs[number&1]; to != nil && number&2 != 0 {
				return to
			}
			return o
		}
	}
	return nil
}

// scriptThreads ends or starts a thread.
func (r *rig) scriptThreads(cache int, which uintptr) {
	if which&1 == 0 && len(r.caches) < scriptCaches {
		r.newCache()
	} else if cache < len(r.caches) {
		r.dropCache(cache)
	}
	r.step()
}

// scriptRare does what programs seldom do.
func (r *rig) scriptRare(s *script) {
	switch how := s.byte(); how & 7 {
	case 0, 1:
		if !r.h.ForkPrepare() {
			r.t.Fatalf("the heap is locked")
		}
		if how&1 == 0 || len(r.caches) == 0 {
			r.h.ForkParent()
		} else {
			r.h.ForkChild(r.caches[0])
			r.caches = r.caches[:1]
		}
	case 2:
		r.h.Expand(how << 12)
	case 3:
		r.h.SetDivisor(how >> 4)
	case 4:
		if objects := r.many(int(how>>6), how>>3&15+1, gc.KindNormal); objects != nil {
			r.setRoot(r.freeRoot(), objects[0])
		}
	case 5:
		r.dropRoots()
		r.collect()
	default:
		r.h.Free(r.cache(0), r.roots+sys.WordBytes)
	}
	r.step()
}

// RandomScript makes a script of that many bytes.
func RandomScript(seed uint64, bytes int) []byte {
	random := newRandom(seed)
	data := make([]byte, bytes)
	for i := range data {
		data[i] = byte(random.Next() >> 40)
	}
	return data
}
