package heap

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"granary/internal/core/sys"
)

// TestARegionGrowsInPlaceAndReadsAsZero runs random sizes against a model.
func TestARegionGrowsInPlaceAndReadsAsZero(t *testing.T) {
	h := mustNew(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 { // later ones get the addresses of earlier ones, which must read as zero again
		const most = 300_077
		r, err := h.Reserve(most)
		if err != nil {
			t.Fatal(err)
		}
		model := []byte{}
		var start *byte
		for range 50 {
			size := random.IntN(most + 1)
			b, err := r.Resize(size)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) != size || cap(b) != size {
				t.Fatalf("%d bytes have room for %d, want %d", len(b), cap(b), size)
			}
			if start == nil {
				start = unsafe.SliceData(b)
			}
			if unsafe.SliceData(b) != start || unsafe.SliceData(r.Bytes()) != start {
				t.Fatal("the Region moved")
			}
			if len(model) > size {
				model = model[:size:size]
			}
			model = append(model, make([]byte, size-len(model))...)
			if !bytes.Equal(b, model) || len(r.Bytes()) != size {
				t.Fatalf("%d bytes are not what was written, or zero", size)
			}
			if got, want := h.Stats().RegionBytes, int64(pagesOf(size)); got != want {
				t.Fatalf("RegionBytes is %d, want %d", got, want)
			}
			for range min(size, 10) {
				at := random.IntN(size)
				b[at], model[at] = 7, 7
			}
		}
		r.Free()
		r.Free()
		if _, err := r.Resize(1); !errors.Is(err, ErrClosed) || r.Bytes() != nil {
			t.Errorf("after Free: %v", err)
		}
	}
	if got := h.Stats().RegionBytes; got != 0 {
		t.Errorf("%d bytes are left", got)
	}
}

func TestARegionCountsAgainstTheLimit(t *testing.T) {
	h := mustNew(t, WithLimit(4<<20))
	r, err := h.Reserve(256 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resize(3 << 20); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resize(5 << 20); !errors.Is(err, ErrLimit) || len(r.Bytes()) != 3<<20 {
		t.Errorf("5 MiB of 4: %v, and it has %d bytes", err, len(r.Bytes()))
	}
	if _, err := h.Bytes(2 << 20); !errors.Is(err, ErrLimit) {
		t.Errorf("a block beside it: %v", err)
	}
	if _, err := r.Resize(1 << 20); err != nil {
		t.Fatal(err)
	}
	b, err := h.Bytes(2 << 20)
	if err != nil {
		t.Fatalf("it shrank, but: %v", err)
	}
	if err := h.FreeBytes(b); err != nil {
		t.Fatal(err)
	}
	r.Free()
	if b, err = h.Bytes(3 << 20); err != nil {
		t.Fatalf("it was freed, but: %v", err)
	}
	if err := h.FreeBytes(b); err != nil {
		t.Fatal(err)
	}
}

func TestSizesThatNoRegionHas(t *testing.T) {
	h := mustNew(t)
	for _, most := range []int{-1, mostBytes + 1} {
		if _, err := h.Reserve(most); !errors.Is(err, ErrSize) {
			t.Errorf("Reserve(%d): %v", most, err)
		}
	}
	if sys.Is64Bit == 1 { // else it is a part of the addresses that can be had
		if _, err := h.Reserve(mostBytes); !errors.Is(err, ErrNoMemory) {
			t.Errorf("more addresses than there are: %v", err)
		}
	}
	r, err := h.Reserve(0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Free()
	for _, size := range []int{-1, 1} {
		if _, err := r.Resize(size); !errors.Is(err, ErrSize) {
			t.Errorf("Resize(%d) of 0: %v", size, err)
		}
	}
	if b, err := r.Resize(0); b == nil || len(b) != 0 || err != nil {
		t.Errorf("Resize(0) = %v, %v", b, err)
	}
}

func TestCloseFreesRegionsThatAreInUse(t *testing.T) {
	h, err := New(WithLimit(1 << 30))
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	begun := make(chan *Region, 8)
	for range 8 {
		done.Go(func() {
			r, err := h.Reserve(1 << 20)
			if err != nil {
				t.Error(err)
			}
			begun <- r
			for size := 1; ; size = size%(1<<20) + 4096 {
				if _, err := r.Resize(min(size, 1<<20)); err != nil {
					if !errors.Is(err, ErrClosed) {
						t.Error(err)
					}
					break
				}
			}
			r.Free()
		})
	}
	for range 8 {
		<-begun
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	done.Wait()
	if got := h.regionBytes.Load(); got != 0 {
		t.Errorf("%d bytes are left", got)
	}
	if _, err := h.Reserve(1); !errors.Is(err, ErrClosed) {
		t.Errorf("Reserve after Close: %v", err)
	}
}
