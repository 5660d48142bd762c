package linear

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"granary/heap"
)

func mustNew(t testing.TB, c Config) *Allocator {
	t.Helper()
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if own := a.core.Load(); !a.isClosed() {
			if what := own.Check(); what != "" {
				t.Error(what)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func mustAlloc(t testing.TB, s Source, size, align int) unsafe.Pointer {
	t.Helper()
	p, err := s.Alloc(size, align)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustFree(t testing.TB, s Source, p unsafe.Pointer) {
	t.Helper()
	if err := s.Free(p); err != nil {
		t.Fatal(err)
	}
}

// onOneP keeps the test on one P, so that it knows which worker serves it.
func onOneP(t *testing.T) {
	t.Cleanup(func(n int) func() { return func() { runtime.GOMAXPROCS(n) } }(runtime.GOMAXPROCS(1)))
}

func TestAllocationsAreAlignedAndApart(t *testing.T) {
	a := mustNew(t, Config{BlockSize: 1 << 20})
	type piece struct{ from, to uintptr }
	var pieces []piece
	for align := 1; align <= AlignmentMost; align *= 2 {
		for _, size := range []int{0, 1, 15, 16, 17, 100, 5000} {
			p := uintptr(mustAlloc(t, a, size, align))
			if p%uintptr(align) != 0 || p%16 != 0 {
				t.Errorf("%d bytes at a multiple of %d lie at %#x", size, align, p)
			}
			for _, other := range pieces {
				if p < other.to && other.from < p+uintptr(max(size, 1)) {
					t.Fatalf("two allocations overlap")
				}
			}
			pieces = append(pieces, piece{p, p + uintptr(max(size, 1))})
		}
	}
}

func TestBadInputIsAnError(t *testing.T) {
	a := mustNew(t, Config{})
	for _, c := range []struct {
		size, align int
		want        error
	}{
		{-1, 16, ErrSize}, {-16, 0, ErrSize}, {-1 << 63, 8, ErrSize}, {1<<63 - 1, 8, ErrSize}, {16, 3, ErrAlignment},
		{16, -8, ErrAlignment}, {16, 24, ErrAlignment}, {16, AlignmentMost * 2, ErrAlignment}, {16, -1 << 63, ErrAlignment},
		{1 << 59, 8, ErrSize}, {1 << 50, 8, ErrNoMemory},
	} {
		for _, alloc := range []func(size, align int) (unsafe.Pointer, error){a.Alloc, a.AllocZeroed} {
			if p, err := alloc(c.size, c.align); !errors.Is(err, c.want) || p != nil {
				t.Errorf("%d bytes at %d give %v, %v; want %v", c.size, c.align, p, err, c.want)
			}
		}
	}
	if _, err := MakeSlice[int64](a, 2, 1); err != ErrSize {
		t.Errorf("a slice longer than its room gives %v", err)
	}
	if _, err := MakeSlice[int64](a, 0, 1<<61); err != ErrSize {
		t.Errorf("a huge slice gives %v", err)
	}
	var pointer *heap.PointerError
	if _, err := Make[*int](a); !errors.As(err, &pointer) {
		t.Errorf("a pointer gives %v", err)
	}
	if _, err := MakeSlice[struct{ s string }](a, 1, 1); !errors.As(err, &pointer) {
		t.Errorf("a string gives %v", err)
	}
	if err := a.Free(nil); err != nil {
		t.Errorf("free of nil gives %v", err)
	}
}

func TestBadConfigsAreErrors(t *testing.T) {
	for _, c := range []Config{{BlockSize: -1}, {BlockSize: BlockSizeMost + 1}, {MaxBlocks: 65}, {MaxBlocks: -1},
		{Growth: 9}, {MaxAge: -1}, {MaxAge: MaxAgeMost + 1}} {
		var bad *ConfigError
		if _, err := New(c); !errors.As(err, &bad) {
			t.Errorf("%+v gives %v", c, err)
		}
	}
}

func TestZeroedMemoryIsZero(t *testing.T) {
	onOneP(t)
	a := mustNew(t, Config{BlockSize: 64 << 10, MaxBlocks: 2})
	w, err := a.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	s, err := a.NewStack("MAIN", 16<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for round := 0; round < 5; round++ {
		mark := s.Mark()
		for _, size := range []int{1, 100, 5000, 65536, 200000, 1 << 20} {
			for _, source := range []Source{a, w, s} {
				p, err := source.AllocZeroed(size, 0)
				if err != nil {
					t.Fatal(err)
				}
				b := unsafe.Slice((*byte)(p), size)
				for i := range b {
					if b[i] != 0 {
						t.Fatalf("byte %d of %d is not zero", i, size)
					}
					b[i] = 0xaa
				}
				mustFree(t, source, p)
			}
		}
		if err := s.Rewind(mark); err != nil {
			t.Fatal(err)
		}
		a.NextFrame()
	}
}

func TestGenericsMakeAndFree(t *testing.T) {
	a := mustNew(t, Config{})
	type vector struct{ x, y, z float64 }
	v, err := Make[vector](a)
	if err != nil || *v != (vector{}) {
		t.Fatal(v, err)
	}
	s, err := MakeSlice[int32](a, 3, 10)
	if err != nil || len(s) != 3 || cap(s) != 10 || s[2] != 0 {
		t.Fatal(s, err)
	}
	empty, err := MakeSlice[struct{}](a, 5, 5)
	if err != nil || len(empty) != 5 {
		t.Fatal(empty, err)
	}
	if a.Stats().Live != 3 {
		t.Errorf("%d are alive", a.Stats().Live)
	}
	if err := errors.Join(Free(a, v), FreeSlice(a, s), FreeSlice(a, empty)); err != nil {
		t.Error(err)
	}
	if a.Stats().Live != 0 {
		t.Errorf("%d are alive", a.Stats().Live)
	}
}

func TestOverflowsComeFromTheHeapAndGoBack(t *testing.T) {
	h, err := heap.New()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	a := mustNew(t, Config{BlockSize: 64 << 10, MaxBlocks: 1, Growth: 2, Heap: h})
	large := mustAlloc(t, a, 128<<10+1, 16)
	whole := mustAlloc(t, a, 128<<10, 16)
	full := mustAlloc(t, a, 1000, 256)
	if uintptr(full)%256 != 0 {
		t.Errorf("an overflow is not aligned")
	}
	if stats := a.Stats(); stats.TooLarge != 1 || stats.Full != 1 || stats.OverflowsLive != 2 || stats.Live != 1 {
		t.Errorf("%+v", stats)
	}
	if h.UsableSize(large) < 128<<10+1 || h.UsableSize(full) < 1000 {
		t.Errorf("the heap does not know the overflows")
	}
	var done sync.WaitGroup
	for _, p := range []unsafe.Pointer{large, whole} {
		done.Go(func() {
			if err := a.Free(p); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if stats := a.Stats(); stats.OverflowsLive != 1 || stats.Live != 0 {
		t.Errorf("%+v", stats)
	}
	mustAlloc(t, a, 1<<20, 16) // for Close to free
	a.Reset()
	if h.UsableSize(full) != 0 {
		t.Errorf("a reset left a block of the heap alone")
	}
}

func TestReservedMemoryIsAtMostWhatIsDocumented(t *testing.T) {
	a := mustNew(t, Config{BlockSize: 64 << 10})
	for i := 0; i < 64; i++ {
		mustAlloc(t, a, 8*64<<10, 16)
	}
	mustAlloc(t, a, 8*64<<10, 16)
	stats := a.Stats()
	if stats.Reserved != 64*8*64<<10 || stats.ReservedMost != stats.Reserved || stats.Full != 1 || stats.BlocksPeak != 64 {
		t.Errorf("%+v", stats)
	}
	var text strings.Builder
	if err := a.Report(&text); err != nil {
		t.Fatal(err)
	}
	const want = "reserved 32.0 MB of at most 32.0 MB (64 blocks of 64.0 KB, each up to 8 times as large)"
	if !strings.Contains(text.String(), want) {
		t.Errorf("the report does not say %q:\n%s", want, text.String())
	}
}

func TestClosedAllocatorsSaySo(t *testing.T) {
	a := mustNew(t, Config{Name: "short"})
	p := mustAlloc(t, a, 100, 16)
	w, err := a.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.NewStack("x", 4096)
	if err != nil {
		t.Fatal(err)
	}
	if a.Close() != ErrOpen || w.Close() != nil || a.Close() != ErrOpen || s.Close() != nil || a.Close() != nil {
		t.Fatal("Close does not wait for workers and stacks")
	}
	if a.Close() != nil || w.Close() != nil || s.Close() != nil {
		t.Error("a second Close fails")
	}
	for _, source := range []Source{a, w, s} {
		if _, err := source.Alloc(10, 8); err != ErrClosed {
			t.Errorf("Alloc gives %v", err)
		}
		if _, err := source.AllocZeroed(10, 8); err != ErrClosed {
			t.Errorf("AllocZeroed gives %v", err)
		}
	}
	if a.Free(p) != ErrClosed || w.Free(p) != ErrClosed || s.Rewind(Mark{}) != ErrClosed || a.Reset() != ErrClosed {
		t.Error("a closed allocator takes an allocation back")
	}
	if _, err := a.NewWorker(); err != ErrClosed {
		t.Errorf("NewWorker gives %v", err)
	}
	if _, err := a.NewStack("x", 1); err != ErrClosed {
		t.Errorf("NewStack gives %v", err)
	}
	if a.NextFrame() != 0 || a.Frame() != 0 || a.Stats() != (Stats{}) || s.Mark() != (Mark{}) ||
		s.Stats() != (StackStats{}) {
		t.Error("a closed allocator has figures")
	}
}

func TestOverdueAllocationsAreReportedOnceAPlace(t *testing.T) {
	for _, diagnostics := range []bool{false, true} {
		var told []Overdue
		a := mustNew(t, Config{Name: "jobs", MaxAge: 4, Diagnostics: diagnostics,
			OnOverdue: func(o Overdue) { told = append(told, o) }})
		var late unsafe.Pointer
		for i := 0; i < 3; i++ {
			late = mustAlloc(t, a, 100, 16) // one place
		}
		mustAlloc(t, a, 200, 16) // another
		mustFree(t, a, mustAlloc(t, a, 300, 16))
		for i := 0; i < 8; i++ {
			a.NextFrame()
			if i < 4 && len(told) != 0 {
				t.Fatalf("in frame %d something is overdue", i+1)
			}
		}
		want := 1
		if diagnostics {
			want = 2
		}
		if len(told) != want {
			t.Fatalf("%d reports, not %d: %v", len(told), want, told)
		}
		if diagnostics {
			if told[0].Count != 3 || told[1].Count != 1 || told[0].Frame != 5 {
				t.Errorf("%+v", told)
			}
			if text := told[0].String(); !strings.Contains(text, "3 allocations are older than 4 frames") ||
				!strings.Contains(text, "TestOverdueAllocationsAreReportedOnceAPlace") {
				t.Errorf("the report is %s", text)
			}
		} else if told[0].Count != 4 || !strings.Contains(told[0].String(), "run with diagnostics") {
			t.Errorf("%+v", told)
		}
		mustFree(t, a, late)
		stats := a.Stats()
		if stats.Overdue != 4 || stats.Late != 1 {
			t.Errorf("%+v", stats)
		}
		var text strings.Builder
		if err := a.Report(&text); err != nil {
			t.Fatal(err)
		}
		const said = "4 became older than 4 frames, 1 of them freed late, 3 not freed"
		if !strings.Contains(text.String(), said) {
			t.Errorf("the report does not say %q:\n%s", said, text.String())
		}
		if leaks := a.Leaks(true); diagnostics != (len(leaks) == 2) || diagnostics && leaks[0].Count+leaks[1].Count != 3 {
			t.Errorf("%v", leaks)
		}
	}
}

func TestMisuseIsAnErrorWithDiagnostics(t *testing.T) {
	a := mustNew(t, Config{Name: "jobs", Diagnostics: true})
	other := mustNew(t, Config{})
	p, q := mustAlloc(t, a, 100, 16), mustAlloc(t, a, 100<<20, 16)
	local := new(int)
	for _, c := range []struct {
		p    unsafe.Pointer
		want Misuse
	}{
		{unsafe.Add(p, 16), Foreign}, {unsafe.Add(p, 1), Foreign}, {unsafe.Pointer(local), Foreign},
		{mustAlloc(t, other, 10, 8), Foreign}, {unsafe.Add(q, 16), Foreign},
	} {
		var misuse *MisuseError
		if err := a.Free(c.p); !errors.As(err, &misuse) || misuse.Kind != c.want || misuse.Allocator != "jobs" {
			t.Errorf("free gives %v", err)
		}
	}
	mustFree(t, a, p)
	var misuse *MisuseError
	if err := a.Free(p); !errors.As(err, &misuse) || misuse.Kind != FreedTwice {
		t.Errorf("a second free gives %v", err)
	}
	mustFree(t, a, q)
	if err := a.Free(q); !errors.As(err, &misuse) || misuse.Kind != Foreign {
		t.Errorf("a second free of a block of the heap gives %v", err)
	}
	if !strings.Contains(a.Free(p).Error(), "was already freed") {
		t.Errorf("the error is %v", a.Free(p))
	}
}

func TestGoroutinesOnManyPs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, diagnostics := range []bool{false, true} {
		rounds := 20000
		if diagnostics {
			rounds = 2000
		}
		a := mustNew(t, Config{BlockSize: 64 << 10, MaxBlocks: 32, MaxAge: 3, Diagnostics: diagnostics,
			OnOverdue: func(Overdue) {}})
		hammer(t, a, 8, rounds)
		if stats := a.Stats(); stats.Live != 0 || stats.OverflowsLive != 0 || stats.Misuses != 0 {
			t.Errorf("%+v", stats)
		}
	}
}

// hammer has goroutines make, pass on and free allocations while frames go by. Some own a Worker.
func hammer(t *testing.T, a *Allocator, goroutines, rounds int) {
	queue := make(chan *uint64, 1000)
	var running sync.WaitGroup
	for g := range goroutines {
		running.Go(func() {
			var source Source = a
			if g%3 == 0 {
				w, err := a.NewWorker()
				if err != nil {
					t.Error(err)
					return
				}
				defer w.Close()
				source = w
			}
			random := uint64(g + 1)
			free := func(p *uint64) {
				if *p != uint64(uintptr(unsafe.Pointer(p)))*3 {
					t.Error("an allocation was overwritten")
				}
				*p = 0
				if err := source.Free(unsafe.Pointer(p)); err != nil {
					t.Error(err)
				}
			}
			for i := range rounds {
				random = random*6364136223846793005 + 1442695040888963407
				size := 8 + int(random>>33)%2000
				if random>>60 == 0 {
					size *= 100
				}
				raw, err := source.Alloc(size, 8)
				if err != nil {
					t.Error(err)
					return
				}
				p := (*uint64)(raw)
				*p = uint64(uintptr(raw)) * 3
				select {
				case queue <- p:
				default:
					free(p)
				}
				if i%3 != 0 {
					select {
					case p := <-queue:
						free(p)
					default:
					}
				}
			}
		})
	}
	ended := make(chan bool)
	go func() { running.Wait(); close(ended) }()
	for {
		a.NextFrame()
		a.Stats()
		select {
		case <-ended:
			close(queue)
			for p := range queue {
				mustFree(t, a, unsafe.Pointer(p))
			}
			return
		default:
			runtime.Gosched()
		}
	}
}

func TestCloseBesideGoroutines(t *testing.T) {
	for range 20 {
		a := mustNew(t, Config{BlockSize: 64 << 10})
		var running sync.WaitGroup
		for range 4 {
			running.Go(func() {
				for {
					if _, err := a.Alloc(64, 16); err != nil {
						if err != ErrClosed {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		for a.Stats().Full == 0 && a.Stats().BlocksUsed < 10 {
			runtime.Gosched()
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		running.Wait()
	}
}
