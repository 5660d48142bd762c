package main

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"granary/heap"
	"granary/linear"
)

const (
	batch     = 1000
	frameSize = 10000
)

var sizes = mixedSizes()

// mixedSizes are those of c/frames.c: mostly below 256 bytes, up to 4 KiB.
func mixedSizes() (all [frameSize]int) {
	random := uint64(88172645463325252)
	for i := range all {
		random ^= random << 13
		random ^= random >> 7
		random ^= random << 17
		if random%64 < 60 {
			all[i] = 16 + int(random/64%240)
		} else {
			all[i] = 256 + int(random/64%3840)
		}
	}
	return all
}

// contender is one way to have memory in Go. The loops are its own, so that no call of them is indirect.
type contender struct {
	name  string
	alloc func(into *[batch]unsafe.Pointer)
	free  func(from *[batch]unsafe.Pointer) error // nil: there is nothing to free one by one
	reset func()                                  // after the batch
	frame func() error                            // 10,000 allocations of mixed sizes, and their end
}

// times runs f often and returns the least and the median time a call.
func times(batches, calls int, f func()) result {
	var all []float64
	for range batches {
		start := time.Now()
		f()
		all = append(all, float64(time.Since(start).Nanoseconds())/float64(calls))
	}
	slices.Sort(all)
	return result{all[0], all[len(all)/2]}
}

// small measures allocations of 64 bytes, and their frees.
func (c *contender) small(batches int) (alloc, free result, err error) {
	var p [batch]unsafe.Pointer
	var allocs, frees []float64
	for range batches {
		start := time.Now()
		c.alloc(&p)
		middle := time.Now()
		allocs = append(allocs, float64(middle.Sub(start).Nanoseconds())/batch)
		if c.free != nil {
			if e := c.free(&p); e != nil {
				err = e
			}
			frees = append(frees, float64(time.Since(middle).Nanoseconds())/batch)
		}
		c.reset()
	}
	slices.Sort(allocs)
	alloc = result{allocs[0], allocs[len(allocs)/2]}
	if c.free != nil {
		slices.Sort(frees)
		free = result{frees[0], frees[len(frees)/2]}
	}
	return alloc, free, err
}

func measureGo(r results, batches int) error {
	all, closeAll, err := contenders()
	if err != nil {
		return err
	}
	for i := range all {
		c := &all[i]
		alloc, free, e := c.small(batches)
		err = errors.Join(err, e)
		r.add("alloc 64", c.name, alloc)
		if c.free != nil {
			r.add("free 64", c.name, free)
		}
		if c.name == "linear.Allocator" {
			err = errors.Join(err, c.two(r, batches))
		}
		if c.frame != nil {
			r.add("frame of 10,000", c.name, times(batches/20+1, 1, func() { err = errors.Join(err, c.frame()) }))
		}
	}
	return errors.Join(err, closeAll())
}

// two measures with another goroutine doing the same.
func (c *contender) two(r results, batches int) error {
	var running sync.WaitGroup
	var other error
	running.Go(func() { _, _, other = c.small(batches) })
	alloc, free, err := c.small(batches)
	running.Wait()
	r.add("alloc 64, two goroutines", c.name, alloc)
	r.add("free 64, two goroutines", c.name, free)
	return errors.Join(err, other)
}

var kept [frameSize][]byte

// contenders are all ways, and what closes them.
func contenders() ([]contender, func() error, error) {
	a, err := linear.New(linear.Config{BlockSize: 8 << 20})
	if err != nil {
		return nil, nil, err
	}
	w, err1 := a.NewWorker()
	s, err2 := a.NewStack("bench", 8<<20)
	h, err3 := heap.New()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, nil, err
	}
	closeAll := func() error { return errors.Join(w.Close(), s.Close(), a.Close(), h.Close()) }
	all := []contender{ofAllocator(a), ofWorker(w), ofStack(s), ofHeap(h), ofMake()}
	return append(all, ofAtomics()...), closeAll, nil
}

func nothing() {}

