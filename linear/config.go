package linear

import (
	"fmt"
	"os"
	"strconv"

	"granary/heap"
	core "granary/internal/core/linear"
)

// Bounds of a Config.
const (
	BlocksMost     = core.BlocksMost      // 64 blocks
	GrowthMost     = core.GrowthMost      // a block grows up to eight times
	BlockSizeLeast = core.BlockLeastBytes // 64 KiB
	BlockSizeMost  = core.BlockMostBytes  // 1 GiB
	AlignmentMost  = core.AlignMost       // 64 KiB
	MaxAgeMost     = 1 << 20

	defaultBlockSize = 2 << 20
)

// Config says how an allocator is made. The zero value of a field stands for its default.
type Config struct {
	// Name appears in reports and errors. The default is "linear".
	Name string
	// BlockSize in bytes is rounded up to a power of two of at least 64 KiB. The default is 2 MiB.
	BlockSize int
	// MaxBlocks is the most blocks, 64 at most and by default.
	MaxBlocks int
	// Growth is how many times its size a block may become to fit one large request, 8 at most and by default; rounded
	// down to a power of two.
	Growth int
	// MaxAge is how many frames an allocation may live before it is reported; 0 for any number. It is exact up to 14
	// frames, and beyond that late by less than a fourteenth.
	MaxAge int
	// Heap serves what the pool cannot. The default is heap.Default().
	Heap *heap.Heap
	// Diagnostics follows every allocation: a second free and a foreign pointer are always errors, and what is too old
	// is reported with the stack that made it. It takes about a microsecond an allocation.
	Diagnostics bool
	// OnOverdue is told what NextFrame finds to be too old. The default prints it to standard error.
	OnOverdue func(Overdue)
}

// Overdue says that allocations became older than the maximum age. With diagnostics there is one for each place that
// makes such allocations, the first time that this happens; without, one the first time that it happens at all.
type Overdue struct {
	Allocator string
	Count     int // of allocations too old now
	MaxAge    int
	Frame     uint32
	Stack     heap.Stack // where they were made; with diagnostics only
}

func (o Overdue) String() string {
	text := fmt.Sprintf("granary: linear %s: %d allocations are older than %d frames (frame %d)", o.Allocator, o.Count,
		o.MaxAge, o.Frame)
	if len(o.Stack) == 0 {
		return text + "; run with diagnostics to see where they were made"
	}
	return text + ", made at\n" + o.Stack.String()
}

func printOverdue(o Overdue) { fmt.Fprintln(os.Stderr, o) }

// check fills the defaults in and looks whether the rest is within its bounds.
func (c *Config) check() error {
	for _, field := range []struct {
		name  string
		value *int
		or    int
		most  int
	}{
		{"BlockSize", &c.BlockSize, defaultBlockSize, BlockSizeMost},
		{"MaxBlocks", &c.MaxBlocks, BlocksMost, BlocksMost},
		{"Growth", &c.Growth, GrowthMost, GrowthMost},
		{"MaxAge", &c.MaxAge, 0, MaxAgeMost},
	} {
		if *field.value == 0 {
			*field.value = field.or
		}
		if *field.value < 0 || *field.value > field.most {
			return &ConfigError{field.name, strconv.Itoa(*field.value), fmt.Sprintf("not from 0 to %d", field.most)}
		}
	}
	if c.Name == "" {
		c.Name = "linear"
	}
	if c.OnOverdue == nil {
		c.OnOverdue = printOverdue
	}
	if c.Heap == nil {
		c.Heap = heap.Default()
	}
	return nil
}
