package lineartest

import (
	"runtime"
	"sync"

	"granary/internal/core/coretest/kit"
	"granary/internal/core/linear"
	"granary/internal/core/sys"
)

var threadTests = []Test{
	{Name: "threads free what others made, and nothing is lost", Run: testThreads},
	{Name: "threads free what others made while diagnosing", Run: testThreadsDiagnosed},
}

type parcel struct {
	at       sys.Addr
	mark     uintptr
	overflow bool
}

// hammer is one thread: it makes allocations, hands them to others, and frees what it gets.
type hammer struct {
	r       *rig
	w       *linear.Worker
	random  *kit.Random
	out, in chan parcel
	wrong   string
}

func (h *hammer) allocate() (p parcel) {
	size := 8 + h.random.Below(2000)
	if h.random.Below(100) == 0 {
		size = h.random.Below(300 * kib)
	}
	a, need := h.r.a, linear.Need(size)
	if h.w.Fits(a.Frame(), need) {
		p.at = h.w.Bump(need)
	} else if need = a.Need(size); need != 0 {
		if p.at = a.AllocReady(h.w, need, 16, 1); p.at == 0 {
			if index := a.Take(need); linear.Taken(index) {
				p.at = a.Install(h.w, index, need, 16, 1)
			}
		}
	}
	if p.at == 0 {
		p.overflow = true
		a.CountOverflow(linear.Full)
		h.r.heapLock.Lock()
		p.at = h.r.heapAlloc(8, 16)
		h.r.heapLock.Unlock()
		if !a.AddOverflow(p.at, size, 1) {
			h.wrong = "no memory for the table"
		}
	}
	p.mark = uintptr(h.random.Next())
	p.at.SetWord(p.mark)
	return p
}

func (h *hammer) free(p parcel) {
	if p.at.Word() != p.mark {
		h.wrong = "an allocation was overwritten"
	}
	a := h.r.a
	if h.w.Mine(a.Frame(), p.at) {
		if h.w.Drop() {
			h.w.Rewind()
		}
		return
	}
	want := linear.Freed
	if p.overflow {
		want = linear.Overflow
	}
	if a.FreeSlow(h.w, p.at, false) != want {
		h.wrong = "a free was refused"
	}
}

func (h *hammer) run(rounds int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var mine []parcel
	for i := 0; i < rounds; i++ {
		mine = append(mine, h.allocate())
		switch h.random.Below(6) {
		case 0, 1:
			select {
			case h.out <- mine[len(mine)-1]:
				mine = mine[:len(mine)-1]
			default:
			}
		case 2, 3:
			select {
			case p := <-h.in:
				h.free(p)
			default:
			}
		case 4:
			h.free(mine[len(mine)-1])
			mine = mine[:len(mine)-1]
		}
		if len(mine) > 200 {
			for _, p := range mine {
				h.free(p)
			}
			mine = nil
		}
		if i%1000 == 999 {
			h.r.a.DropWorker(h.w)
			h.w = h.r.a.AddWorker()
		}
	}
	for _, p := range mine {
		h.free(p)
	}
	h.r.a.DropWorker(h.w)
}

func testThreads(t T)          { hammerWith(t, false) }
func testThreadsDiagnosed(t T) { hammerWith(t, true) }

func hammerWith(t T, diagnose bool) {
	const threads, rounds = 4, 20000
	r := newRig(t, linear.Config{BlockBytes: 64 * kib, Blocks: 12, MaxAge: 3, Diagnose: diagnose}, 0)
	var queues [threads]chan parcel
	for i := range queues {
		queues[i] = make(chan parcel, 300)
	}
	var all [threads]*hammer
	var running sync.WaitGroup
	for i := range all {
		h := &hammer{r: r, w: r.a.AddWorker(), random: kit.NewRandom(uint64(i) + 7),
			out: queues[(i+1)%threads], in: queues[i]}
		all[i] = h
		running.Add(1)
		go func() {
			defer running.Done()
			h.run(rounds)
		}()
	}
	done := make(chan bool)
	go func() {
		running.Wait()
		close(done)
	}()
	for ended := false; !ended; {
		var stats linear.Stats
		r.a.NextFrame()
		r.a.Read(&stats)
		var c linear.Cursor
		for i := 0; i < 100 && r.a.Next(&c, true); i++ {
		}
		select {
		case <-done:
			ended = true
		default:
			runtime.Gosched()
		}
	}
	last := &hammer{r: r, w: r.a.AddWorker()}
	for i, h := range all {
		close(queues[i])
		for p := range queues[i] {
			last.free(p)
		}
		if h.wrong != "" {
			t.Errorf("%s", h.wrong)
		}
	}
	r.a.DropWorker(last.w)
	if what := r.a.Check(); what != "" || last.wrong != "" {
		t.Fatalf("%s%s", what, last.wrong)
	}
	if now, _ := r.used(); now != 0 {
		t.Fatalf("%d blocks are in use after all", now)
	}
	r.close()
}
