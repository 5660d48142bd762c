package heap

import (
	"cmp"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"
)

// WriteProfile writes a heap profile of all heaps to w: blocks and bytes, alive and since the start, by the stacks
// that allocated them. `go tool pprof` opens it. The figures are estimates from samples; see WithProfileRate. Samples
// have the label "heap" if there are several heaps with names.
func WriteProfile(w io.Writer) error {
	return writeProfile(w, all())
}

// WriteProfile is the profile of one heap.
func (h *Heap) WriteProfile(w io.Writer) error { return writeProfile(w, []*Heap{h}) }

func writeProfile(w io.Writer, heaps []*Heap) error {
	b := newProfileBuilder()
	for _, h := range heaps {
		if h.samples == nil {
			continue
		}
		b.profile.Period = int64(h.samples.rate)
		for _, site := range h.samples.snapshot() {
			b.add(h, &site)
		}
	}
	slices.SortStableFunc(b.profile.Sample, func(a, b *profile.Sample) int { return cmp.Compare(b.Value[3], a.Value[3]) })
	return b.profile.Write(w)
}

// profileBuilder makes a profile; functions and locations are in it once.
type profileBuilder struct {
	profile   *profile.Profile
	locations map[uintptr]*profile.Location
	functions map[string]*profile.Function
}

func newProfileBuilder() *profileBuilder {
	program, _ := os.Executable()
	types := []*profile.ValueType{
		{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
		{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"},
	}
	return &profileBuilder{
		profile: &profile.Profile{
			SampleType: types, DefaultSampleType: "inuse_space",
			PeriodType: &profile.ValueType{Type: "space", Unit: "bytes"},
			TimeNanos:  time.Now().UnixNano(),
			Mapping: []*profile.Mapping{{ID: 1, File: program, Limit: math.MaxUint64, HasFunctions: true,
				HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}},
		},
		locations: map[uintptr]*profile.Location{},
		functions: map[string]*profile.Function{},
	}
}

func (b *profileBuilder) add(h *Heap, s *siteCopy) {
	sample := &profile.Sample{}
	aliveBlocks, aliveBytes := s.allocBlocks-s.freeBlocks, s.allocBytes-s.freeBytes
	for _, value := range []float64{s.allocBlocks, s.allocBytes, aliveBlocks, aliveBytes} {
		sample.Value = append(sample.Value, int64(math.Round(value)))
	}
	if name := h.Name(); name != "" {
		sample.Label = map[string][]string{"heap": {name}}
	}
	inner := true // the frames of this package say nothing
	for _, pc := range s.stack {
		location := b.location(pc)
		if inner = inner && isOwn(location.Line[0].Function.Name); !inner {
			sample.Location = append(sample.Location, location)
		}
	}
	b.profile.Sample = append(b.profile.Sample, sample)
}

func isOwn(function string) bool {
	return strings.HasPrefix(function, thisPackage) && !isTestFunction(function)
}

// location is that of a return address; functions inlined there are lines of it, the innermost first.
func (b *profileBuilder) location(pc uintptr) *profile.Location {
	if known := b.locations[pc]; known != nil {
		return known
	}
	location := &profile.Location{ID: uint64(len(b.locations) + 1), Mapping: b.profile.Mapping[0], Address: uint64(pc)}
	frames := runtime.CallersFrames([]uintptr{pc})
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		location.Line = append(location.Line, profile.Line{Function: b.function(&frame), Line: int64(frame.Line)})
	}
	b.locations[pc] = location
	b.profile.Location = append(b.profile.Location, location)
	return location
}

func (b *profileBuilder) function(frame *runtime.Frame) *profile.Function {
	name := cmp.Or(frame.Function, "unknown")
	if known := b.functions[name]; known != nil {
		return known
	}
	function := &profile.Function{ID: uint64(len(b.functions) + 1), Name: name, SystemName: name, Filename: frame.File}
	b.functions[name] = function
	b.profile.Function = append(b.profile.Function, function)
	return function
}
