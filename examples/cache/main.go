// Command cache compares an off-heap LRU cache with a Go map of the same entries: what a garbage collection costs
// while it is full, and how much memory the process has.
//
//	go run ./examples/cache            # off-heap, 10 million entries
//	go run ./examples/cache -go        # a Go map of pointers
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"granary/heap"
)

func main() {
	entries := flag.Int("entries", 10_000_000, "entries that the cache holds")
	goMap := flag.Bool("go", false, "use a Go map")
	flag.Parse()
	if err := run(os.Stdout, *entries, *goMap); err != nil {
		fmt.Fprintln(os.Stderr, "cache:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, entries int, goMap bool) error {
	if entries < 1 {
		return fmt.Errorf("-entries must be at least 1, not %d", entries)
	}
	fill := fillCache
	if goMap {
		fill = fillMap
	}
	start := time.Now()
	held, release, err := fill(entries)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "filled with %d entries in %v\n", entries, time.Since(start).Round(time.Millisecond))
	debug.FreeOSMemory()
	wall, cpu := collect()
	fmt.Fprintf(w, "one garbage collection: %v, %v of CPU\n", wall, cpu)
	fmt.Fprintf(w, "resident memory: %d MiB\n", residentBytes()>>20)
	runtime.KeepAlive(held)
	return release()
}

// fillCache puts half as many entries again as the cache holds.
func fillCache(entries int) (held any, release func() error, err error) {
	h, err := heap.New()
	if err != nil {
		return nil, nil, err
	}
	c, err := newCache(h, entries)
	if err != nil {
		return nil, nil, err
	}
	for key := range uint64(entries) * 3 / 2 {
		if err := c.put(key, [24]byte{byte(key)}); err != nil {
			return nil, nil, err
		}
	}
	return c, func() error {
		if err := c.close(); err != nil {
			return err
		}
		return h.Close()
	}, nil
}

type goEntry struct {
	value        [24]byte
	newer, older *goEntry
}

// fillMap has the same entries in a Go map, without the work of eviction.
func fillMap(entries int) (held any, release func() error, err error) {
	m := make(map[uint64]*goEntry, entries)
	var last *goEntry
	for key := range uint64(entries) {
		e := &goEntry{value: [24]byte{byte(key)}, older: last}
		if last != nil {
			last.newer = e
		}
		m[key], last = e, e
	}
	return m, func() error { return nil }, nil
}

// collect measures one garbage collection.
func collect() (wall, cpu time.Duration) {
	start, before := time.Now(), cpuTime()
	runtime.GC()
	return time.Since(start).Round(10 * time.Microsecond), (cpuTime() - before).Round(10 * time.Microsecond)
}

func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// residentBytes is what the system says the process has, 0 if it does not.
func residentBytes() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	if fields := strings.Fields(string(text)); len(fields) > 1 {
		pages, _ := strconv.Atoi(fields[1])
		return pages * os.Getpagesize()
	}
	return 0
}
