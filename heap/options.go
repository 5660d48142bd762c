package heap

import (
	"fmt"
	"math"
	"os"

	"granary/internal/core/sys"
)

// options are what New was told.
type options struct {
	rangeBytes uintptr
	limit      uintptr
	ticker     bool
	huge       bool
	debug      bool
	onMisuse   func(*MisuseError)
	rate       int
	name       string
	tags       []string
	err        error // what is wrong with an option
}

const (
	defaultRangeBytes = 1 << (28 + 6*sys.Is64Bit) // 16 GiB, or 256 MiB
	leastRangeBytes   = 16 << 20
	// DefaultProfileRate is the mean number of bytes between two blocks whose stacks are kept for WriteProfile.
	DefaultProfileRate = 32 << 20
	mostRate           = math.MaxInt / (2 * longest) // so that distances that have grown are numbers, too
)

func defaultOptions() options {
	return options{
		rangeBytes: defaultRangeBytes,
		ticker:     true,
		debug:      os.Getenv("GRANARY_DEBUG_ALLOC") == "1",
		onMisuse:   printMisuse,
		rate:       DefaultProfileRate,
	}
}

// Option is a property of a new heap.
type Option func(*options)

// WithName names the heap in reports and metrics.
func WithName(name string) Option { return func(o *options) { o.name = name } }

// WithLimit bounds the memory that the heap uses: what is over it is refused with ErrLimit. It is counted in spans of
// 64 KiB and more, and by whole granules of 64 KiB above 32 KiB, so that the bound is one on memory and not on what
// was asked for. 0 is no limit.
func WithLimit(bytes uint64) Option {
	return func(o *options) { o.limit = uintptr(min(bytes, math.MaxInt)) }
}

// WithMemoryShare bounds the heap to a share, between 0 and 1, of the memory that the process may have: that of its
// cgroup, or of the machine if that is less. A share of 0.5 leaves the other half to the Go heap and all else. With
// another number New returns an error. The heap has no bound if nobody says what memory there is (AvailableMemory).
func WithMemoryShare(share float64) Option {
	return func(o *options) {
		if !(share > 0 && share <= 1) {
			o.err = fmt.Errorf("granary: WithMemoryShare(%v): a share is above 0 and at most 1", share)
			return
		}
		if available := availableMemory(); available != 0 {
			o.limit = uintptr(max(min(float64(available)*share, math.MaxInt), 1))
		}
	}
}

// WithRange sets the address space for blocks up to 64 MiB, which are all that is usual: 16 GiB without this option,
// which is the most; 256 MiB where addresses have 32 bits. Address space costs nothing, but a process that may have
// little of it needs less.
func WithRange(bytes uint64) Option {
	return func(o *options) {
		o.rangeBytes = uintptr(min(max(bytes, leastRangeBytes), defaultRangeBytes))
	}
}

// WithTicker says whether the heap looks for memory to give back by itself, a quarter of a second after there may be
// some (it does without this option). A heap without a ticker gives memory back in Idle and Trim only.
func WithTicker(on bool) Option { return func(o *options) { o.ticker = on } }

// WithHugePages says whether the range may have huge pages (Linux, unless the administrator turned transparent huge
// pages off; elsewhere the option does nothing). Programs that touch hundreds of megabytes of blocks in no order wait
// for fewer walks of page tables. It costs memory: what is touched comes 2 MiB at a time, and the system may fill up
// again what was given back in smaller pieces, so that Stats says less than is resident.
func WithHugePages(on bool) Option { return func(o *options) { o.huge = on } }

// WithDebug says whether the heap looks for misuse, and keeps stacks: see Misuse. Without this option it does if the
// environment variable GRANARY_DEBUG_ALLOC is 1.
func WithDebug(on bool) Option { return func(o *options) { o.debug = on } }

// WithMisuseHandler sets who is told of misuse that is not the fault of the call that found it, as of a block that was
// written to after it was freed. Without this option it is printed to the standard error output. The handler may use
// the heap, but not close it: Close would wait for the call that found the misuse.
func WithMisuseHandler(handler func(*MisuseError)) Option {
	return func(o *options) {
		if handler != nil {
			o.onMisuse = handler
		}
	}
}

// WithProfileRate sets the mean number of bytes between two blocks whose stacks are kept for WriteProfile;
// DefaultProfileRate without this option, 0 for none at all. From DefaultProfileRate on the distance grows, up to 32
// times, while a goroutine allocates so fast that blocks would be sampled more often than each half of a millisecond;
// the estimates stay right, as each sample then stands for more.
func WithProfileRate(bytes int) Option {
	return func(o *options) { o.rate = min(max(bytes, 0), mostRate) }
}

func printMisuse(e *MisuseError) { os.Stderr.WriteString(e.Error() + "\n") }
