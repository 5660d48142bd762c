package managed

import (
	"errors"
	"math"
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// This file: functions of the program that the heap calls, which end in unusual ways or call the heap.

func TestFinalizerThatEndsItsGoroutine(t *testing.T) {
	h := newHeap(t)
	ran := make(chan int)
	for round := range 3 {
		mutate(t, h, func(m *Mutator) {
			p := must(Make[node](m))
			err := SetFinalizer(m, p, func(*Mutator, *node) {
				ran <- round
				runtime.Goexit()
			}, Unordered)
			if err != nil {
				t.Fatal(err)
			}
			m.Collect()
		})
		select {
		case got := <-ran:
			if got != round {
				t.Errorf("finalizer %d instead of %d", got, round)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("finalizer %d does not run", round)
		}
	}
}

// The object of a finalizer lives for the time of the call, whatever that calls.
func TestFinalizersInFinalizers(t *testing.T) {
	const count = 5
	h := newHeap(t, WithManualFinalizers())
	mutate(t, h, func(m *Mutator) {
		depth := 0
		finalizer := func(m *Mutator, p *node) {
			value := p.value
			depth++
			defer func() { depth-- }()
			if depth < count {
				m.RunFinalizers()
			} else {
				m.Collect()
				for range 10_000 {
					must(Make[node](m)).value = -1
				}
			}
			if p.value != value {
				t.Errorf("at depth %d an object was freed while its finalizer ran: %d, was %d", depth, p.value, value)
			}
		}
		for i := range count {
			p := must(Make[node](m))
			p.value = i + 1
			if err := SetFinalizer(m, p, finalizer, Unordered); err != nil {
				t.Fatal(err)
			}
		}
		m.Collect()
		m.RunFinalizers()
		if len(m.finalizing) != 0 {
			t.Errorf("%d objects are still taken for ones whose finalizers run", len(m.finalizing))
		}
		if n := h.Stats().FinalizersRun; n != count {
			t.Errorf("%d finalizers ran", n)
		}
	})
}

// The heap's own goroutine is no reason for Close to refuse.
func TestCloseWaitsForTheFinalizerThatRuns(t *testing.T) {
	h, err := New(WithRange(1<<30), WithTicker(false))
	if err != nil {
		t.Fatal(err)
	}
	began, goOn := make(chan struct{}), make(chan struct{})
	ran := 0
	mutate(t, h, func(m *Mutator) {
		for range 10 {
			p := must(Make[node](m))
			SetFinalizer(m, p, func(m *Mutator, p *node) {
				if ran++; ran == 1 {
					if err := h.Close(); err != ErrMutators {
						t.Errorf("Close in a finalizer: %v", err)
					}
					close(began)
					<-goOn
				}
			}, Unordered)
		}
		m.Collect()
	})
	<-began
	closed := make(chan error)
	go func() { closed <- h.Close() }()
	for h.closing.Load() == 0 {
		runtime.Gosched()
	}
	close(goOn)
	if err := <-closed; err != nil {
		t.Errorf("Close while a finalizer runs: %v", err)
	}
	if ran != 1 {
		t.Errorf("%d finalizers ran", ran)
	}
}

// A Close that refuses leaves the finalizers to run.
func TestFinalizersGoOnAfterCloseRefused(t *testing.T) {
	h := newHeap(t)
	m := must(h.Attach())
	ran := make(chan struct{})
	p := must(Make[node](m))
	SetFinalizer(m, p, func(*Mutator, *node) { close(ran) }, Unordered)
	h.closing.Add(1) // as a Close that is under way
	m.Collect()
	h.closing.Add(-1)
	if err := h.Close(); err != ErrMutators {
		t.Errorf("closed with a mutator: %v", err)
	}
	m.Blocking(func() { <-ran })
	m.Detach()
}

func TestFinalizerThatPanics(t *testing.T) {
	h := newHeap(t, WithManualFinalizers())
	mutate(t, h, func(m *Mutator) {
		for range 2 {
			p := must(Make[node](m))
			if err := SetFinalizer(m, p, func(*Mutator, *node) { panic("finalizer") }, Unordered); err != nil {
				t.Fatal(err)
			}
		}
		m.Collect()
		for range 2 {
			if panics(func() { m.RunFinalizers() }) != "finalizer" || len(m.finalizing) != 0 {
				t.Error("the panic of a finalizer is lost, or its object is kept")
			}
		}
		if n := m.RunFinalizers(); n != 0 {
			t.Errorf("%d finalizers ran twice", n)
		}
	})
}

func panics(call func()) (what any) {
	defer func() { what = recover() }()
	call()
	return nil
}

// A heap's lock is not held while the program is told what WithVerify found.
func TestVerifyReportMayUseTheHeap(t *testing.T) {
	for name, report := range map[string]func(h *Heap){
		"figures": func(h *Heap) { h.Stats() },
		"panics":  func(h *Heap) { panic("report") },
		"makes":   func(h *Heap) { h.Do(func(m *Mutator) { must(Make[node](m)) }) },
		"trims":   func(h *Heap) { h.Trim() },
	} {
		t.Run(name, func(t *testing.T) {
			var h *Heap
			told := 0
			h = newPlainHeap(t, WithMode(Manual), WithHelpers(0), WithVerify(func(*VerifyError) {
				told++
				report(h)
			}))
			hideNode(t, h)
			if told != 1 {
				t.Errorf("the report was called %d times", told)
			}
			if h.Stats().Mutators != 0 {
				t.Error("a mutator is left")
			}
		})
	}
}

// hideNode moves an address without Set from an object that marking has not come to, to one that it has passed.
func hideNode(t *testing.T, h *Heap) {
	s := must(h.NewStack(1000))
	mutate(t, h, func(m *Mutator) {
		root := must(NewHandle(m, tree(m, s, 14), Normal))
		defer root.Free()
		box := must(NewHandle(m, must(Make[node](m)), Normal))
		defer box.Free()
		if !m.CollectIncremental(0) {
			t.Fatal("marking is over at once")
		}
		box.Set(must(Make[node](m))) // marked, as it is new
		parent := unmarked(h, root.Get())
		box.Get().left.Set(parent.right.Get())
		parent.right = PtrTo[node](nil)
		for more := true; more; {
			panics(func() { more = m.CollectIncremental(0) })
			more = more && h.Stats().Marking
		}
	})
}

func TestObservers(t *testing.T) {
	h := newHeap(t)
	h.OnCollect(nil)
	told := 0
	h.OnCollect(func(Collection) {
		if told++; told == 1 {
			panic("observer")
		}
	})
	mutate(t, h, func(m *Mutator) {
		if panics(m.Collect) != "observer" {
			t.Error("the panic of an observer is lost")
		}
		m.Collect()
	})
	h.Collect()
	if told != 3 {
		t.Errorf("told of %d collections", told)
	}
}

func TestBlockingInBlocking(t *testing.T) {
	h := newHeap(t)
	mutate(t, h, func(m *Mutator) {
		m.Blocking(func() {
			m.Blocking(func() {})
			h.Collect() // would wait for this mutator if it ran again
			m.Collect()
			m.Blocking(func() { h.Collect() })
		})
		if m.state.Load() != stateRunning {
			t.Error("the mutator does not run after Blocking")
		}
		must(Make[node](m))
	})
	if n := h.Stats().Collections; n != 3 {
		t.Errorf("%d collections", n)
	}
}

func TestDetachInDo(t *testing.T) {
	h := newHeap(t)
	for range 3 {
		mutate(t, h, func(m *Mutator) {
			m.Detach()
			m.Collect()
			if must(Make[node](m)) == nil {
				t.Error("a mutator of Do was detached")
			}
		})
		h.Collect()
	}
	if n := h.Stats().Mutators; n != 0 {
		t.Errorf("%d mutators", n)
	}
}

func TestFunctionsThatEndTheirGoroutine(t *testing.T) {
	h := newHeap(t)
	for _, f := range []func(m *Mutator){
		func(m *Mutator) { runtime.Goexit() },
		func(m *Mutator) { m.Blocking(runtime.Goexit) },
		func(m *Mutator) { m.Blocking(func() { m.Blocking(runtime.Goexit) }) },
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			h.Do(func(m *Mutator) {
				must(Make[node](m))
				f(m)
			})
		}()
		<-done
		h.Collect()
		if n := h.Stats().Mutators; n != 0 {
			t.Errorf("%d mutators", n)
		}
	}
}

func TestZeroHeapIsClosed(t *testing.T) {
	var h Heap
	var block [16]byte
	p := unsafe.Pointer(&block)
	errs := map[string]error{
		"Do": h.Do(func(*Mutator) { t.Error("a zero Heap has mutators") }), "AddRange": h.AddRange(p, 16),
		"Reserve": h.Reserve(16),
	}
	_, errs["Attach"] = h.Attach()
	_, errs["NewStack"] = h.NewStack(16)
	for name, err := range errs {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	h.Collect()
	h.Idle()
	h.Trim()
	h.SetLimit(1 << 20)
	if h.CollectIncremental(time.Millisecond) || h.Base(p) != nil || h.Size(p) != 0 || h.ReadyFinalizers() != 0 ||
		h.Stats().HeapBytes != 0 || h.RemoveRange(p, 16) {
		t.Error("a zero Heap has something")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

func TestUnknownModeIsNone(t *testing.T) {
	h := newHeap(t, WithMode(Manual), WithMode(77))
	for _, mode := range []Mode{-1, 3, math.MaxInt32} {
		if h.SetMode(mode); h.Mode() != Manual {
			t.Errorf("mode %d is taken: %v", mode, h.Mode())
		}
	}
}