func ofAllocator(a *linear.Allocator) contender {
	return contender{"linear.Allocator", func(p *[batch]unsafe.Pointer) {
		for i := range p {
			p[i], _ = a.Alloc(64, 16)
			*(*uintptr)(p[i]) = 0
		}
	}, func(p *[batch]unsafe.Pointer) (err error) {
		for i := range p {
			if e := a.Free(p[i]); e != nil {
				err = e
			}
		}
		return err
	}, nothing, func() error {
		for _, size := range sizes {
			p, err := a.Alloc(size, 16)
			if err != nil {
				return err
			}
			*(*uintptr)(p) = 0
		}
		return a.Reset()
	}}
}

func ofWorker(w *linear.Worker) contender {
	var p [frameSize]unsafe.Pointer
	return contender{"linear.Worker", func(p *[batch]unsafe.Pointer) {
		for i := range p {
			p[i], _ = w.Alloc(64, 16)
			*(*uintptr)(p[i]) = 0
		}
	}, func(p *[batch]unsafe.Pointer) (err error) {
		for i := range p {
			if e := w.Free(p[i]); e != nil {
				err = e
			}
		}
		return err
	}, nothing, func() (err error) {
		for i, size := range sizes {
			if p[i], err = w.Alloc(size, 16); err != nil {
				return err
			}
			*(*uintptr)(p[i]) = 0
		}
		for i := range p {
			if err = w.Free(p[i]); err != nil {
				return err
			}
		}
		return nil
	}}
}

func ofStack(s *linear.Stack) contender {
	bottom := s.Mark()
	return contender{"linear.Stack", func(p *[batch]unsafe.Pointer) {
		for i := range p {
			p[i], _ = s.Alloc(64, 16)
			*(*uintptr)(p[i]) = 0
		}
	}, nil, func() { _ = s.Rewind(bottom) }, func() error {
		for _, size := range sizes {
			p, err := s.Alloc(size, 16)
			if err != nil {
				return err
			}
			*(*uintptr)(p) = 0
		}
		return s.Rewind(bottom)
	}}
}

func ofHeap(h *heap.Heap) contender {
	var p [frameSize]unsafe.Pointer
	return contender{"heap.Heap", func(p *[batch]unsafe.Pointer) {
		for i := range p {
			p[i], _ = h.Alloc(64)
			*(*uintptr)(p[i]) = 0
		}
	}, func(p *[batch]unsafe.Pointer) (err error) {
		for i := range p {
			if e := h.Free(p[i]); e != nil {
				err = e
			}
		}
		return err
	}, nothing, func() (err error) {
		for i, size := range sizes {
			if p[i], err = h.Alloc(size); err != nil {
				return err
			}
			*(*uintptr)(p[i]) = 0
		}
		for i := range p {
			if err = h.Free(p[i]); err != nil {
				return err
			}
		}
		return nil
	}}
}

// ofMake keeps what it makes until the next frame: the collector's work is a part of what it costs.
func ofMake() contender {
	return contender{"make", func(p *[batch]unsafe.Pointer) {
		for i := range p {
			p[i] = unsafe.Pointer(unsafe.SliceData(make([]byte, 64)))
		}
	}, nil, nothing, func() error {
		for i, size := range sizes {
			kept[i] = make([]byte, size)
		}
		return nil
	}}
}

// ofAtomics are bumps that share one counter: an atomic add, and a compare-and-swap.
func ofAtomics() []contender {
	memory := make([]byte, batch*64+64)
	var next atomic.Uint64
	reset := func() { next.Store(0) }
	add := func(p *[batch]unsafe.Pointer) {
		for i := range p {
			p[i] = unsafe.Pointer(&memory[next.Add(64)-64])
			*(*uintptr)(p[i]) = 0
		}
	}
	swap := func(p *[batch]unsafe.Pointer) {
		for i := range p {
			for {
				at := next.Load()
				if next.CompareAndSwap(at, at+64) {
					p[i] = unsafe.Pointer(&memory[at])
					break
				}
			}
			*(*uintptr)(p[i]) = 0
		}
	}
	return []contender{{"atomic add", add, nil, reset, nil}, {"compare-and-swap", swap, nil, reset, nil}}
}
