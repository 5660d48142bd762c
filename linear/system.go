package linear

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"granary/heap"
)

// LowMemory is below what a machine, or the limit of the process's cgroup, counts as low on memory: 2 GiB.
const LowMemory = 2 << 30

// SystemConfig is how a System is made. The zero value of a field stands for its default.
type SystemConfig struct {
	// Settings are DefaultSettings() unless they are given. Sizes that are 0 stand for the defaults.
	Settings Settings
	// Memory is the memory that there is, in bytes. The default is what the system says.
	Memory uint64
	// Output is where Close prints the report. The default is standard error.
	Output io.Writer
	// Heap and OnOverdue are as in Config.
	Heap      *heap.Heap
	OnOverdue func(Overdue)
}

// System is the set of allocators that a game has: memory for jobs that lives up to 1, 2 or 4 frames, memory for
// background work, and a stack for each thread. All methods may be called by any goroutine at any time.
type System struct {
	OneFrame   *Allocator // [ALLOC_TEMP_JOB_1_FRAME]
	TwoFrames  *Allocator // [ALLOC_TEMP_JOB_2_FRAMES]
	JobTemp    *Allocator // [ALLOC_TEMP_JOB_4_FRAMES (JobTemp)]
	Background *Allocator // [ALLOC_TEMP_JOB_ASYNC (Background)]: lives as long as it takes

	settings  Settings
	lowMemory bool
	output    io.Writer

	mu     sync.Mutex
	stacks []*Stack     // in the order in which they were made
	ended  []stackEnded // those that were closed
	closed bool         // Close was called; it may have left something open
}

// stackEnded are the figures of stacks of one name that were closed.
type stackEnded struct {
	name  string
	stats StackStats
	count int
}

// NewSystem makes the allocators. Whether there is little memory is decided now, once.
func NewSystem(c SystemConfig) (*System, error) {
	s := &System{settings: c.Settings, output: c.Output}
	defaults := DefaultSettings()
	for name, field := range s.settings.sizes() {
		if *field == 0 {
			*field = *defaults.sizes()[name]
		}
	}
	if c.Memory == 0 {
		c.Memory = heap.AvailableMemory()
	}
	if s.lowMemory = c.Memory != 0 && c.Memory < LowMemory; s.lowMemory {
		s.settings.JobTempBlock = s.settings.ReducedBlock
		s.settings.BackgroundBlock = s.settings.ReducedBlock
	}
	if s.output == nil {
		s.output = os.Stderr
	}
	for _, part := range []struct {
		at    **Allocator
		name  string
		block int
		age   int
	}{
		{&s.OneFrame, "JOB_1_FRAME", s.settings.JobTempBlock, 1},
		{&s.TwoFrames, "JOB_2_FRAMES", s.settings.JobTempBlock, 2},
		{&s.JobTemp, "JOB_4_FRAMES (JobTemp)", s.settings.JobTempBlock, 4},
		{&s.Background, "JOB_ASYNC (Background)", s.settings.BackgroundBlock, 0},
	} {
		a, err := New(Config{Name: part.name, BlockSize: part.block, MaxAge: part.age, Heap: c.Heap,
			Diagnostics: s.settings.Diagnostics, OnOverdue: c.OnOverdue})
		if err != nil {
			for _, made := range s.allocators() {
				_ = made.Close() // nobody has seen it, so nothing of it is open
			}
			return nil, err
		}
		*part.at = a
	}
	return s, nil
}

// allocators are those that were made, in the order of the report.
func (s *System) allocators() []*Allocator {
	all := []*Allocator{s.OneFrame, s.TwoFrames, s.JobTemp, s.Background}
	return slices.DeleteFunc(all, func(a *Allocator) bool { return a == nil })
}

// Settings are the sizes in force: with little memory the reduced ones.
func (s *System) Settings() Settings { return s.settings }

// LowMemory reports whether there was little memory at the start.
func (s *System) LowMemory() bool { return s.lowMemory }

// NextFrame begins another frame in all allocators and returns its number.
func (s *System) NextFrame() uint32 {
	frame := uint32(0)
	for _, a := range s.allocators() {
		frame = a.NextFrame()
	}
	return frame
}

// NewStack makes the stack of a thread, of the size that its name calls for: "MAIN", "Job.Worker 3", "Background
// Job.Worker 0", "Loading.PreloadManager" and so on. It overflows into JobTemp. CloseStack closes it; Close those that
// are left.
func (s *System) NewStack(thread string) (*Stack, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	stack, err := s.JobTemp.NewStack(thread, s.settings.stackSize(thread))
	if err == nil {
		s.stacks = append(s.stacks, stack)
	}
	return stack, err
}

// CloseStack closes a stack of this system whose thread ends. Its figures stay in the report.
func (s *System) CloseStack(stack *Stack) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.stacks, stack)
	if at < 0 {
		return ErrClosed
	}
	s.stacks = slices.Delete(s.stacks, at, at+1)
	s.note(stack.name, stack.Stats())
	return stack.Close()
}

// note adds the figures of a stack to those of its name.
func (s *System) note(name string, stats StackStats) {
	for i := range s.ended {
		e := &s.ended[i]
		if e.name != name {
			continue
		}
		e.count++
		e.stats.Current = max(e.stats.Current, stats.Current)
		e.stats.Peak = max(e.stats.Peak, stats.Peak)
		e.stats.Overflows += stats.Overflows
		return
	}
	s.ended = append(s.ended, stackEnded{name, stats, 1})
}

// Report writes the usage report in Unity's format, with a few lines in front for what that has no fields for.
func (s *System) Report(w io.Writer) error {
	out := bufio.NewWriter(w)
	var figures []Stats
	for _, a := range s.allocators() {
		stats := a.Stats()
		a.summary(out, &stats)
		figures = append(figures, stats)
	}
	if s.lowMemory {
		fmt.Fprintf(out, "granary: linear: less than %s of memory: blocks of %s\n", formatBytes(LowMemory),
			formatBytes(uint64(s.settings.ReducedBlock)))
	}
	fmt.Fprint(out, "Memory Statistics:\n[ALLOC_TEMP_TLS] TLS Allocator\n  StackAllocators : \n")
	s.mu.Lock()
	ended := slices.Clone(s.ended)
	for _, stack := range s.stacks {
		stats := stack.Stats()
		stackSection(out, stack.name, 1, &stats)
	}
	s.mu.Unlock()
	for _, e := range ended {
		// As a thread that ended counted no frames after, its histogram would not add up to the others'.
		e.stats.Frames = [len(e.stats.Frames)]uint64{}
		stackSection(out, e.name, e.count, &e.stats)
	}
	for i, a := range s.allocators() {
		a.section(out, &figures[i])
	}
	return out.Flush()
}

// Close closes all stacks and allocators. If the settings say so it prints the report before. An allocator that has
// Workers or Stacks of its own stays open, and the error is ErrOpen: once they are closed, another Close closes it.
// Else a second Close does nothing.
func (s *System) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	var failed []error
	if first && s.settings.LogStats {
		failed = append(failed, s.Report(s.output))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, stack := range s.stacks {
		failed = append(failed, stack.Close())
	}
	s.stacks = nil
	for _, a := range s.allocators() {
		failed = append(failed, a.Close())
	}
	return errors.Join(failed...)
}
