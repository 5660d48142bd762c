package heap

import (
	"fmt"
	"testing"
	"unsafe"
)

var benchSizes = []int{16, 64, 256, 1024, 4096, 16384}

// BenchmarkPair is an allocation and its free, as one goroutine does them.
func BenchmarkPair(b *testing.B) {
	h := mustNew(b)
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("via=heap/size=%d", size), func(b *testing.B) {
			for range b.N {
				p, err := h.Alloc(size)
				if err != nil {
					b.Fatal(err)
				}
				*(*byte)(p) = 1
				h.Free(p)
			}
		})
	}
	c, err := h.NewCache()
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("via=cache/size=%d", size), func(b *testing.B) {
			for range b.N {
				p, err := c.Alloc(size)
				if err != nil {
					b.Fatal(err)
				}
				*(*byte)(p) = 1
				c.Free(p)
			}
		})
	}
}

// BenchmarkTyped is Make and Free of a small struct, type check included.
func BenchmarkTyped(b *testing.B) {
	type point struct{ X, Y, Z, W float64 }
	h := mustNew(b)
	for range b.N {
		p, err := Make[point](h)
		if err != nil {
			b.Fatal(err)
		}
		Free(h, p)
	}
}

// BenchmarkParallel has as many goroutines as Ps.
func BenchmarkParallel(b *testing.B) {
	h := mustNew(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p, _ := h.Alloc(64)
			*(*byte)(p) = 1
			h.Free(p)
		}
	})
}

// BenchmarkReplace replaces random ones of 4096 live blocks.
func BenchmarkReplace(b *testing.B) {
	h := mustNew(b)
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			var live [4096]unsafe.Pointer
			random := uint32(1)
			for range b.N {
				random = random*1664525 + 1013904223
				at := &live[random>>20]
				h.Free(*at)
				*at, _ = h.Alloc(size)
				*(*byte)(*at) = 1
			}
			b.StopTimer()
			for _, p := range live {
				h.Free(p)
			}
		})
	}
}
