package heap_test

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"granary/heap"
)

type point struct{ X, Y float64 }

// must is for examples, where nothing goes wrong.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func Example() {
	h := must(heap.New(heap.WithLimit(1 << 30)))
	defer h.Close()
	p := must(heap.Make[point](h))
	p.X = 3
	fmt.Println(*p)
	heap.Free(h, p)
	fmt.Println(h.Stats().LiveBlocks, "blocks alive")
	// Output:
	// {3 0}
	// 0 blocks alive
}

func ExampleNew() {
	h, err := heap.New(heap.WithName("index"), heap.WithLimit(64<<20), heap.WithTicker(false))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	fmt.Println(h.Name(), h.Stats().LimitBytes>>20, "MiB")
	// Output: index 64 MiB
}

func ExampleDefault() {
	b := must(heap.Bytes(100))
	fmt.Println(len(b), heap.Default().Owns(unsafe.Pointer(&b[0])))
	heap.FreeBytes(b)
	// Output: 100 true
}

func ExampleHeap_Alloc() {
	h := must(heap.New())
	defer h.Close()
	p := must(h.Alloc(100))
	b := unsafe.Slice((*byte)(p), 100)
	copy(b, "outside of the Go heap")
	fmt.Println(string(b[:7]), h.UsableSize(p))
	h.Free(p)
	// Output: outside 112
}

func ExampleHeap_AllocZeroed() {
	h := must(heap.New())
	defer h.Close()
	p := must(h.AllocZeroed(8))
	fmt.Println(*(*uint64)(p))
	h.Free(p)
	// Output: 0
}

func ExampleHeap_AllocAligned() {
	h := must(heap.New())
	defer h.Close()
	p := must(h.AllocAligned(1000, 4096))
	fmt.Println(uintptr(p) % 4096)
	h.Free(p)
	// Output: 0
}

func ExampleHeap_Realloc() {
	h := must(heap.New())
	defer h.Close()
	p := must(h.Alloc(16))
	*(*int)(p) = 42
	p = must(h.Realloc(p, 100_000))
	fmt.Println(*(*int)(p), h.UsableSize(p) >= 100_000)
	h.Free(p)
	// Output: 42 true
}

func ExampleHeap_Free() {
	h := must(heap.New())
	defer h.Close()
	p := must(h.Alloc(16))
	fmt.Println(h.Free(p))
	var misuse *heap.MisuseError
	if err := h.Free(p); errors.As(err, &misuse) {
		fmt.Println(misuse.Kind)
	}
	// Output:
	// <nil>
	// block was already freed
}

func ExampleHeap_Bytes() {
	h := must(heap.New())
	defer h.Close()
	b := must(h.Bytes(4096))
	defer h.FreeBytes(b)
	fmt.Println(len(b), cap(b))
	// Output: 4096 4096
}

func ExampleHeap_Trim() {
	h := must(heap.New())
	defer h.Close()
	p := must(h.AllocZeroed(10 << 20))
	h.Free(p)
	h.Trim()
	fmt.Println(h.Stats().ReleasedBytes>>20, "MiB or more went back")
	// Output: 10 MiB or more went back
}

func ExampleHeap_Tag() {
	h := must(heap.New())
	defer h.Close()
	index := h.Tag("index")
	p := must(heap.Make[point](index))
	for _, tag := range h.Stats().Tags {
		fmt.Println(tag.Name, tag.Blocks, tag.Bytes)
	}
	heap.Free(index, p)
	// Output: index 1 16
}

func ExampleHeap_NewCache() {
	h := must(heap.New())
	defer h.Close()
	c := must(h.NewCache()) // for this goroutine alone
	defer c.Close()
	p := must(heap.Make[point](c))
	fmt.Println(*p)
	heap.Free(c, p)
	// Output: {0 0}
}

func ExampleMake() {
	h := must(heap.New())
	defer h.Close()
	_, err := heap.Make[struct{ Name string }](h)
	var pointers *heap.PointerError
	if errors.As(err, &pointers) {
		fmt.Println(pointers.Field, "is a", pointers.Kind)
	}
	// Output: field Name is a string
}

func ExampleMakeSlice() {
	h := must(heap.New())
	defer h.Close()
	s := must(heap.MakeSlice[point](h, 2, 10))
	fmt.Println(s, cap(s))
	heap.FreeSlice(h, s)
	// Output: [{0 0} {0 0}] 10
}

func ExampleAppend() {
	h := must(heap.New())
	defer h.Close()
	var s []int
	for i := range 1000 {
		s = must(heap.Append(h, s, i))
	}
	fmt.Println(len(s), s[999])
	heap.FreeSlice(h, s)
	// Output: 1000 999
}

func ExampleClone() {
	h := must(heap.New())
	defer h.Close()
	s := must(heap.Clone(h, []byte("a copy")))
	fmt.Println(string(s))
	heap.FreeSlice(h, s)
	// Output: a copy
}

func ExampleRef() {
	h := must(heap.New())
	defer h.Close()
	p := must(heap.Make[point](h))
	p.Y = 7
	byName := map[uint64]heap.Ref[point]{12: heap.RefOf(p)} // the collector sees no pointer here
	fmt.Println(byName[12].Get().Y)
	heap.FreeRef(h, byName[12])
	// Output: 7
}

func ExampleHeap_Leaks() {
	h := must(heap.New(heap.WithDebug(true)))
	defer h.Close()
	must(h.Alloc(50))
	for _, leak := range h.Leaks() {
		fmt.Println(leak.Blocks, "block,", leak.Bytes, "bytes, stack known:", len(leak.AllocatedAt) > 0)
	}
	// Output: 1 block, 50 bytes, stack known: true
}

func ExampleWriteProfile() {
	file := must(os.CreateTemp("", "offheap-*.pb.gz"))
	defer os.Remove(file.Name())
	defer file.Close()
	fmt.Println(heap.WriteProfile(file)) // go tool pprof opens it
	// Output: <nil>
}

func ExampleHeap_ReadMetrics() {
	h := must(heap.New())
	defer h.Close()
	must(h.Alloc(100))
	sample := []heap.MetricSample{{Name: "/granary/heap/blocks:objects"}}
	h.ReadMetrics(sample)
	fmt.Println(sample[0].Value)
	// Output: 1
}
