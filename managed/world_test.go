package managed

import (
	"math/rand"
	"runtime"
	"sync"
	"testing"
	"time"
	"unsafe"
)

func TestManyGoroutinesAllocateThroughOneHeap(t *testing.T) {
	for _, slice := range []time.Duration{0, 50 * time.Microsecond} {
		h := newHeap(t, WithTimeSlice(slice))
		var wg sync.WaitGroup
		for g := range 16 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				hammer(t, h, int64(g), 60)
			}()
		}
		old := runtime.GOMAXPROCS(0)
		for i := range 20 {
			runtime.GOMAXPROCS(1 + i%4)
			h.Collect()
		}
		wg.Wait()
		runtime.GOMAXPROCS(old)
		h.Collect()
		check(t, h)
		if live := h.Stats().LiveBytes; live != 0 {
			t.Errorf("%d bytes are alive at the end", live)
		}
	}
}

// hammer builds trees as a mutator, blocks now and then, and checks what it built.
func hammer(t *testing.T, h *Heap, seed int64, rounds int) {
	random := rand.New(rand.NewSource(seed))
	s, err := h.NewStack(1000)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Close()
	for range rounds {
		err := h.Do(func(m *Mutator) {
			depth := random.Intn(8)
			root := must(NewHandle(m, tree(m, s, depth), Normal))
			weak := must(NewHandle(m, root.Get(), WeakShort))
			for range random.Intn(100) {
				must(m.Alloc(random.Intn(5000), Kind(random.Intn(2))))
			}
			m.Blocking(func() { runtime.Gosched() })
			swap(root.Get(), random)
			if got := count(root.Get()); got != 1<<(depth+1)-1 {
				t.Errorf("%d nodes of depth %d", got, depth)
			}
			if weak.Get() != root.Get() {
				t.Error("a weak handle of a living object is cleared")
			}
			root.Free()
			weak.Free()
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// swap exchanges the children of some nodes.
func swap(n *node, random *rand.Rand) {
	for n != nil {
		left, right := n.left.Get(), n.right.Get()
		n.left.Set(right)
		n.right.Set(left)
		if n = left; random.Intn(2) == 0 {
			n = right
		}
	}
}

func TestDetachedAndBlockedMutatorsAreNotWaitedFor(t *testing.T) {
	h := newHeap(t)
	m, err := h.Attach()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != ErrMutators {
		t.Errorf("Close with a mutator: %v", err)
	}
	other, err := h.Attach()
	if err != nil {
		t.Fatal(err)
	}
	other.Detach()
	other.Detach()
	m.Blocking(func() { h.Collect() })
	running, collected := make(chan struct{}), make(chan struct{})
	go func() {
		<-running
		h.Collect()
		close(collected)
	}()
	close(running)
	for done := false; !done; {
		m.Safepoint()
		select {
		case <-collected:
			done = true
		default:
			must(Make[node](m))
		}
	}
	m.Detach()
	h.Collect()
	if n := h.Stats().Mutators; n != 0 {
		t.Errorf("%d mutators", n)
	}
}

func TestClosedHeapSaysSo(t *testing.T) {
	h, err := New(WithRange(16 << 20))
	if err != nil {
		t.Fatal(err)
	}
	var p *node
	var hd Handle[node]
	if err := h.Do(func(m *Mutator) {
		p = must(Make[node](m))
		hd = must(NewHandle(m, p, Normal))
		m.CollectIncremental(0)
	}); err != nil {
		t.Fatal(err)
	}
	if h.Close() != nil || h.Close() != nil {
		t.Error("Close fails")
	}
	if err := h.Do(func(*Mutator) { t.Error("a closed heap has mutators") }); err != ErrClosed {
		t.Errorf("Do: %v", err)
	}
	if _, err := h.Attach(); err != ErrClosed {
		t.Errorf("Attach: %v", err)
	}
	if _, err := h.NewStack(10); err != ErrClosed {
		t.Errorf("NewStack: %v", err)
	}
	if h.AddRange(unsafe.Pointer(h.core), 8) != ErrClosed || h.Reserve(1) != ErrClosed {
		t.Error("a closed heap takes roots, or memory")
	}
	h.Collect()
	if h.CollectIncremental(time.Second) || h.IsHeapPointer(unsafe.Pointer(p)) || hd.Get() != nil || hd.Free() ||
		h.Idle() != (Released{}) || h.Trim() != (Released{}) || h.ReadyFinalizers() != 0 {
		t.Error("a closed heap does something")
	}
	if s := h.Stats(); s.HeapBytes != 0 {
		t.Errorf("a closed heap has %d bytes", s.HeapBytes)
	}
	if barriers.Load()%barrierVerify != 0 {
		t.Errorf("%d heaps are marking", barriers.Load())
	}
}

func TestAttachAndDetachAmidCollections(t *testing.T) {
	h := newHeap(t, WithTimeSlice(20*time.Microsecond))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 100 {
				m, err := h.Attach()
				if err != nil {
					t.Error(err)
					return
				}
				hd := must(NewHandle(m, must(Make[node](m)), Normal))
				hd.Get().value = g
				for range i % 7 {
					must(Make[node](m))
				}
				if i%5 == 0 {
					m.CollectIncremental(0)
				}
				if hd.Get().value != g {
					t.Error("an object with a handle is lost")
				}
				hd.Free()
				m.Detach()
			}
		}()
	}
	for range 50 {
		h.Collect()
		h.Stats()
	}
	wg.Wait()
	h.Collect()
	check(t, h)
	if s := h.Stats(); s.LiveBytes != 0 || s.Mutators != 0 {
		t.Errorf("%d bytes, %d mutators are left", s.LiveBytes, s.Mutators)
	}
}

func TestAddressesOfAClosedHeapServeAnother(t *testing.T) {
	var stale Handle[node]
	bases := map[*byte]bool{}
	for range 200 {
		h, err := New(WithRange(32<<20), WithTicker(false))
		if err != nil {
			t.Fatal(err)
		}
		mutate(t, h, func(m *Mutator) {
			for range 3000 {
				n := must(Make[node](m))
				if n.value != 0 || !n.left.IsNil() {
					t.Fatal("an object of a new heap is not zero")
				}
				n.left.Set(n)
				n.value = 1
			}
			hd := must(NewHandle(m, must(Make[node](m)), Normal))
			if stale.Get() != nil || stale.Free() {
				t.Error("a handle of a closed heap refers to something")
			}
			stale = hd
			if s := h.Stats(); s.Handles[Normal] != 1 || s.Collections != 0 && s.LiveBytes > 3001*32 {
				t.Errorf("a new heap begins with %+v", s)
			}
		})
		bases[pointer[byte](uintptr(h.core.Base))] = true
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(bases) > 20 { // other tests may have left some
		t.Errorf("200 heaps took %d ranges of addresses", len(bases))
	}
}
