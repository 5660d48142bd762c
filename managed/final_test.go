package managed

import (
	"runtime"
	"sync/atomic"
	"testing"

	"granary/heap"
	"granary/object"
)

func TestFinalizersRunOnceAndMayResurrect(t *testing.T) {
	h := newHeap(t, WithManualFinalizers())
	mutate(t, h, func(m *Mutator) {
		var ran []int
		kept := must(NewHandle[node](m, nil, Normal))
		add := func(value int, order Order) *node {
			n := must(Make[node](m))
			n.value = value
			s := SetFinalizer(m, n, func(m *Mutator, n *node) {
				m.Collect() // the object lives through it
				ran = append(ran, n.value)
				if n.value == 3 {
					kept.Set(n)
				}
			}, order)
			if s != nil {
				t.Fatal(s)
			}
			return n
		}
		first := must(NewHandle(m, add(1, Topological), Normal))
		first.Get().left.Set(add(2, Topological))
		third := must(NewHandle(m, add(3, Unordered), Normal))
		taken := must(NewHandle(m, add(4, Unordered), Normal))
		SetFinalizer[node](m, taken.Get(), nil, Unordered)
		for _, hd := range []Handle[node]{first, third, taken} {
			hd.Free()
		}
		m.Collect()
		if h.ReadyFinalizers() != 2 {
			t.Errorf("%d are ready", h.ReadyFinalizers())
		}
		m.RunFinalizers()
		m.Collect()
		m.RunFinalizers()
		m.Collect()
		if len(ran) != 3 || ran[2] != 2 || ran[0]+ran[1] != 4 {
			t.Errorf("finalizers ran of %v", ran)
		}
		if n := kept.Get(); n == nil || n.value != 3 {
			t.Error("an object that its finalizer kept is lost")
		}
		s := h.Stats()
		if s.FinalizersRun != 3 || s.Finalizers != 0 || s.FinalizersReady != 0 || len(h.finalizers.functions) != 0 {
			t.Errorf("%d ran, %d and %d are left, %d functions", s.FinalizersRun, s.Finalizers, s.FinalizersReady,
				len(h.finalizers.functions))
		}
	})
}

func TestFinalizersRunByThemselves(t *testing.T) {
	h := newHeap(t)
	var ran atomic.Int32
	done := make(chan struct{})
	err := h.Do(func(m *Mutator) {
		for range 100 {
			n := must(Make[node](m))
			SetFinalizer(m, n, func(*Mutator, *node) {
				if ran.Add(1) == 100 {
					close(done)
				}
			}, Unordered)
		}
		m.Collect()
	})
	if err != nil {
		t.Fatal(err)
	}
	<-done
	for h.running.Load() { // the goroutine that runs them is still a mutator
		runtime.Gosched()
	}
	check(t, h)
}

func TestWrappersOfDestroyedObjectsAreNull(t *testing.T) {
	native, err := heap.New(heap.WithTicker(false))
	if err != nil {
		t.Fatal(err)
	}
	defer native.Close()
	h := newHeap(t, WithManualFinalizers())
	type body struct{ x, y float64 }
	mutate(t, h, func(m *Mutator) {
		a := must(NewHandle(m, must(NewWrapper[body](m, native, false)), Normal))
		b := must(NewHandle(m, must(NewWrapper[body](m, native, false)), Normal))
		must(a.Get().Get()).x = 3
		if a.Get().IsNull() || a.Get().Equal(b.Get()) || !a.Get().Equal(a.Get()) || a.Get().Equal(nil) {
			t.Error("wrappers of living objects are mixed up")
		}
		if err := a.Get().Destroy(); err != nil {
			t.Error(err)
		}
		if !a.Get().IsNull() || !a.Get().Equal(nil) || a.Get().Equal(b.Get()) {
			t.Error("the wrapper of a destroyed object is not null")
		}
		if _, err := a.Get().Get(); err != ErrDestroyed || err.Error() != "Object does not exist." {
			t.Errorf("use of it: %v", err)
		}
		if err := a.Get().Destroy(); err != ErrDestroyed {
			t.Errorf("destroyed twice: %v", err)
		}
		b.Get().Destroy()
		if !a.Get().Equal(b.Get()) {
			t.Error("two destroyed ones differ")
		}
		var none *Wrapper[body]
		if _, err := none.Get(); !none.IsNull() || !none.Equal(a.Get()) || err != ErrDestroyed {
			t.Error("nil is not null")
		}
		m.Collect()
		if s := h.Stats().Wrappers; s != (WrapperStats{Alive: 2, Destroyed: 2}) {
			t.Errorf("%+v", s)
		}
		a.Free()
		b.Free()
		must(NewWrapper[body](m, native, false))
		must(NewWrapper[body](m, native, true))
		m.Collect()
		m.RunFinalizers()
		if s := h.Stats().Wrappers; s != (WrapperStats{Orphans: 1}) {
			t.Errorf("%+v", s)
		}
		if live := native.Stats().LiveBlocks; live != 1 {
			t.Errorf("%d native objects are left", live)
		}
		if _, err := NewWrapper[*int](m, native, false); err == nil {
			t.Error("a native object with a Go pointer is accepted")
		}
	})
}

func TestWrappersOfDeletedObjectsAreNull(t *testing.T) {
	type unit struct{ health int }
	units := object.NewType[unit]("managed test unit")
	h := newHeap(t, WithManualFinalizers())
	mutate(t, h, func(m *Mutator) {
		u := units.New()
		a := must(NewHandle(m, must(WrapObject(m, u)), Normal))
		b := must(NewHandle(m, must(WrapObject(m, u)), Normal))
		must(a.Get().Get()).health = 3
		if !a.Get().Equal(b.Get()) || a.Get().Equal(nil) || must(b.Get().Get()).health != 3 {
			t.Error("wrappers of one object differ")
		}
		if err := a.Get().Destroy(); err != nil || !u.IsNull() {
			t.Errorf("Destroy: %v", err)
		}
		if _, err := b.Get().Get(); err != ErrDestroyed || !b.Get().Equal(nil) || b.Get().Destroy() != ErrDestroyed {
			t.Errorf("use of a deleted object: %v", err)
		}
		if s := h.Stats().Wrappers; s != (WrapperStats{Alive: 2, Destroyed: 2}) {
			t.Errorf("%+v", s)
		}
		if _, err := WrapObject(m, u); err != ErrDestroyed {
			t.Errorf("a wrapper of Null: %v", err)
		}
		a.Free()
		b.Free()
		left := units.New()
		must(WrapObject(m, left))
		m.Collect()
		m.RunFinalizers()
		if s := h.Stats().Wrappers; s != (WrapperStats{Orphans: 1}) {
			t.Errorf("%+v", s)
		}
		object.Delete(&left)
	})
}
