package lineartest

import (
	"sync"
	"unsafe"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/linear"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// T is what a test tells its results to.
type T = kit.T

// made is one allocation of the model.
type made struct {
	at       sys.Addr
	size     uintptr
	fill     byte
	frame    uint32
	site     uint32
	overflow bool
	worker   int
}

// rig is an allocator with everything around it.
type rig struct {
	T
	space    *space.Space
	a        *linear.Allocator
	config   linear.Config
	workers  []*linear.Worker
	live     []made
	heap     sys.Addr // the stand-in for the native heap: its next free byte
	heapEnd  sys.Addr
	heaps    [][2]uintptr
	fill     byte
	frame    uint32
	full     uint64
	large    uint64
	overdue  uint64
	late     uint64
	heapLock sync.Mutex
}

const (
	rangeBytes = 1 << 30
	heapBytes  = 64 << 20
)

func newRig(t T, config linear.Config, workers int) *rig {
	r := &rig{T: t, config: config}
	memory := sys.Reserve(sys.AlignUp(unsafe.Sizeof(space.Space{}), sys.PageBytes()))
	if memory == 0 || !sys.Commit(memory, sys.AlignUp(unsafe.Sizeof(space.Space{}), sys.PageBytes())) {
		t.Fatalf("no memory for a space")
	}
	r.space = (*space.Space)(memory.Pointer())
	if !r.space.Init(rangeBytes, linear.RecordBytes) {
		t.Fatalf("no space")
	}
	r.a = linear.New(r.space, config)
	if r.a == nil {
		t.Fatalf("no allocator")
	}
	for i := 0; i < workers; i++ {
		r.workers = append(r.workers, r.a.AddWorker())
	}
	return r
}

// close frees what is left and gives everything back. Then nothing may be used any more.
func (r *rig) close() {
	for len(r.live) > 0 {
		r.free(0, len(r.live)-1)
	}
	var stats linear.Stats
	r.a.Read(&stats)
	if stats.Live != 0 || stats.OverflowsLive != 0 {
		r.Fatalf("after all was freed %d allocations and %d overflows are alive", stats.Live, stats.OverflowsLive)
	}
	before := r.space.UsedBytes()
	r.a.Destroy()
	if given := before - r.space.UsedBytes(); uint64(given) != stats.Reserved {
		r.Fatalf("of %d reserved bytes Destroy gave %d back", stats.Reserved, given)
	}
	if what := r.space.Check(); what != "" {
		r.Fatalf("%s", what)
	}
	for _, h := range r.heaps {
		sys.Release(sys.Addr(h[0]), h[1])
	}
	r.space.Destroy()
	sys.Release(sys.Addr(uintptr(unsafe.Pointer(r.space))), sys.AlignUp(unsafe.Sizeof(space.Space{}), sys.PageBytes()))
}

// heapAlloc takes a block from the stand-in of the native heap, which never gives an address twice.
func (r *rig) heapAlloc(size, align uintptr) sys.Addr {
	at := sys.Addr(sys.AlignUp(uintptr(r.heap), align))
	if at == 0 || at+sys.Addr(size) > r.heapEnd {
		bytes := uintptr(heapBytes)
		if size+align > bytes {
			bytes = sys.AlignUp(size+align, 1<<20)
		}
		r.heap = sys.Reserve(bytes)
		if r.heap == 0 || !sys.Commit(r.heap, bytes) {
			r.Fatalf("no memory for the stand-in of the heap")
		}
		r.heaps = append(r.heaps, [2]uintptr{uintptr(r.heap), bytes})
		r.heapEnd = r.heap + sys.Addr(bytes)
		at = sys.Addr(sys.AlignUp(uintptr(r.heap), align))
	}
	r.heap = at + sys.Addr(sys.AlignUp(size, 16))
	return at
}

// alloc makes an allocation as a user of the core does, and returns its place in the model.
func (r *rig) alloc(worker int, size, align uintptr, site uint32) *made {
	return r.add(r.request(worker, size, align, site))
}

// request is alloc, but nothing is written into the memory and the model does not know of it.
func (r *rig) request(worker int, size, align uintptr, site uint32) made {
	m := made{size: size, frame: r.a.Frame(), site: site, worker: worker}
	w := r.workers[worker]
	need := linear.Need(size)
	if align <= 16 && w.Fits(r.a.Frame(), need) {
		m.at = w.Bump(need)
	} else if need = r.a.Need(size); need == 0 {
		r.a.CountOverflow(linear.TooLarge)
		r.large++
	} else if m.at = r.a.AllocReady(w, need, align, site); m.at == 0 {
		if index := r.a.Take(need); linear.Taken(index) {
			m.at = r.a.Install(w, index, need, align, site)
		} else {
			r.a.CountOverflow(linear.Full)
			r.full++
		}
	}
	if m.at == 0 {
		m.overflow = true
		m.at = r.heapAlloc(size+1, align)
		if !r.a.AddOverflow(m.at, size, site) {
			r.Fatalf("no memory for the table of overflows")
		}
	}
	if uintptr(m.at)&(align-1) != 0 {
		r.Fatalf("%#x is not at a multiple of %d", m.at, align)
	}
	return m
}

// add puts an allocation into the model and fills it.
func (r *rig) add(m made) *made {
	r.fill++
	m.fill = r.fill
	if m.size > 0 {
		ends(m.at, m.size, func(b *byte) { *b = m.fill })
	}
	r.live = append(r.live, m)
	return &r.live[len(r.live)-1]
}

// ends calls f for the bytes that are looked at: the first and last ones, and some between.
func ends(at sys.Addr, size uintptr, f func(b *byte)) {
	for i := uintptr(0); i < size; i++ {
		if i == 32 && size > 96 {
			step := (size - 64) / 16
			for j := i; j < size-32; j += step {
				f((*byte)((at + sys.Addr(j)).Pointer()))
			}
			i = size - 32
		}
		f((*byte)((at + sys.Addr(i)).Pointer()))
	}
}

// verify looks whether an allocation holds what was written into it.
func (r *rig) verify(m *made) {
	if m.size > 0 {
		ends(m.at, m.size, func(b *byte) {
			if *b != m.fill {
				r.Fatalf("an allocation of %d bytes holds %#x and not %#x", m.size, *b, m.fill)
			}
		})
	}
}

// free frees an allocation of the model as a worker; a negative worker stands for a thread without one.
func (r *rig) free(worker, index int) {
	m := r.live[index]
	r.verify(&m)
	r.live[index] = r.live[len(r.live)-1]
	r.live = r.live[:len(r.live)-1]
	r.freeAt(worker, &m)
}

func (r *rig) freeAt(worker int, m *made) {
	if r.isOld(m) {
		r.late++
	}
	var w *linear.Worker
	if worker >= 0 {
		w = r.workers[worker]
		if w.Mine(r.a.Frame(), m.at) {
			if m.overflow {
				r.Fatalf("a worker takes a block of the heap for its own")
			}
			if w.Drop() {
				w.Rewind()
			}
			return
		}
	}
	want := linear.Freed
	if m.overflow {
		want = linear.Overflow
		if got := r.a.FreeSlow(w, m.at, true); got != linear.Foreign {
			r.Fatalf("a pinned free of a block of the heap gives %d", got)
		}
	}
	if got := r.a.FreeSlow(w, m.at, false); got != want {
		r.Fatalf("FreeSlow gives %d, not %d", got, want)
	}
}

func (r *rig) isOld(m *made) bool {
	return r.config.MaxAge != 0 && r.a.Frame()-m.frame > r.config.MaxAge
}

// nextFrame begins a frame, and counts what becomes too old in it.
func (r *rig) nextFrame() {
	before := r.a.Frame()
	if r.a.NextFrame() != before+1 || r.a.Frame() != before+1 {
		r.Fatalf("NextFrame does not count by one")
	}
	for i := range r.live {
		if r.isOld(&r.live[i]) && before-r.live[i].frame <= r.config.MaxAge {
			r.overdue++
		}
	}
}

// check has the walkers look, and compares the figures with the model's. exact is false where the model does not know
// frames exactly (a maximum age above what segments tell apart).
func (r *rig) check(exact bool) {
	if what := r.a.Check(); what != "" {
		r.Fatalf("%s", what)
	}
	if what := r.space.Check(); what != "" {
		r.Fatalf("%s", what)
	}
	var stats linear.Stats
	r.a.Read(&stats)
	overflows := uint64(0)
	for i := range r.live {
		if r.live[i].overflow {
			overflows++
		}
	}
	if stats.Live != uint64(len(r.live))-overflows || stats.OverflowsLive != overflows {
		r.Fatalf("%d and %d are alive, counted are %d and %d", uint64(len(r.live))-overflows, overflows, stats.Live,
			stats.OverflowsLive)
	}
	if stats.Full != r.full || stats.TooLarge != r.large {
		r.Fatalf("%d and %d overflowed, counted are %d and %d", r.full, r.large, stats.Full, stats.TooLarge)
	}
	if exact && (stats.Overdue != r.overdue || stats.Late != r.late) {
		r.Fatalf("%d are overdue and %d late, counted are %d and %d", r.overdue, r.late, stats.Overdue, stats.Late)
	}
	if stats.Overdue > r.overdue || stats.Late > r.late {
		r.Fatalf("of %d overdue %d are counted, of %d late ones %d", r.overdue, stats.Overdue, r.late, stats.Late)
	}
}
