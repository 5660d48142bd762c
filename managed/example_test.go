package managed_test

import (
	"errors"
	"fmt"
	"log"
	"time"
	"unsafe"

	"granary/heap"
	"granary/managed"
)

type tree struct {
	Left, Right managed.Ptr[tree]
	Key         int
}

func Example() {
	h, err := managed.New(managed.WithLimit(1 << 30))
	if err != nil {
		log.Fatal(err)
	}
	defer h.Close()
	err = h.Do(func(m *managed.Mutator) {
		root, err := managed.Make[tree](m)
		if err != nil {
			log.Fatal(err)
		}
		keep, err := managed.NewHandle(m, root, managed.Normal)
		if err != nil {
			log.Fatal(err)
		}
		defer keep.Free()
		child, err := managed.Make[tree](m) // a safepoint: root is kept by its handle
		if err != nil {
			log.Fatal(err)
		}
		child.Key = 7
		root.Left.Set(child)
		m.Collect()
		fmt.Println(keep.Get().Left.Get().Key, keep.Get().Right.Get())
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output: 7 <nil>
}

func ExampleMake_goPointers() {
	h, _ := managed.New()
	defer h.Close()
	h.Do(func(m *managed.Mutator) {
		_, err := managed.Make[struct {
			Key  int
			Name string
		}](m)
		var refused *managed.PointerError
		fmt.Println(errors.As(err, &refused), refused.Field, refused.Kind)
	})
	// Output: true field Name string
}

func ExampleMakeSlice() {
	type table struct {
		Rows managed.Slice[managed.Ptr[tree]]
	}
	h, _ := managed.New()
	defer h.Close()
	h.Do(func(m *managed.Mutator) {
		t, _ := managed.Make[table](m)
		keep, _ := managed.NewHandle(m, t, managed.Normal)
		defer keep.Free()
		rows, err := managed.MakeSlice[managed.Ptr[tree]](m, 100)
		if err != nil {
			log.Fatal(err)
		}
		t.Rows.Set(rows)
		leaf, _ := managed.Make[tree](m)
		rows[42].Set(leaf)
		fmt.Println(t.Rows.Len(), rows[42].IsNil(), rows[41].IsNil())
	})
	// Output: 100 false true
}

func ExampleStack() {
	h, _ := managed.New()
	defer h.Close()
	stack, err := h.NewStack(1 << 16)
	if err != nil {
		log.Fatal(err)
	}
	h.Do(func(m *managed.Mutator) {
		for key := range 3 {
			t, _ := managed.Make[tree](m)
			t.Key = key
			stack.Push(uintptr(unsafe.Pointer(t))) // a root from now on
		}
		m.Collect()
		top := (*tree)(unsafe.Add(unsafe.Pointer(nil), stack.Pop()))
		fmt.Println(top.Key, stack.Len())
	})
	// Output: 2 2
}

func ExampleSetFinalizer() {
	h, _ := managed.New(managed.WithManualFinalizers())
	defer h.Close()
	h.Do(func(m *managed.Mutator) {
		t, _ := managed.Make[tree](m)
		t.Key = 5
		err := managed.SetFinalizer(m, t, func(m *managed.Mutator, t *tree) {
			fmt.Println("the last words of", t.Key)
		}, managed.Unordered)
		if err != nil {
			log.Fatal(err)
		}
		m.Collect()
		fmt.Println(m.RunFinalizers())
	})
	// Output:
	// the last words of 5
	// 1
}

// A frame of a game gives the collector what is left of its time.
func ExampleHeap_CollectIncremental() {
	h, _ := managed.New(managed.WithMode(managed.Manual))
	defer h.Close()
	h.OnCollect(func(c managed.Collection) { fmt.Println("collection", c.Number, "for a", c.Cause) })
	for range 1000 {
		h.Do(func(m *managed.Mutator) { managed.Make[tree](m) })
		left := time.Millisecond // until the next frame begins
		if !h.CollectIncremental(left) {
			break // the collection is over
		}
	}
	// Output: collection 1 for a call
}

func ExampleWrapper() {
	type body struct{ X, Y float64 }
	native, err := heap.New()
	if err != nil {
		log.Fatal(err)
	}
	defer native.Close()
	h, _ := managed.New()
	defer h.Close()
	h.Do(func(m *managed.Mutator) {
		w, err := managed.NewWrapper[body](m, native, false)
		if err != nil {
			log.Fatal(err)
		}
		b, _ := w.Get()
		b.X = 3
		w.Destroy()
		_, err = w.Get()
		fmt.Println(w.IsNull(), w.Equal(nil), err)
	})
	// Output: true true Object does not exist.
}
