package linear_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"granary/heap"
	"granary/linear"
)

type particle struct{ X, Y, Z float32 }

// must ends an example that finds no memory.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func Example() {
	jobs := must(linear.New(linear.Config{Name: "jobs", MaxAge: 4}))
	defer jobs.Close()
	for frame := range 3 {
		particles := must(linear.MakeSlice[particle](jobs, 1000, 1000))
		particles[frame].X = 1
		if err := linear.FreeSlice(jobs, particles); err != nil { // by any goroutine
			fmt.Println(err)
		}
		jobs.NextFrame()
	}
	fmt.Println("frame", jobs.Frame(), "alive", jobs.Stats().Live)
	// Output: frame 3 alive 0
}

func ExampleNew() {
	_, err := linear.New(linear.Config{BlockSize: 4 << 30})
	var bad *linear.ConfigError
	fmt.Println(errors.As(err, &bad), bad.Name)
	// Output: true BlockSize
}

func ExampleMake() {
	a := must(linear.New(linear.Config{}))
	defer a.Close()
	p := must(linear.Make[particle](a))
	fmt.Println(*p, linear.Free(a, p))
	_, err := linear.Make[struct{ Name string }](a)
	var pointers *heap.PointerError
	fmt.Println(errors.As(err, &pointers), pointers.Field)
	// Output:
	// {0 0 0} <nil>
	// true field Name
}

func ExampleAllocator_Alloc() {
	a := must(linear.New(linear.Config{}))
	defer a.Close()
	p := must(a.Alloc(100, 4096))
	fmt.Println(uintptr(p)%4096, a.Free(p))
	// Output: 0 <nil>
}

func ExampleAllocator_NextFrame() {
	a := must(linear.New(linear.Config{Name: "jobs", MaxAge: 2, OnOverdue: func(o linear.Overdue) {
		fmt.Println(o.Count, "older than", o.MaxAge, "frames in frame", o.Frame)
	}}))
	defer a.Close()
	must(a.Alloc(64, 0)) // forgotten
	for range 5 {
		a.NextFrame()
	}
	// Output: 1 older than 2 frames in frame 3
}

func ExampleAllocator_Free() {
	a := must(linear.New(linear.Config{Name: "jobs", Diagnostics: true}))
	defer a.Close()
	p := must(a.Alloc(64, 0))
	fmt.Println(a.Free(p))
	var misuse *linear.MisuseError
	fmt.Println(errors.As(a.Free(p), &misuse), misuse.Kind == linear.FreedTwice)
	// Output:
	// <nil>
	// true true
}

func ExampleAllocator_Reset() {
	a := must(linear.New(linear.Config{}))
	defer a.Close()
	for range 1000 {
		must(a.Alloc(64, 0))
	}
	fmt.Println(a.Stats().Live)
	fmt.Println(a.Reset(), a.Stats().Live)
	// Output:
	// 1000
	// <nil> 0
}

func ExampleWorker() {
	a := must(linear.New(linear.Config{}))
	defer a.Close()
	w := must(a.NewWorker()) // for one goroutine
	defer w.Close()
	list := must(linear.MakeSlice[int32](w, 0, 16))
	list = append(list, 1, 2, 3)
	fmt.Println(list, linear.FreeSlice(a, list)) // by any goroutine
	// Output: [1 2 3] <nil>
}

func ExampleStack() {
	a := must(linear.New(linear.Config{}))
	defer a.Close()
	s := must(a.NewStack("main", 64<<10))
	defer s.Close()
	begin := s.Mark()
	first := must(s.Alloc(100, 0))
	fmt.Println(s.Rewind(begin))
	second := must(s.Alloc(100, 0))
	fmt.Println(first == second, unsafe.Pointer(nil) != second)
	// Output:
	// <nil>
	// true true
}

func ExampleSystem() {
	settings := linear.DefaultSettings()
	if err := settings.ApplyBootConfig("memorysetup-job-temp-allocator-block-size=4194304"); err != nil {
		fmt.Println(err)
	}
	system := must(linear.NewSystem(linear.SystemConfig{Settings: settings, Memory: 8 << 30}))
	stack := must(system.NewStack("Job.Worker 0"))
	must(stack.Alloc(1000, 0))
	must(linear.MakeSlice[particle](system.JobTemp, 100, 100))
	fmt.Println(system.NextFrame(), system.JobTemp.Stats().BlockBytes)
	var report strings.Builder
	if err := system.Report(&report); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.Contains(report.String(), "JobTemp"), system.CloseStack(stack), system.Close())
	// Output:
	// 1 4194304
	// true <nil> <nil>
}

func ExampleSettings_ApplyArgs() {
	settings := linear.DefaultSettings()
	err := settings.ApplyArgs([]string{"-memorysetup-job-temp-allocator-block-size=none"})
	fmt.Fprintln(os.Stderr, err) // says which switch, and what is wrong with it
	fmt.Println(settings == linear.DefaultSettings())
	// Output: true
}
