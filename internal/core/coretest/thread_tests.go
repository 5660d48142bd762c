package coretest

import (
	"sync"

	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

var threadTests = []Test{
	{Name: "threads hand blocks to each other and nothing is lost", Run: testHandOver},
	{Name: "threads come and go while others allocate", Run: testThreadsComeAndGo},
	{Name: "threads share a full range", Run: testThreadsFull},
}

// parcel is a block on its way from one thread to another.
type parcel struct {
	addr  sys.Addr
	bytes uintptr
	seed  uintptr
}

func (p parcel) mark() {
	for offset := uintptr(0); offset+8 <= p.bytes; offset += 8 {
		(p.addr + sys.Addr(offset)).SetWord(p.seed ^ offset)
	}
}

func (p parcel) intact() bool {
	for offset := uintptr(0); offset+8 <= p.bytes; offset += 8 {
		if (p.addr + sys.Addr(offset)).Word() != p.seed^offset {
			return false
		}
	}
	return true
}

// worker is one thread of a hammer test: it allocates, passes blocks on, frees what others pass to it.
type worker struct {
	h          *heap.Heap
	cache      heap.Cache
	random     *random
	in, out    chan parcel
	mine       []parcel
	rounds     int
	sizeLimit  uintptr
	renewEvery int // rounds after which the thread ends and another takes its place; 0: never
	idle       bool
	wrong      string
}

func (w *worker) make() {
	size := w.random.size(w.sizeLimit)
	p := parcel{bytes: size, seed: uintptr(w.random.Next())}
	if w.random.Below(4) == 0 {
		p.addr = w.h.Calloc(w.cache, 1, size)
		if p.addr != 0 && firstNotZero(p.addr, size) >= 0 {
			w.wrong = "a block of Calloc does not read as zero"
		}
	} else {
		p.addr = w.h.Malloc(w.cache, size)
	}
	if p.addr == 0 {
		w.wrong = "there is no memory"
		return
	}
	p.mark()
	select {
	case w.out <- p:
	default:
		w.mine = append(w.mine, p)
	}
}

func (w *worker) release(p parcel) {
	if !p.intact() {
		w.wrong = "a block was changed while another thread had it"
	}
	w.h.Free(w.cache, p.addr)
}

func (w *worker) run() {
	w.cache = w.h.NewCache()
	for i := 0; i < w.rounds && w.wrong == ""; i++ {
		w.make()
		select {
		case p := <-w.in:
			w.release(p)
		default:
		}
		if len(w.mine) > 20 {
			at := w.random.Below(uintptr(len(w.mine)))
			w.release(w.mine[at])
			w.mine[at] = w.mine[len(w.mine)-1]
			w.mine = w.mine[:len(w.mine)-1]
		}
		if w.renewEvery != 0 && i%w.renewEvery == w.renewEvery-1 {
			w.h.DropCache(w.cache)
			w.cache = w.h.NewCache()
		}
		if w.idle && i%32 == 0 {
			w.h.Idle(w.cache, uint64(i+1)*second/100, uint64(i%64)*second/64)
		}
	}
	for _, p := range w.mine {
		w.release(p)
	}
	w.h.DropCache(w.cache)
}

// hammer runs some workers on a heap, each passing blocks to the next.
func hammer(t T, r *rig, prepare func(index int, w *worker)) {
	const workers = 4
	var channels [workers]chan parcel
	for i := range channels {
		channels[i] = make(chan parcel, 50)
	}
	all := make([]*worker, workers)
	var done sync.WaitGroup
	done.Add(workers)
	for i := range all {
		all[i] = &worker{h: r.h, random: newRandom(uint64(i + 1)), in: channels[i], out: channels[(i+1)%workers],
			rounds: 6000, sizeLimit: 4000}
		prepare(i, all[i])
	}
	for _, w := range all {
		go func(w *worker) {
			defer done.Done()
			w.run()
		}(w)
	}
	done.Wait()
	for i, w := range all {
		if w.wrong != "" {
			t.Fatalf("thread %d: %s", i, w.wrong)
		}
	}
	for _, c := range channels {
		for len(c) > 0 {
			p := <-c
			if !p.intact() {
				t.Errorf("a block was changed on its way")
			}
			r.h.Free(noCache(t), p.addr)
		}
	}
	r.check()
}

func testHandOver(t T) {
	r := newRig(t, 0)
	hammer(t, r, func(index int, w *worker) { w.idle = index == 0 })
	r.close()
}

func testThreadsComeAndGo(t T) {
	r := newRig(t, 0)
	hammer(t, r, func(index int, w *worker) { w.renewEvery, w.idle = 40+index*7, true })
	r.close()
}

func testThreadsFull(t T) {
	r := newRig(t, 0)
	r.every = 0
	r.fillRange(0, 32768)
	r.fillRange(0, 2048)
	for i := 0; i < 60; i++ {
		r.free(0, r.live[i*3]) // a little room to fight over
	}
	hammer(t, r, func(index int, w *worker) { w.rounds, w.sizeLimit, w.renewEvery = 1500, 3000, 200 })
	r.close()
}
