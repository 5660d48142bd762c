package heap_test

import (
	"fmt"

	"granary/heap"
)

func ExampleHeap_Reserve() {
	h, err := heap.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer h.Close()
	r, err := h.Reserve(1 << 28) // addresses for 256 MiB, no memory yet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Free()
	b, _ := r.Resize(5)
	copy(b, "stays")
	if _, err := r.Resize(64 << 20); err != nil { // where it is: b is still good
		fmt.Println(err)
		return
	}
	fmt.Println(string(b), len(r.Bytes()))
	// Output: stays 67108864
}

func ExampleGoodSize() {
	fmt.Println(heap.GoodSize(100), heap.GoodSize(1025))
	// Output: 112 1280
}
