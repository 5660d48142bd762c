package heap

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"

	core "granary/internal/core/heap"
	"granary/internal/core/sys"
)

// mustNew makes a heap that ends with the test.
func mustNew(t testing.TB, options ...Option) *Heap {
	t.Helper()
	h, err := New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// mustHold fails if the core's walker finds something wrong. Nobody may use the heap meanwhile.
func mustHold(t testing.TB, h *Heap) {
	t.Helper()
	h.sweeping.Lock() // no tick meanwhile
	defer h.sweeping.Unlock()
	if wrong := h.core.Check(); wrong != "" {
		t.Fatal(wrong)
	}
}

// block is a block of the model: its bytes are all fill.
type block struct {
	p    unsafe.Pointer
	size int
	fill byte
}

func (b *block) bytes() []byte { return unsafe.Slice((*byte)(b.p), b.size) }

func (b *block) set(fill byte) {
	b.fill = fill
	copy(b.bytes(), bytes.Repeat([]byte{fill}, b.size))
}

func (b *block) mustHold(t testing.TB, size int) {
	t.Helper()
	if same := bytes.Count(b.bytes()[:size], []byte{b.fill}); same != size {
		t.Fatalf("%d bytes of a block of %d are not %#x", size-same, b.size, b.fill)
	}
}

// TestBlocksAreAlignedApartAndKeepTheirContents runs random calls against a model.
func TestBlocksAreAlignedApartAndKeepTheirContents(t *testing.T) {
	for _, c := range []struct {
		name    string
		options []Option
		steps   int
	}{
		{"plain", nil, 6000},
		{"sampled often", []Option{WithProfileRate(4 << 10)}, 3000},
		{"small range", []Option{WithRange(16 << 20)}, 3000},
		{"debug", []Option{WithDebug(true)}, 1500},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := mustNew(t, c.options...)
			runModel(t, h, c.steps)
			if leaks := h.Leaks(); leaks != nil {
				t.Errorf("everything was freed, but: %v", leaks)
			}
		})
	}
}

func runModel(t *testing.T, h *Heap, steps int) {
	random := rand.New(rand.NewPCG(1, 2))
	var live []block
	for step := range steps {
		size := random.IntN(1 << random.IntN(17))
		b := block{size: size}
		var err error
		switch kind := random.IntN(7); {
		case kind == 0:
			b.p, err = h.AllocZeroed(size)
			b.mustHold(t, size)
		case kind == 1:
			alignment := 1 << random.IntN(15)
			b.p, err = h.AllocAligned(size, alignment)
			if uintptr(b.p)%uintptr(alignment) != 0 {
				t.Fatalf("%p is not at a multiple of %d", b.p, alignment)
			}
		case kind < 4 || len(live) == 0:
			b.p, err = h.Alloc(size)
		default:
			i := random.IntN(len(live))
			b = live[i]
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			b.mustHold(t, b.size)
			if kind < 6 {
				if err := h.Free(b.p); err != nil {
					t.Fatal(err)
				}
				continue
			}
			b.p, err = h.Realloc(b.p, size)
			b.mustHold(t, min(size, b.size))
			b.size = size
		}
		if err != nil || uintptr(b.p)%16 != 0 || h.UsableSize(b.p) < b.size {
			t.Fatalf("%p, %v, of %d bytes %d are usable", b.p, err, b.size, h.UsableSize(b.p))
		}
		b.set(byte(step))
		live = append(live, b)
		if step%200 == 0 {
			mustHold(t, h)
		}
	}
	for _, b := range live {
		b.mustHold(t, b.size)
		if err := h.Free(b.p); err != nil {
			t.Fatal(err)
		}
	}
	mustHold(t, h)
}

