package object_test

import (
	"errors"
	"fmt"
	"strings"

	"granary/heap"
	"granary/object"
)

// For a variable of a package; MakeType returns an error where NewType panics.
func ExampleNewType() {
	type door struct{ Open bool }
	doors := object.NewType[door]("door", object.WithSingleOwner())
	d := doors.New()
	d.Must().Open = true
	fmt.Println(doors.Name(), doors.Count(), doors.DeleteEach())
	// Output: door 1 1
}

func ExampleMakeType() {
	type bad struct {
		Size int
		Name string
	}
	_, err := object.MakeType[bad]("bad")
	var pointers *heap.PointerError
	fmt.Println(errors.As(err, &pointers), pointers.Field, pointers.Kind)
	// Output: true field Name string
}

func ExampleLeaks() {
	defer units.DeleteEach()
	newUnit("cat", 9)
	for _, leak := range object.Leaks() {
		if leak.Type == "unit" {
			fmt.Println(leak.Type, leak.Objects)
		}
	}
	// Output: unit 1
}

// main can begin with: defer object.ReportLeaks(os.Stderr)
func ExampleReportLeaks() {
	defer units.DeleteEach()
	newUnit("cat", 9)
	var report strings.Builder
	objects, err := object.ReportLeaks(&report)
	fmt.Println(objects > 0, err, strings.Contains(report.String(), "unit"))
	// Output: true <nil> true
}

func ExampleSlice() {
	type bag struct {
		Items object.Slice[int32]
		Label object.String
	}
	bags := object.NewType[bag]("bag")
	b := bags.New()
	if err := b.Must().Items.Append(1, 2, 3); err != nil {
		fmt.Println(err)
	}
	if err := b.Must().Label.Set("spoons"); err != nil {
		fmt.Println(err)
	}
	fmt.Println(b.Must().Items.View(), b.Must().Label.String())
	object.Delete(&b) // the memory of both goes with it
	// Output: [1 2 3] spoons
}
