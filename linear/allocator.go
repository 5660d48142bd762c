package linear

import (
	"sync"
	"sync/atomic"
	"unsafe"

	core "granary/internal/core/linear"
	"granary/internal/core/space"
	"granary/internal/core/sys"
)

// Allocator is a linear allocator. All methods may be called by any goroutine at any time; only New makes one that is
// usable. The zero Allocator is one that is closed.
//
//	core is      the allocator
//	of its own   is open
//	closed       was closed: every call finds it out on its slow path
//	nil          was not made by New
//
//	field           written by
//	const fields    New
//	busy            goroutines on a slow path; Close waits until there are none
//	open, sites     whoever holds mu
type Allocator struct {
	core atomic.Pointer[core.Allocator] // outside of the Go heap

	config Config  // const
	follow *follow // const; nil without diagnostics
	busy   atomic.Int64
	told   atomic.Bool // that something is overdue; without diagnostics

	mu     sync.Mutex
	open   int          // Workers and Stacks
	common *core.Worker // for goroutines whose P has no worker; under mu
}

// workers is how many of a core's workers belong to Ps, or to the slots of a build without linkname. The others are
// Workers'.
const workers = 1024

// runs is the range that the blocks of all allocators are cut from.
var runs struct {
	sync.Mutex
	space  *space.Space
	closed *core.Allocator
}

const rangeBytes = 16 << 30

// prepareRuns reserves the range, once.
func prepareRuns() error {
	runs.Lock()
	defer runs.Unlock()
	if runs.space != nil {
		return nil
	}
	bytes := sys.AlignUp(unsafe.Sizeof(space.Space{}), sys.PageBytes())
	memory := sys.Map(bytes)
	if memory == 0 {
		return ErrNoMemory
	}
	s := (*space.Space)(memory.Pointer())
	if runs.closed == nil {
		runs.closed = core.NewClosed()
	}
	if runs.closed == nil || !s.Init(rangeBytes, core.RecordBytes) {
		sys.Release(memory, bytes)
		return ErrNoMemory
	}
	runs.space = s
	return nil
}

// New makes an allocator. It takes address space only; a block takes memory when it is first written to. Bad values
// are a *ConfigError.
func New(c Config) (*Allocator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	if err := prepareRuns(); err != nil {
		return nil, err
	}
	own := core.New(runs.space, core.Config{
		BlockBytes: uintptr(c.BlockSize),
		Blocks:     uint32(c.MaxBlocks),
		Growth:     uint32(c.Growth),
		MaxAge:     uint32(c.MaxAge),
		Diagnose:   c.Diagnostics,
	})
	if own == nil {
		return nil, ErrNoMemory
	}
	own.Prepare(workers)
	a := &Allocator{config: c}
	if c.Diagnostics {
		a.follow = newFollow()
	}
	a.core.Store(own)
	return a, nil
}

// Name is what the Config said.
func (a *Allocator) Name() string { return a.config.Name }

// enter begins a slow path. Close waits for its end.
func (a *Allocator) enter() error {
	a.busy.Add(1)
	if a.isClosed() {
		a.busy.Add(-1)
		return ErrClosed
	}
	return nil
}

func (a *Allocator) leave() { a.busy.Add(-1) }

func (a *Allocator) isClosed() bool {
	own := a.core.Load()
	return own == nil || own == runs.closed
}

// Close gives all memory back, blocks of the heap included. Allocations must not be used any more; calls return
// ErrClosed. It returns ErrOpen, and does nothing, if Workers or Stacks are open. A second Close does nothing.
func (a *Allocator) Close() error {
	a.mu.Lock()
	if a.open != 0 {
		a.mu.Unlock()
		return ErrOpen
	}
	if a.isClosed() {
		a.mu.Unlock()
		return nil
	}
	own := a.core.Swap(runs.closed)
	a.mu.Unlock() // slow paths may want it before they end
	waitForFast()
	for a.busy.Load() != 0 {
		yield()
	}
	a.dropOverflows(own)
	own.Destroy()
	return nil
}

// hold keeps the allocator open until letGo, for a Worker or a Stack.
func (a *Allocator) hold() (*core.Allocator, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.isClosed() {
		return nil, ErrClosed
	}
	a.open++
	return a.core.Load(), nil
}

func (a *Allocator) letGo() {
	a.mu.Lock()
	a.open--
	a.mu.Unlock()
}

// dropOverflows frees all blocks of the heap.
func (a *Allocator) dropOverflows(own *core.Allocator) {
	var c core.Cursor
	for p := own.TakeOverflow(&c); p != 0; p = own.TakeOverflow(&c) {
		// The heap was given out as a part of this allocator: an error would mean that it was closed before.
		_ = a.config.Heap.Free(p.Pointer())
	}
}

// NextFrame begins another frame and returns its number. What has become older than the maximum age by that is
// reported. One goroutine calls it, between frames or during them: an allocation belongs to the frame in which it is
// made.
func (a *Allocator) NextFrame() uint32 {
	if a.enter() != nil {
		return 0
	}
	own := a.core.Load()
	before := own.Overdue()
	frame := own.NextFrame()
	overdue := own.Overdue()
	a.leave()
	if overdue != before {
		a.tell(frame, int(overdue-before))
	}
	return frame
}

// Frame is the number of the current frame, 0 for a closed allocator.
func (a *Allocator) Frame() uint32 {
	if a.enter() != nil {
		return 0
	}
	defer a.leave()
	return a.core.Load().Frame()
}

// Reset frees all allocations at once, without the cost of a Free for each. Nobody else may call the allocator
// meanwhile, nor use what it handed out. Stacks keep what they hold of their own, and must not hold overflows.
func (a *Allocator) Reset() error {
	if err := a.enter(); err != nil {
		return err
	}
	defer a.leave()
	own := a.core.Load()
	own.Reset()
	a.dropOverflows(own)
	return nil
}

// Stats are the figures of an allocator: counts since it was made, unless they say 'now'. Sizes are bytes.
type Stats = core.Stats

// Stats reads the figures; each is exact for some moment. Those of a closed allocator are 0.
func (a *Allocator) Stats() Stats {
	var stats Stats
	if a.enter() == nil {
		a.core.Load().Read(&stats)
		a.leave()
	}
	return stats
}
