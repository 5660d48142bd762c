package object

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"granary/heap"
)

type room struct {
	Name    String
	Doors   [3]Var[room]
	Guests  Slice[guest]
	Numbers Slice[int32]
	Weak    Ref[room]
	Temper  float32
}

type guest struct {
	Name  String
	Place Var[room]
	Bags  Slice[String]
}

func TestMemoryOfFieldsIsFreedWithTheObject(t *testing.T) {
	rooms := NewType[room]("room")
	before := heap.Default().Stats().LiveBlocks
	a, b := rooms.New(), rooms.New()
	f := a.Must()
	must(t, f.Name.Set("hall"))
	must(t, f.Name.Set(f.Name.String()+" of mirrors"))
	f.Doors[2].Set(b)
	must(t, f.Guests.Resize(3))
	must(t, f.Numbers.Append(1, 2, 3, 4, 5))
	must(t, f.Guests.At(1).Name.Set("guest"))
	f.Guests.At(1).Place.Set(b)
	must(t, f.Guests.At(2).Bags.Resize(2))
	must(t, f.Guests.At(2).Bags.At(1).Set("a bag"))
	if f.Name.String() != "hall of mirrors" || f.Name.Len() != 15 || f.Numbers.Len() != 5 || *f.Numbers.At(4) != 5 {
		t.Errorf("%q, %v", f.Name.String(), f.Numbers.View())
	}
	door := b
	Delete(&b)
	if rooms.Unreleased() != 1 || !f.Doors[2].IsNull() {
		t.Errorf("%d unreleased", rooms.Unreleased())
	}
	f.Doors[2].Clear()
	if rooms.Unreleased() != 1 {
		t.Error("the guest does not hold the room")
	}
	must(t, f.Guests.Resize(1))
	if rooms.Unreleased() != 0 {
		t.Error("a guest who was taken away still holds the room")
	}
	f.Doors[0].Set(door) // long gone
	if f.Doors[0].Ref() != (Ref[room]{}) {
		t.Error("a variable was set to an object that was freed")
	}
	must(t, f.Guests.Resize(20))
	f.Guests.At(19).Place.Set(a)
	Delete(&a)
	rooms.Trim()
	// What stays: the chunk, which has slots never used, and the layouts of guest and String.
	if rooms.Unreleased() != 0 || heap.Default().Stats().LiveBlocks > before+3 {
		t.Errorf("%d unreleased, %d blocks are in use and were %d", rooms.Unreleased(),
			heap.Default().Stats().LiveBlocks, before)
	}
	mustBeFine(t)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStringsAndSlicesByThemselves(t *testing.T) {
	before := heap.Default().Stats().LiveBlocks
	var s String
	must(t, s.Set("abcdef"))
	view := unsafe.String(unsafe.SliceData(s.View()), 3)
	must(t, s.Set(view)) // a view of itself
	if s.String() != "abc" {
		t.Errorf("%q", s.String())
	}
	must(t, s.Set(""))
	if s.Len() != 0 || s.View() != nil || s.String() != "" {
		t.Error("not empty")
	}
	var numbers Slice[int]
	for i := range 1000 {
		must(t, numbers.Append(i))
	}
	for i, n := range numbers.View() {
		if i != n {
			t.Fatalf("element %d is %d", i, n)
		}
	}
	must(t, numbers.Resize(10))
	must(t, numbers.Resize(20))
	if *numbers.At(9) != 9 || *numbers.At(10) != 0 {
		t.Error("Resize did not clear what was added")
	}
	if err := numbers.Resize(-1); !errors.Is(err, heap.ErrSize) {
		t.Error(err)
	}
	if err := numbers.Resize(1 << 62); !errors.Is(err, heap.ErrSize) {
		t.Error(err)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("an index out of range did not panic")
			}
		}()
		numbers.At(20)
	}()
	numbers.Clear()
	numbers.Clear()
	var pointers Slice[*int]
	var wrong *heap.PointerError
	if err := pointers.Append(new(int)); !errors.As(err, &wrong) {
		t.Error(err)
	}
	if now := heap.Default().Stats().LiveBlocks; now != before {
		t.Errorf("%d blocks are in use and were %d", now, before)
	}
}

func TestTypesThatCannotBeFieldsAreRefused(t *testing.T) {
	type inner struct{ Deep [2]struct{ Text string } }
	type tree struct {
		Children Slice[struct{ Sub Slice[inner] }]
	}
	type loop struct {
		Children Slice[struct{ More Slice[Slice[int]] }]
	}
	type own struct{ Children Slice[own] }
	type huge struct{ Bytes [1<<30 + 1]byte }
	for _, c := range []struct {
		make func() error
		want string
	}{
		{func() error { _, err := MakeType[inner]("x"); return err }, "field Deep, element, field Text is a string"},
		{func() error { _, err := MakeType[*int]("x"); return err }, "it is one itself"},
		{func() error { _, err := MakeType[map[int]int]("x"); return err }, "it is one itself"},
		{func() error { _, err := MakeType[own]("x"); return err }, "contains itself"},
		{func() error { _, err := MakeType[huge]("x"); return err }, "more than 1073741824"},
		{func() error { _, err := MakeType[[70000]guest]("x"); return err }, "more than 65536"},
	} {
		err := c.make()
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "object type x") {
			t.Errorf("the error is %q, expected one with %q", fmt.Sprint(err), c.want)
		}
	}
	if _, err := MakeType[loop]("x"); err != nil {
		t.Error(err)
	}
	_ = tree{}
	var pointer *heap.PointerError
	if _, err := MakeType[inner]("x"); !errors.As(err, &pointer) || pointer.Field == "" {
		t.Errorf("%v is no PointerError", err)
	}
	defer func() {
		if reason := fmt.Sprint(recover()); !strings.Contains(reason, "field Deep") {
			t.Errorf("NewType panicked with %q", reason)
		}
	}()
	NewType[inner]("x")
}

