package heap

import (
	"math"
	"testing"
)

func TestAShareOfTheMemoryIsALimit(t *testing.T) {
	all := availableMemory()
	if all < 64<<20 {
		t.Fatalf("the machine has %d bytes of memory, it says", all)
	}
	h := mustNew(t, WithMemoryShare(0.25))
	if got := uint64(h.Stats().LimitBytes); got != min(all/4, math.MaxInt) {
		t.Errorf("a quarter of %d is %d", all, got)
	}
}
