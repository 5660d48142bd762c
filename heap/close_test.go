package heap

import (
	"errors"
	"testing"
	"unsafe"
)

// TestAClosedHeapTouchesNothingOfTheNext calls a closed heap while another one has its addresses and full caches.
func TestAClosedHeapTouchesNothingOfTheNext(t *testing.T) {
	const rangeBytes = 40 << 20 // no other test has one of this size
	old, err := New(WithRange(rangeBytes))
	if err != nil {
		t.Fatal(err)
	}
	tag := old.Tag("closed")
	stale, err := old.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	next, err := New(WithRange(rangeBytes))
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	if next.core != old.core {
		t.Error("the next heap has other addresses")
	}
	var blocks []unsafe.Pointer
	for range 100 {
		p, err := next.Alloc(64)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, p)
	}
	for _, p := range blocks[50:] {
		next.Free(p) // now its caches have blocks to give away, and room
	}
	before := next.Stats()
	for range 100 {
		p, allocErr := old.Alloc(64)
		zeroed, zeroedErr := old.AllocZeroed(64)
		tagged, taggedErr := tag.Alloc(64)
		if p != nil || zeroed != nil || tagged != nil {
			t.Fatal("a closed heap gives out blocks", p, zeroed, tagged)
		}
		for _, err := range []error{allocErr, zeroedErr, taggedErr, old.Free(blocks[0]), old.Free(stale)} {
			if !errors.Is(err, ErrClosed) {
				t.Fatalf("a call of a closed heap: %v", err)
			}
		}
	}
	if _, err := old.NewCache(); !errors.Is(err, ErrClosed) {
		t.Errorf("NewCache of a closed heap: %v", err)
	}
	if after := next.Stats(); after.LiveBlocks != before.LiveBlocks || after.Mallocs != before.Mallocs {
		t.Errorf("calls of the closed heap changed the next one: %v, %v", before, after)
	}
	for _, p := range blocks[:50] {
		if err := next.Free(p); err != nil {
			t.Error(err)
		}
	}
	mustHold(t, next)
}

// TestSlotsServeAgainEmpty gives slots back with something in them.
func TestSlotsServeAgainEmpty(t *testing.T) {
	slots := takeSlots()
	first := (*slot)(slots)
	first.left, first.mean = 5, 1
	giveSlots(slots)
	if again := takeSlots(); again != slots {
		giveSlots(again)
		t.Error("slots that were given back are not used again")
	} else if first.distance != (distance{}) || first.cache != 0 {
		t.Error("slots do not begin empty", first.distance)
	}
	giveSlots(slots)
}