func TestSmallAndOddTypes(t *testing.T) {
	odd(t, struct{}{})
	odd(t, [3]byte{1, 2, 3})
	odd(t, [3]uint32{1, 2, 3})
	odd(t, [5]int64{1, 2, 3, 4, 5})
	odd(t, [100000]byte{9})
}

func odd[T comparable](t *testing.T, value T) {
	kind := NewType[T](fmt.Sprintf("%T", value))
	var zero T
	var made []Ref[T]
	for range 700 {
		r := kind.New()
		if *r.Must() != zero {
			t.Fatalf("a new %T is not zero", value)
		}
		*r.Must() = value
		made = append(made, r)
	}
	for _, r := range made {
		if p, err := r.Get(); err != nil || *p != value {
			t.Fatalf("a %T is %v, %v", value, p, err)
		}
		Delete(&r)
	}
	for range 100 {
		if r := kind.New(); *r.Must() != zero {
			t.Fatalf("a new %T in used memory is not zero", value)
		}
	}
	kind.DeleteEach()
	if kind.Trim() == 0 || kind.Stats().Alive != 0 {
		t.Errorf("%+v", kind.Stats())
	}
	mustBeFine(t)
}

func TestUseAfterDeleteIsAnError(t *testing.T) {
	things := NewType[thing]("monster")
	r := things.New()
	var v Var[thing]
	v.Set(r)
	old := r
	Delete(&r)
	for name, get := range map[string]func() (*thing, error){"null": r.Get, "deleted": old.Get, "variable": v.Get} {
		p, err := get()
		if p != nil || !errors.Is(err, ErrNotExist) || err.Error() != "Object does not exist." {
			t.Errorf("%s: %v, %v", name, p, err)
		}
		var details *NotExistError
		if !errors.As(err, &details) || name != "null" && details.Type != "monster" {
			t.Errorf("%s: details %+v", name, details)
		}
	}
	if _, err := r.Get(); err != ErrNotExist {
		t.Errorf("Null gives %v", err)
	}
	if err := fmt.Errorf("wrapped: %w", error(&NotExistError{})); !errors.Is(err, ErrNotExist) {
		t.Error("a NotExistError is not ErrNotExist")
	}
	if errors.Is(ErrOtherType, ErrNotExist) {
		t.Error("ErrOtherType is ErrNotExist")
	}
	if err := things.InsertAfter(old, things.New()); err != nil {
		t.Errorf("a deleted object that is held cannot be moved: %v", err)
	}
	v.Clear()
	if err := things.InsertAfter(old, things.First()); !errors.Is(err, ErrNotExist) {
		t.Error(err)
	}
	if err := things.InsertBefore(things.First(), Ref[thing]{}); !errors.Is(err, ErrNotExist) {
		t.Error(err)
	}
	if err := things.InsertBefore(things.First(), NewType[thing]("other").New()); err != ErrOtherType {
		t.Error(err)
	}
	defer func() {
		err, _ := recover().(error)
		if err == nil || !strings.Contains(err.Error(), "monster: Object does not exist.") || !errors.Is(err, ErrNotExist) {
			t.Errorf("Must panics with %v", err)
		}
		defer func() {
			if text := fmt.Sprint(recover()); !strings.Contains(text, "object.thing: Object does not exist.") {
				t.Errorf("Must of Null panics with %s", text)
			}
		}()
		r.Must()
	}()
	old.Must()
}

func makeHere(things *Type[thing]) Ref[thing] { return things.New() }

func deleteHere(r Ref[thing]) { Delete(&r) }

