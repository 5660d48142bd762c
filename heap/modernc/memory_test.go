package memory

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"granary/heap"
)

func mustClose(t *testing.T, a *Allocator) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if *a != (Allocator{}) {
		t.Errorf("after Close it is %+v, not the zero Allocator", *a)
	}
}

// TestSlicesKeepTheirContents runs random calls against a model.
func TestSlicesKeepTheirContents(t *testing.T) {
	var a Allocator
	defer mustClose(t, &a)
	random := rand.New(rand.NewPCG(1, 2))
	live := map[int][]byte{}
	fill := func(key int) byte { return byte(key*7 + 1) }
	check := func(key, size int) {
		t.Helper()
		if n := bytes.Count(live[key][:size], []byte{fill(key)}); n != size {
			t.Fatalf("%d of %d bytes are not as they were written", size-n, size)
		}
	}
	for step := range 20000 {
		key := random.IntN(200)
		size := 1 + random.IntN(1<<random.IntN(18))
		b, ok := live[key]
		var err error
		switch {
		case !ok && random.IntN(2) == 0:
			b, err = a.Calloc(size)
			if bytes.Count(b, []byte{0}) != size {
				t.Fatal("a slice of Calloc is not zero")
			}
		case !ok:
			b, err = a.Malloc(size)
		case random.IntN(2) == 0:
			kept := min(size, len(b))
			live[key], err = a.Realloc(b, size)
			b = live[key]
			check(key, kept)
		default:
			check(key, len(b))
			if err := a.Free(b[:random.IntN(len(b))]); err != nil {
				t.Fatal(err)
			}
			delete(live, key)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(b) != size || uintptr(unsafe.Pointer(&b[0]))%16 != 0 || UsableSize(&b[0]) < cap(b) || cap(b) < size {
			t.Fatalf("step %d: %d bytes at %p with room for %d of %d", step, len(b), &b[0], cap(b), UsableSize(&b[0]))
		}
		live[key] = b
		copy(b, bytes.Repeat([]byte{fill(key)}, size))
		mustCount(t, &a, live)
	}
}

func mustCount(t *testing.T, a *Allocator, live map[int][]byte) {
	t.Helper()
	want := 0
	for _, b := range live {
		want += UsableSize(unsafe.SliceData(b))
	}
	if a.Allocs != len(live) || counters && a.Bytes != want || a.Mmaps != 1 {
		t.Fatalf("%d blocks of %d bytes, but the figures are %d, %d, %d", len(live), want, a.Allocs, a.Bytes, a.Mmaps)
	}
}

func TestSizeZeroIsNoBlock(t *testing.T) {
	var a Allocator
	defer mustClose(t, &a)
	for name, alloc := range map[string]func(int) (uintptr, error){
		"malloc": a.UintptrMalloc, "calloc": a.UintptrCalloc,
		"realloc": func(size int) (uintptr, error) { return a.UintptrRealloc(0, size) },
	} {
		if p, err := alloc(0); p != 0 || err != nil {
			t.Errorf("%s(0) = %#x, %v", name, p, err)
		}
	}
	if b, err := a.Malloc(0); b != nil || err != nil {
		t.Errorf("Malloc(0) = %v, %v", b, err)
	}
	if err := errors.Join(a.UintptrFree(0), a.Free(nil), a.Free([]byte{})); err != nil {
		t.Error(err)
	}
	p, err := a.UintptrMalloc(100)
	if err != nil {
		t.Fatal(err)
	}
	if p, err = a.UintptrRealloc(p, 0); p != 0 || err != nil || a.Allocs != 0 {
		t.Errorf("realloc(p, 0) = %#x, %v, and %d blocks are left", p, err, a.Allocs)
	}
	if UintptrUsableSize(0) != 0 || UsableSizeFor(0) != 0 {
		t.Error("nothing has a size")
	}
}

func TestMistakes(t *testing.T) {
	var a, b Allocator
	defer mustClose(t, &a)
	defer mustClose(t, &b)
	p, err := a.UnsafeMalloc(100)
	if err != nil {
		t.Fatal(err)
	}
	var misuse *heap.MisuseError
	if err := b.UnsafeFree(p); !errors.As(err, &misuse) || misuse.Kind != heap.NoBlock {
		t.Errorf("free to an unused Allocator: %v", err)
	}
	if _, err := b.UnsafeRealloc(p, 5); !errors.As(err, &misuse) || misuse.Kind != heap.NoBlock {
		t.Errorf("realloc by an unused Allocator: %v", err)
	}
	if err := a.UnsafeFree(unsafe.Add(p, 16)); !errors.As(err, &misuse) || misuse.Kind != heap.InsideBlock {
		t.Errorf("free inside of a block: %v", err)
	}
	if err := a.UnsafeFree(p); err != nil {
		t.Fatal(err)
	}
	if err := a.UnsafeFree(p); !errors.As(err, &misuse) || misuse.Kind != heap.FreedTwice {
		t.Errorf("free for the second time: %v", err)
	}
	if a.Allocs != 0 {
		t.Errorf("%d blocks are left", a.Allocs)
	}
	if _, err := a.UintptrMalloc(1 << 60); !errors.Is(err, heap.ErrNoMemory) && !errors.Is(err, heap.ErrSize) {
		t.Errorf("a block of 2^60 bytes: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a negative size is no panic")
		}
	}()
	a.Malloc(-1)
}

