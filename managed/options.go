package managed

import (
	"math"
	"os"
	"time"
)

// options are what New was told.
type options struct {
	name       string
	rangeBytes uintptr
	limit      uintptr
	interior   bool
	offsets    []int
	ticker     bool
	verify     func(*VerifyError)
	noMemory   func(bytes int) bool
	mode       Mode
	slice      time.Duration
	divisor    int
	helpers    int
	manual     bool
}

const (
	defaultRangeBytes = 16 << 30
	leastRangeBytes   = 16 << 20
	mostHelpers       = 15
)

func defaultOptions() options {
	return options{rangeBytes: defaultRangeBytes, ticker: true, helpers: mostHelpers}
}

// Option is a property of a new heap.
type Option func(*options)

// WithName names the heap in reports.
func WithName(name string) Option { return func(o *options) { o.name = name } }

// WithRange sets the address space for objects and tables: 16 GiB without this option, which is the most, and at least
// 16 MiB. Address space costs nothing, but a process that may have little of it needs less.
func WithRange(bytes uint64) Option {
	return func(o *options) { o.rangeBytes = uintptr(min(max(bytes, leastRangeBytes), defaultRangeBytes)) }
}

// WithLimit bounds the memory of objects, in blocks of 4 KiB: see Heap.SetLimit. 0 is no limit.
func WithLimit(bytes uint64) Option {
	return func(o *options) { o.limit = uintptr(min(bytes, math.MaxInt64)) }
}

// WithInterior makes the address of any byte of an object, found in another object, keep it alive. Without this option
// only that of its first byte does; in roots every address counts always. It costs a byte an object, so that objects
// of 16, 32, ... bytes take 16 more.
func WithInterior(on bool) Option { return func(o *options) { o.interior = on } }

// WithOffsets makes addresses that many bytes into an object, found in another object, keep it alive as its first byte
// does: for programs that mark their pointers in the lowest bits. Offsets are below 4096.
func WithOffsets(offsets ...int) Option {
	return func(o *options) { o.offsets = append(o.offsets, offsets...) }
}

// WithTicker says whether the heap gives memory that has been free for a second back to the system by itself (it does
// without this option). A heap without a ticker does so in Idle and Trim only.
func WithTicker(on bool) Option { return func(o *options) { o.ticker = on } }

// WithMode sets the mode that the heap begins with: see Heap.SetMode.
func WithMode(mode Mode) Option {
	return func(o *options) {
		if mode.isKnown() {
			o.mode = mode
		}
	}
}

// WithTimeSlice makes automatic collections incremental, in slices of this length: see Heap.SetTimeSlice.
func WithTimeSlice(slice time.Duration) Option { return func(o *options) { o.slice = max(slice, 0) } }

// WithFreeSpaceDivisor sets how often the heap collects: when twice the memory that is alive, divided by this, has been
// allocated since the last collection. 3 without this option; more makes a smaller heap and more collections.
func WithFreeSpaceDivisor(divisor int) Option {
	return func(o *options) { o.divisor = max(divisor, 0) }
}

// WithHelpers bounds the goroutines that help a collection, which has as many as what is alive is worth, and one less
// than there are processors at most. 0 is none.
func WithHelpers(most int) Option {
	return func(o *options) { o.helpers = min(max(most, 0), mostHelpers) }
}

// WithOutOfMemory sets a function that is asked when an allocation of so many bytes fails, after a full collection. If
// it returns true the allocation is tried again, with another collection if it takes one, so it should have made room.
// It runs in the goroutine that allocates, while that is no mutator.
func WithOutOfMemory(f func(bytes int) bool) Option { return func(o *options) { o.noMemory = f } }

// WithManualFinalizers leaves it to the program to run finalizers, with Mutator.RunFinalizers. Without this option a
// goroutine does so after each collection that found some.
func WithManualFinalizers() Option { return func(o *options) { o.manual = true } }

// WithVerify makes every collection check itself: a second, plain marker must find the same objects, and none that a
// pointer field was overwritten without Set for. report is told of what is wrong, one error a collection; nil prints it
// to the standard error output. It makes collections several times slower.
func WithVerify(report func(*VerifyError)) Option {
	return func(o *options) {
		if o.verify = report; report == nil {
			o.verify = func(e *VerifyError) { os.Stderr.WriteString(e.Error() + "\n") }
		}
	}
}