func TestDiagnosticsSayWhereAnObjectWasMadeAndDeleted(t *testing.T) {
	things := NewType[thing]("diagnosed", WithDiagnostics(true))
	r := makeHere(things)
	deleteHere(r)
	_, err := r.Get()
	var e *NotExistError
	if !errors.As(err, &e) || err.Error() != "Object does not exist." {
		t.Fatal(err)
	}
	if !strings.Contains(e.MadeAt.String(), "makeHere") || !strings.Contains(e.DeletedAt.String(), "deleteHere") {
		t.Errorf("%s", e.Details())
	}
	if text := e.Details(); strings.Contains(text, "core/object") || strings.Contains(text, "object.Delete") ||
		!strings.HasPrefix(text, "diagnosed: Object does not exist.\n  deleted at:\n    #0 ") {
		t.Errorf("%s", text)
	}
	for range 3 {
		makeHere(things)
	}
	other := things.New()
	var v Var[thing]
	v.Set(other)
	Delete(&other)
	var own []Leak
	for _, leak := range Leaks() {
		if leak.Type == "diagnosed" {
			own = append(own, leak)
		}
	}
	if len(own) != 2 || own[0].Objects != 3 || !strings.Contains(own[0].String(), "makeHere") ||
		own[1].Unreleased != 1 || !strings.Contains(own[1].String(), "1 objects are deleted but still held") {
		t.Errorf("the leaks are %v", own)
	}
	var text strings.Builder
	if n, err := ReportLeaks(&text); n < 3 || err != nil || !strings.Contains(text.String(), own[0].String()) {
		t.Errorf("%d, %v: %s", n, err, text.String())
	}
	v.Clear()
	defer func() {
		if text := fmt.Sprint(recover()); !strings.Contains(text, "deleteHere") || !strings.Contains(text, "makeHere") {
			t.Errorf("Must panics with %s", text)
		}
		things.DeleteEach()
	}()
	r.Must()
}

func TestDeletedFieldsAreFilledInDiagnostics(t *testing.T) {
	rooms := NewType[room]("filled", WithDiagnostics(true))
	r := rooms.New()
	f := r.Must()
	must(t, f.Name.Set("x"))
	f.Weak = r
	Delete(&r)
	if f.Name.String() != "" || f.Doors[0].Ref() != (Ref[room]{}) || f.Guests.Len() != 0 {
		t.Error("what a deleted object held is not empty")
	}
	if _, err := f.Weak.Get(); err == nil {
		t.Error("what deleted fields are filled with is an object")
	}
	if *(*uint32)(unsafe.Pointer(&f.Temper)) != 0xdededede {
		t.Errorf("the fields are %v", f.Temper)
	}
}

func TestLeaksAreCountedByType(t *testing.T) {
	things := NewType[thing]("counted")
	newThings(things, 7)
	found := false
	for _, leak := range Leaks() {
		if leak.Type == "counted" {
			found = leak.Objects == 7 && leak.String() == "granary: leak: counted: 7 objects were not deleted"
		}
	}
	if !found {
		t.Errorf("%v", Leaks())
	}
	things.DeleteEach()
}

func TestTypesOfOneTAreApart(t *testing.T) {
	a, b := NewType[thing]("a"), NewType[thing]("b")
	x, y := a.New(), b.New()
	x.Must().Other.Set(y)
	y.Must().Other.Set(x)
	if !a.After(y).IsNull() || !a.Before(y).IsNull() || a.Count() != 1 || b.Count() != 1 {
		t.Error("an object is in another list")
	}
	if x.String() == y.String() || !strings.HasPrefix(y.String(), "b#") || (Ref[thing]{}).String() != "Null" {
		t.Errorf("%v %v", x, y)
	}
	Delete(&x)
	if a.Unreleased() != 1 {
		t.Errorf("%d unreleased", a.Unreleased())
	}
	Delete(&y)
	if a.Unreleased() != 0 || b.Unreleased() != 0 {
		t.Error("the objects still hold each other")
	}
	mustBeFine(t)
}

func TestRefsAndVarsHaveEightBytes(t *testing.T) {
	if unsafe.Sizeof(Ref[room]{}) != 8 || unsafe.Sizeof(Var[room]{}) != 8 || unsafe.Alignof(Var[room]{}) != 8 {
		t.Error("a reference has another size")
	}
	if reflect.TypeFor[room]().Field(1).Offset%8 != 0 {
		t.Error("a Var is not aligned")
	}
}

func TestNothingIsAllocatedOnTheGoHeap(t *testing.T) {
	things := NewType[thing]("quiet", WithSingleOwner())
	shared := NewType[thing]("quiet, shared")
	newThings(things, 600)
	newThings(shared, 600)
	if n := testing.AllocsPerRun(100, func() {
		for _, kind := range []*Type[thing]{things, shared} {
			r := kind.New()
			var v Var[thing]
			v.Set(r)
			if p, err := v.Get(); err != nil || p.Number != 0 {
				t.Error("not found")
			}
			Delete(&r)
			v.Clear()
			r = kind.New()
			v.Set(r)
			Delete(&v)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMemoryOfAnEndedLevelGoesBack(t *testing.T) {
	things := NewType[[10]int64]("level")
	for range 10000 {
		things.New()
	}
	held := things.Stats().Bytes
	if held < 10000*80 {
		t.Errorf("%d bytes are held", held)
	}
	things.DeleteEach()
	if given := things.Trim(); given < held-512*80 || things.Stats().Bytes != held-given {
		t.Errorf("%d of %d bytes were given back", given, held)
	}
	for range 10000 {
		if r := things.New(); r.IsNull() || r.Must()[0] != 0 {
			t.Fatal("no object after Trim")
		}
	}
	things.DeleteEach()
	mustBeFine(t)
}
