package object

import (
	"slices"
	"testing"
	"unsafe"

	core "granary/internal/core/object"
	"granary/internal/core/sys"
)

// References are looked up without asking whether a type was ever made.
func TestReferencesBeforeTheFirstType(t *testing.T) {
	var fresh core.World
	fresh.ReadAsNull(sys.Addr(uintptr(unsafe.Pointer(&nothing))))
	if fresh.IsReady() {
		t.Error("a world that was not made is ready")
	}
	for _, ref := range []core.Ref{0, 1, 1 << 32, 1<<32 | 512, ^core.Ref(0)} {
		if fresh.Find(ref, 8) != nil || fresh.IsAlive(ref) || fresh.TypeOf(ref) != nil {
			t.Errorf("%#x is an object of a world without any", uint64(ref))
		}
	}
	if !fresh.Init(1 << 20) {
		t.Fatal("no world")
	}
	defer fresh.Close()
	if fresh.Find(0, 8) != nil || fresh.IsAlive(0) {
		t.Error("Null is an object")
	}
}

func TestAppendOfASliceToItself(t *testing.T) {
	var s Slice[uint64]
	defer s.Clear()
	must(t, s.Append(1, 2, 3))
	for range 5 {
		for _, from := range []int{0, s.Len() / 2, s.Len() - 1} {
			want := append(slices.Clone(s.View()), s.View()[from:]...)
			must(t, s.Append(s.View()[from:]...))
			if !slices.Equal(s.View(), want) {
				t.Fatalf("from %d on: %v, not %v", from, s.View(), want)
			}
		}
	}
}
