package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"granary/managed"
)

func main() {
	slice := flag.Duration("slice", 0, "collect in slices of this length; 0 collects in one pause")
	divisor := flag.Int("divisor", 3, "more means a smaller heap and more collections")
	report := flag.Bool("report", false, "print a report of the heap at the end")
	pauses := flag.Bool("pauses", false, "print a line for each collection")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "lisp: name a file to run")
		os.Exit(2)
	}
	h, err := newHeap(managed.WithTimeSlice(*slice), managed.WithFreeSpaceDivisor(*divisor))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *pauses {
		h.OnCollect(func(c managed.Collection) {
			fmt.Fprintf(os.Stderr, "collection %d: %d pauses, longest %v, %d KiB alive of %d\n", c.Number, c.Pauses,
				c.Longest.Round(time.Microsecond), c.LiveBytes>>10, c.BeforeBytes>>10)
		})
	}
	failed := false
	for _, name := range flag.Args() {
		text, err := os.ReadFile(name)
		if err == nil {
			err = runText(h, string(text), os.Stdout, options{})
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			failed = true
		}
	}
	if *report {
		h.WriteReport(os.Stderr)
	}
	if failed {
		os.Exit(1)
	}
}

// newHeap makes a heap in which values can be referred to by addresses with their type in the lowest bits.
func newHeap(opts ...managed.Option) (*managed.Heap, error) {
	return managed.New(append(opts, managed.WithOffsets(tagSymbol, tagString, tagProcedure))...)
}

// runText runs a program in an interpreter of its own.
func runText(h *managed.Heap, text string, output io.Writer, o options) (err error) {
	closed := h.Do(func(m *managed.Mutator) {
		var l *lisp
		if l, err = newLisp(m, output, o); err != nil {
			return
		}
		defer l.close()
		err = l.run(text)
	})
	if closed != nil {
		return closed
	}
	return err
}