// TestManyGoroutinesShareAHeap hands blocks from goroutine to goroutine while GOMAXPROCS changes, some of them locked
// to their threads.
func TestManyGoroutinesShareAHeap(t *testing.T) {
	const goroutines, blocks = 10_000, 20
	h := mustNew(t)
	procs := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(procs)
	passed := make(chan *block, 1024)
	var done sync.WaitGroup
	for g := range goroutines {
		done.Go(func() {
			if g%100 == 0 {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			if g%1000 == 0 {
				runtime.GOMAXPROCS(1 + g/1000%4)
			}
			for i := range blocks {
				p, err := h.Alloc(16 + (g+i*97)%2000)
				if err != nil {
					t.Error(err)
					return
				}
				b := &block{p: p, size: 16}
				b.set(byte(g))
				select {
				case passed <- b:
				case b = <-passed:
					b.mustHold(t, b.size)
					if err := h.Free(b.p); err != nil {
						t.Error(err)
					}
					passed <- &block{p: p, size: 16, fill: byte(g)}
				}
				if i == blocks/2 && g%500 == 0 {
					h.Idle()
				}
			}
		})
		if g%64 == 0 {
			for len(passed) > 512 {
				b := <-passed
				h.Free(b.p)
			}
		}
	}
	stop := make(chan struct{})
	go func() { done.Wait(); close(stop) }()
	for running := true; running; {
		select {
		case b := <-passed:
			h.Free(b.p)
		case <-stop:
			running = false
		}
	}
	for len(passed) > 0 {
		h.Free((<-passed).p)
	}
	h.Trim()
	mustHold(t, h)
	if s := h.Stats(); s.LiveBlocks != 0 || s.Mallocs == 0 {
		t.Errorf("after everything was freed: %v", s)
	}
}

func TestMistakesAreErrors(t *testing.T) {
	h, other := mustNew(t), mustNew(t)
	p, _ := h.Alloc(100)
	large, _ := h.Alloc(100_000)
	huge, _ := h.Alloc(100 << 20)
	foreign, _ := other.Alloc(100)
	var local [64]byte
	for _, c := range []struct {
		what string
		p    unsafe.Pointer
		kind Misuse
	}{
		{"inside a small block", unsafe.Add(p, 16), InsideBlock},
		{"inside a large block", unsafe.Add(large, 16), NoBlock},
		{"inside a huge block", unsafe.Add(huge, 4096), NoBlock},
		{"of another heap", foreign, NoBlock},
		{"of Go", unsafe.Pointer(&local), NoBlock},
		{"of nobody", unsafe.Add(unsafe.Pointer(nil), 4096), NoBlock},
		{"of the range's own tables", h.core.Base.Pointer(), NoBlock},
	} {
		var misuse *MisuseError
		if err := h.Free(c.p); !errors.As(err, &misuse) || misuse.Kind != c.kind {
			t.Errorf("free of a pointer %s: %v", c.what, err)
		}
		if _, err := h.Realloc(c.p, 10); !errors.As(err, &misuse) || misuse.Kind != c.kind {
			t.Errorf("realloc of a pointer %s: %v", c.what, err)
		}
		if h.Owns(c.p) {
			t.Errorf("the heap owns a pointer %s", c.what)
		}
	}
	for _, p := range []unsafe.Pointer{p, large, huge} {
		if !h.Owns(p) {
			t.Errorf("the heap does not own its block %p", p)
		}
		if err := h.Free(p); err != nil {
			t.Error(err)
		}
		var misuse *MisuseError
		if err := h.Free(p); !errors.As(err, &misuse) || misuse.Kind != FreedTwice && p != huge {
			t.Errorf("second free of %p: %v", p, err)
		}
	}
	other.Free(foreign)
	for _, size := range []int{-1, mostBytes + 1} {
		if _, err := h.Alloc(size); !errors.Is(err, ErrSize) {
			t.Errorf("Alloc(%d): %v", size, err)
		}
	}
	for _, alignment := range []int{0, -8, 24, mostAlignment + 1, math.MaxInt/2 + 1} {
		if _, err := h.AllocAligned(8, alignment); !errors.Is(err, ErrAlignment) {
			t.Errorf("AllocAligned(8, %d): %v", alignment, err)
		}
	}
	if err := h.Free(nil); err != nil {
		t.Error(err)
	}
	mustHold(t, h)
}

// TestAClosedHeapGivesItsAddressesToTheNext closes heaps with blocks of all tiers in use.
func TestAClosedHeapGivesItsAddressesToTheNext(t *testing.T) {
	const rangeBytes = 48 << 20 // no other test has one of this size
	var base uintptr
	for round := range 3 {
		h, err := New(WithRange(rangeBytes))
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			base = uintptr(h.core.Base)
		} else if uintptr(h.core.Base) != base {
			t.Errorf("round %d has another range", round)
		}
		var stale []unsafe.Pointer
		for _, size := range []int{16, 5000, 100_000, 70 << 20} {
			p, err := h.AllocZeroed(size)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []int{0, size / 2, size - 1} {
				if got := (*byte)(unsafe.Add(p, at)); *got != 0 {
					t.Errorf("byte %d of a zeroed block of %d is %#x", at, size, *got)
				} else {
					*got = 0xab
				}
			}
			stale = append(stale, p)
		}
		c, _ := h.NewCache()
		if err := h.Close(); !errors.Is(err, ErrOpenCaches) {
			t.Errorf("Close with an open cache: %v", err)
		}
		c.Close()
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		for _, p := range stale {
			if !sys.MustRecommit && *(*byte)(p) != 0 { // readable, and its memory is gone
				t.Errorf("a block of a closed heap has contents: %#x", *(*byte)(p))
			}
			if err := h.Free(p); !errors.Is(err, ErrClosed) {
				t.Errorf("Free on a closed heap: %v", err)
			}
		}
		if _, err := h.Alloc(16); !errors.Is(err, ErrClosed) {
			t.Errorf("Alloc on a closed heap: %v", err)
		}
		if err := h.Close(); err != nil {
			t.Errorf("second Close: %v", err)
		}
	}
}

