package main

import (
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"granary/heap"
	"granary/managed"
)

// rounder is one way in which a size is rounded: size is what can be used of the memory that n bytes take.
type rounder struct {
	name  string
	round func(n int) (size, memory int)
}

var rounders = []rounder{
	{"managed heap, interior pointers", func(n int) (int, int) { return managed.GoodSize(n, true) }},
	{"managed heap, exact pointers", func(n int) (int, int) { return managed.GoodSize(n, false) }},
	{"native heap", func(n int) (int, int) { return heap.GoodSize(n), heap.GoodSize(n) }},
}

const (
	largestSize = 1 << 40
	// A size is worth mentioning as a better neighbour if it is at most an eighth smaller, and spares an eighth.
	neighbourShare = 8
)

func newSizesCommand() *cobra.Command {
	var header int
	command := &cobra.Command{
		Use:   "sizes N...",
		Short: "Show how sizes are rounded in the managed and in the native heap",
		Long: "Shows what memory N bytes take in the managed heap and in the native heap, and whether a size " +
			"close by\ntakes much less. N may end in K, M or G for KiB, MiB and GiB.\n\n" +
			"  granary sizes 4096          a block and a byte, so two blocks, if inner addresses count\n" +
			"  granary sizes --header 16 1000   for arrays with a header of 16 bytes",
		RunE: func(command *cobra.Command, arguments []string) error {
			if len(arguments) == 0 {
				return usageError(command, errors.New("which size? give a number of bytes, or several"))
			}
			if header < 0 || header > largestSize {
				return usageError(command, fmt.Errorf("a header of %d bytes makes no sense", header))
			}
			for i, argument := range arguments {
				n, err := parseSize(argument)
				if err != nil {
					return usageError(command, err)
				}
				if i != 0 {
					fmt.Fprintln(command.OutOrStdout())
				}
				writeSizes(command.OutOrStdout(), n, header)
			}
			return nil
		},
	}
	command.Flags().IntVar(&header, "header", 32, "bytes that a runtime puts before the elements of an array")
	return command
}

// parseSize reads a number of bytes.
func parseSize(text string) (int, error) {
	number, shift := strings.TrimSuffix(strings.TrimSuffix(text, "B"), "i"), 0
	if number != "" {
		switch number[len(number)-1] {
		case 'K', 'k':
			shift = 10
		case 'M', 'm':
			shift = 20
		case 'G', 'g':
			shift = 30
		}
	}
	if shift != 0 {
		number = number[:len(number)-1]
	}
	n, err := strconv.ParseUint(number, 10, 41)
	if err != nil || n<<shift > largestSize {
		return 0, fmt.Errorf("%q is not a number of bytes from 0 to 1 TiB", text)
	}
	return int(n << shift), nil
}

// writeSizes says what n bytes take in each heap.
func writeSizes(w io.Writer, n, header int) {
	fmt.Fprintf(w, "%d bytes\n", n)
	for _, r := range rounders {
		size, memory := r.round(n)
		fmt.Fprintf(w, "  %-33s %s, %d unused (%.1f %%)", r.name, memoryOf(r, size, memory), memory-n,
			100*float64(memory-n)/float64(max(memory, 1)))
		if most := largestNeighbour(r, n); most > n {
			fmt.Fprintf(w, "; %d bytes take the same", most)
		}
		fmt.Fprintln(w)
		if better, ok := betterNeighbour(r, n); ok {
			_, less := r.round(better)
			fmt.Fprintf(w, "  %-33s better: %d bytes take %s", "", better, memoryOf(r, better, less))
			if better > header && header != 0 {
				fmt.Fprintf(w, ", and so do %d behind an array header of %d", better-header, header)
			}
			fmt.Fprintln(w)
		}
	}
}

// memoryOf describes what an object takes.
func memoryOf(r rounder, size, memory int) string {
	const block = 4096
	switch {
	case memory > block && memory%block == 0 && strings.HasPrefix(r.name, "managed"):
		return fmt.Sprintf("%d blocks, %d bytes", memory/block, memory)
	case memory == block && size > block/2 && strings.HasPrefix(r.name, "managed"):
		return fmt.Sprintf("1 block, %d bytes", memory)
	}
	return fmt.Sprintf("%d bytes", memory)
}

// largestNeighbour is the largest size that takes as much memory as n.
func largestNeighbour(r rounder, n int) int {
	_, memory := r.round(n)
	return n - 1 + sort.Search(memory-n+1, func(more int) bool {
		_, takes := r.round(n + more)
		return takes > memory
	})
}

// betterNeighbour is the largest size below n that takes less memory, if it is worth mentioning: if n wastes an eighth
// of its own, and that one spares as much.
func betterNeighbour(r rounder, n int) (int, bool) {
	_, memory := r.round(n)
	if memory-n < memory/neighbourShare {
		return 0, false
	}
	// The memory of sizes only grows, so the first size that takes as much as n can be searched for.
	first := sort.Search(n, func(size int) bool {
		_, takes := r.round(size)
		return takes >= memory
	})
	better := first - 1
	if better < 0 || n-better > n/neighbourShare {
		return 0, false
	}
	_, less := r.round(better)
	return better, memory-less >= memory/neighbourShare
}
