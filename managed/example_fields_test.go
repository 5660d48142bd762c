package managed_test

import (
	"fmt"
	"log"
	"unsafe"

	"granary/managed"
	"granary/object"
)

// New objects may be composite literals; what is changed later is changed by Set.
func ExamplePtrTo() {
	type list struct {
		Trees managed.Slice[tree]
		First managed.Ptr[tree]
		Value managed.Word // an address, or any number
	}
	h, _ := managed.New()
	defer h.Close()
	h.Do(func(m *managed.Mutator) {
		trees, err := managed.MakeSlice[tree](m, 3)
		if err != nil {
			log.Fatal(err)
		}
		kept, _ := managed.NewHandle(m, &trees[0], managed.Normal)
		defer kept.Free()
		l, err := managed.Make[list](m)
		if err != nil {
			log.Fatal(err)
		}
		*l = list{managed.SliceOf(trees), managed.PtrTo(&trees[0]), managed.WordOf(7)}
		fmt.Println(l.Trees.Len(), l.First.Get() == &trees[0], l.Value.Get())
		l.First.Set(nil)
		fmt.Println(l.First.IsNil())
	})
	// Output:
	// 3 true 7
	// true
}

func ExampleSetWord() {
	h, _ := managed.New()
	defer h.Close()
	h.Do(func(m *managed.Mutator) {
		p, err := m.Alloc(8*8, managed.Conservative)
		if err != nil {
			log.Fatal(err)
		}
		words := unsafe.Slice((*uintptr)(p), 8)
		managed.SetWord(&words[3], uintptr(p)) // tells the collector while it marks in slices
		fmt.Println(words[3] == uintptr(p), h.Size(p) >= 64)
	})
	// Output: true true
}

func ExampleGoodSize() {
	size, memory := managed.GoodSize(100, false)
	fmt.Println(size, memory)
	// Output: 112 113
}

func ExampleWeak() {
	type cache struct{ Last managed.Weak[tree] }
	h, _ := managed.New()
	defer h.Close()
	h.Do(func(m *managed.Mutator) {
		c, err := managed.Make[cache](m)
		if err != nil {
			log.Fatal(err)
		}
		keep, _ := managed.NewHandle(m, c, managed.Normal)
		defer keep.Free()
		t, err := managed.Make[tree](m)
		if err != nil {
			log.Fatal(err)
		}
		if err := keep.Get().Last.Set(m, t); err != nil {
			log.Fatal(err)
		}
		m.Collect() // nothing else refers to the tree
		fmt.Println(keep.Get().Last.Get())
	})
	// Output: <nil>
}

type body struct{ X, Y float64 }

var bodies = object.NewType[body]("body")

func ExampleWrapObject() {
	h, _ := managed.New()
	defer h.Close()
	ref := bodies.New()
	h.Do(func(m *managed.Mutator) {
		w, err := managed.WrapObject(m, ref)
		if err != nil {
			log.Fatal(err)
		}
		b, _ := w.Get()
		b.X = 3
		object.Delete(&ref) // by whatever reference
		_, err = w.Get()
		fmt.Println(w.IsNull(), err)
	})
	// Output: true Object does not exist.
}