// TestCloseWaitsForCallsUnderWay closes a heap that goroutines go on using.
func TestCloseWaitsForCallsUnderWay(t *testing.T) {
	for range 20 {
		h, err := New(WithRange(32 << 20))
		if err != nil {
			t.Fatal(err)
		}
		var running, done sync.WaitGroup
		running.Add(4)
		for g := range 4 {
			done.Go(func() {
				for i := 0; ; i++ {
					p, err := h.Alloc(64 << (g * 3))
					if i == 100 {
						running.Done()
					}
					if err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						return
					}
					h.Free(p)
				}
			})
		}
		running.Wait()
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		done.Wait()
	}
}

func TestALimitIsAnErrorAndWhatIsFreedCountsNoMore(t *testing.T) {
	const limit = 8 << 20
	h := mustNew(t, WithLimit(limit), WithProfileRate(0))
	for _, size := range []int{64, 4096, 100_000} {
		var live []unsafe.Pointer
		for {
			p, err := h.Alloc(size)
			if err != nil {
				if !errors.Is(err, ErrLimit) || !errors.Is(err, ErrNoMemory) {
					t.Fatal(err)
				}
				break
			}
			live = append(live, p)
			if len(live) > limit/size {
				t.Fatalf("%d blocks of %d bytes under a limit of %d", len(live), size, limit)
			}
		}
		if got := len(live) * size; got < limit*2/3 {
			t.Errorf("blocks of %d bytes: the limit came at %d bytes", size, got)
		}
		for _, p := range live {
			if err := h.Free(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := h.Alloc(limit + 1); !errors.Is(err, ErrLimit) {
		t.Error(err)
	}
}

// TestMemoryGoesBackASecondAfterItIsFree lets the clock go by hand.
func TestMemoryGoesBackASecondAfterItIsFree(t *testing.T) {
	h := mustNew(t, WithTicker(false), WithProfileRate(0))
	var live []unsafe.Pointer
	for range 10_000 {
		p, _ := h.Alloc(1000)
		live = append(live, p)
	}
	for _, p := range live {
		h.Free(p)
	}
	if got := h.Stats().ResidentBytes; got < 10_000_000 {
		t.Errorf("after the frees %d bytes are resident", got)
	}
	if done := h.Trim(); done.Bytes < 9_000_000 {
		t.Errorf("Trim gave %d bytes back", done.Bytes)
	}
	if got := h.Stats().ResidentBytes; got > 200_000 {
		t.Errorf("after Trim %d bytes are resident", got)
	}
	mustHold(t, h)
}

// TestTheTickerGivesMemoryBackAndStops waits for a heap that nobody uses, with a bound far above what it takes.
func TestTheTickerGivesMemoryBackAndStops(t *testing.T) {
	h := mustNew(t, WithProfileRate(0))
	p, _ := h.Alloc(10 << 20)
	clear(unsafe.Slice((*byte)(p), 10<<20))
	h.Free(p)
	if !h.armed.Load() {
		t.Error("nothing will give the memory back")
	}
	for deadline := time.Now().Add(time.Minute); h.armed.Load(); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("the heap looks for memory to give back for ever")
		}
		time.Sleep(time.Millisecond)
	}
	if s := h.Stats(); s.ReleasedBytes < 10<<20 {
		t.Errorf("%d bytes went back", s.ReleasedBytes)
	}
}

func TestCachesOfVanishedProcsAreDrained(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	h := mustNew(t, WithTicker(false))
	for range 50 {
		var done sync.WaitGroup
		for range 4 {
			done.Go(func() {
				for range 100 {
					p, _ := h.Alloc(200)
					h.Free(p)
				}
			})
		}
		done.Wait()
	}
	runtime.GOMAXPROCS(1)
	if !h.cachesHold() {
		t.Fatal("no cache holds a block")
	}
	h.Idle()
	if h.cachesHold() {
		t.Error("a cache still holds blocks after Idle")
	}
	mustHold(t, h)
}

func TestDefaultIsOneHeap(t *testing.T) {
	b, err := Bytes(100)
	if err != nil || len(b) != 100 || cap(b) != 100 || !Default().Owns(unsafe.Pointer(&b[0])) {
		t.Fatal(len(b), cap(b), err)
	}
	if err := FreeBytes(b[:10]); err != nil {
		t.Error(err)
	}
	none, err := Bytes(0)
	if err != nil || len(none) != 0 || FreeBytes(none) != nil || FreeBytes(nil) != nil {
		t.Error("a slice of no bytes is not one without memory")
	}
}

func TestACacheServesOneGoroutine(t *testing.T) {
	h := mustNew(t, WithProfileRate(64<<10))
	c, err := h.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	var live []unsafe.Pointer
	for i := range 4000 {
		p, err := c.Alloc(1 + i*11)
		if err != nil {
			t.Fatal(err)
		}
		b := block{p: p, size: 1 + i%32}
		b.set(byte(i))
		live = append(live, p)
		if len(live) == 300 {
			for j, p := range live {
				free := c.Free
				if j%3 == 0 {
					free = h.Free
				}
				if err := free(p); err != nil {
					t.Fatal(err)
				}
			}
			live = live[:0]
		}
	}
	for _, p := range live {
		c.Free(p)
	}
	var misuse *MisuseError
	if err := c.Free(live[0]); !errors.As(err, &misuse) || misuse.Kind != FreedTwice {
		t.Errorf("second free: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if _, err := c.Alloc(16); !errors.Is(err, ErrClosed) {
		t.Errorf("Alloc of a closed cache: %v", err)
	}
	if s := h.Stats(); s.LiveBlocks != 0 {
		t.Errorf("after everything was freed: %v", s)
	}
	mustHold(t, h)
}

func TestACacheReachesWhatTheHeapGrewByAfterItsFirstFree(t *testing.T) {
	h := mustNew(t)
	c, err := h.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	first, last := unsafe.Pointer(nil), unsafe.Pointer(nil)
	for last == nil || c.reach.Covers(sys.Addr(uintptr(last))) {
		first = last
		if last, err = h.Alloc(core.SmallMaxBytes); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Free(last); err != nil || !c.reach.Covers(sys.Addr(uintptr(last))) {
		t.Errorf("a block beyond what the cache knew of the range: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Free(first); !errors.Is(err, ErrClosed) {
		t.Errorf("a free to a closed cache: %v", err)
	}
	mustHold(t, h)
}

func TestTagsAreCountedApart(t *testing.T) {
	h := mustNew(t, WithTags("index"))
	index, cache := h.Tag("index"), h.Tag("cache")
	if index != h.Tag("index") {
		t.Error("a name has two tags")
	}
	p, _ := index.Alloc(100)
	q, _ := cache.AllocAligned(3000, 64)
	q, _ = cache.Realloc(q, 60_000)
	got := h.Stats().Tags
	if len(got) != 2 || got[0].Name != "index" || got[0].Blocks != 1 || got[0].Bytes != int64(core.ClassSize(100)) ||
		got[1].Blocks != 1 || got[1].Bytes != int64(h.UsableSize(q)) {
		t.Errorf("%+v", got)
	}
	index.Free(p)
	cache.Free(q)
	for _, s := range h.Stats().Tags {
		if s.Blocks != 0 || s.Bytes != 0 || s.Mallocs != 1 {
			t.Errorf("%+v", s)
		}
	}
}