func TestUsableSizeForIsExactUpTo32K(t *testing.T) {
	options = append(options, heap.WithProfileRate(0)) // samples have whole pages
	defer func() { options = options[:1] }()
	var a Allocator
	defer mustClose(t, &a)
	for size := 1; size <= 32<<10; size += 1 + size/50 {
		for name, alloc := range map[string]func(int) (uintptr, error){"malloc": a.UintptrMalloc, "calloc": a.UintptrCalloc} {
			p, err := alloc(size)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := UintptrUsableSize(p), UsableSizeFor(size); got != want || want < size {
				t.Errorf("%s: UsableSizeFor(%d) = %d, but the block has %d", name, size, want, got)
			}
		}
	}
	if got := UsableSizeFor(100_000); got < 100_000 {
		t.Errorf("UsableSizeFor(100000) = %d", got)
	}
}

func TestUsableSizeFindsTheAllocator(t *testing.T) {
	allocators := make([]Allocator, 5)
	for i := range allocators {
		p, err := allocators[i].UintptrMalloc(100 * (i + 1))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if got, want := UintptrUsableSize(p), 100*(i+1); got < want {
				t.Errorf("a block of Allocator %d has %d bytes, want %d", i, got, want)
			}
			mustClose(t, &allocators[i])
			if got := UintptrUsableSize(p); got != 0 {
				t.Errorf("after Close a block has %d bytes", got)
			}
		}()
	}
}

func TestTrimAndCloseGiveMemoryBack(t *testing.T) {
	var a Allocator
	if err := errors.Join(a.Trim(), a.Close()); err != nil {
		t.Error(err)
	}
	var blocks []uintptr
	for range 1000 {
		p, err := a.UintptrCalloc(20000)
		if err != nil {
			t.Fatal(err)
		}
		*(*byte)(pointer(p)) = 1
		blocks = append(blocks, p)
	}
	before := a.heap.Stats().ResidentBytes
	for _, p := range blocks[1:] {
		if err := a.UintptrFree(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Trim(); err != nil {
		t.Fatal(err)
	}
	if after := a.heap.Stats().ResidentBytes; after > before/10 {
		t.Errorf("%d bytes are resident after Trim, %d before", after, before)
	}
	mustClose(t, &a) // with a block that is alive
}

func TestAnyGoroutineMayUseShared(t *testing.T) {
	var s Shared
	var done sync.WaitGroup
	for g := range 8 {
		done.Go(func() {
			random := rand.New(rand.NewPCG(uint64(g), 2))
			var live [32]uintptr
			for range 5000 {
				at := &live[random.IntN(len(live))]
				size := random.IntN(3000)
				var err error
				switch random.IntN(3) {
				case 0:
					err = s.UintptrFree(*at)
					*at = 0
				case 1:
					*at, err = s.UintptrRealloc(*at, size)
				default:
					if err = s.UintptrFree(*at); err == nil {
						*at, err = s.UintptrCalloc(size)
					}
				}
				if err != nil {
					t.Error(err)
					return
				}
				if *at != 0 && UintptrUsableSize(*at) < size {
					t.Errorf("a block of %d bytes has %d", size, UintptrUsableSize(*at))
				}
			}
			for _, p := range live {
				if err := s.UintptrFree(p); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	if allocs, bytes, mmaps := s.Counts(); allocs != 0 || bytes != 0 || mmaps != 1 {
		t.Errorf("%d blocks of %d bytes are left, %d mappings", allocs, bytes, mmaps)
	}
	p, err := s.UintptrMalloc(100)
	if err != nil {
		t.Fatal(err)
	}
	if allocs, bytes, _ := s.Counts(); allocs != 1 || bytes != UintptrUsableSize(p) {
		t.Errorf("one block: the figures are %d, %d", allocs, bytes)
	}
	if err := s.UintptrFree(p); err != nil {
		t.Error(err)
	}
}
