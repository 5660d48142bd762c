// Command compare measures package heap beside what Go programs use today, in one run: make, a sync.Pool for each
// power of two, and modernc.org/memory without a lock. It is a module of its own, so that the main one does not
// depend on those.
//
// Every figure is CPU time of the whole process, the garbage collector included, a step of the workload: a machine
// that others use too makes wall time worthless. Workloads and peers take turns, round after round; the table has
// medians.
//
//	go run . [-rounds 9] [-steps 400000] [-only live] > RESULTS.md
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 9, "how often everything is measured; the table has the medians")
	only := flag.String("only", "", "a part of the names of the workloads to measure; all without it")
	steps := flag.Int("steps", 400_000, "allocations a measurement")
	flag.Parse()
	if *rounds < 1 || *steps < 1 {
		fmt.Fprintln(os.Stderr, "compare: -rounds and -steps must be at least 1")
		os.Exit(2)
	}
	if err := run(*rounds, *steps, *only); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// workload is one column of the table.
type workload struct {
	name       string
	size       int
	live       int // blocks alive at a time; 1: pairs of an allocation and its free
	goroutines int
}

var workloads = []workload{
	{"pair 16", 16, 1, 1}, {"pair 64", 64, 1, 1}, {"pair 256", 256, 1, 1}, {"pair 1K", 1 << 10, 1, 1},
	{"pair 4K", 4 << 10, 1, 1}, {"pair 16K", 16 << 10, 1, 1},
	{"4096 live, 64", 64, 4096, 1}, {"4096 live, 1K", 1 << 10, 4096, 1}, {"4096 live, 4K", 4 << 10, 4096, 1},
	{"1 M live, 64", 64, 1 << 20, 1}, {"2 goroutines, 64", 64, 1, 2},
}

func run(rounds, steps int, only string) error {
	workloads := slices.DeleteFunc(slices.Clone(workloads), func(w workload) bool {
		return !strings.Contains(w.name, only)
	})
	figures := map[string][]float64{}
	for range rounds {
		for _, w := range workloads {
			for _, p := range peers {
				ns, err := measure(p, w, steps)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", p.name, w.name, err)
				}
				figures[p.name+"/"+w.name] = append(figures[p.name+"/"+w.name], ns)
			}
		}
	}
	fmt.Printf("CPU nanoseconds a step, medians of %d rounds; %s, %d processors\n\n", rounds, runtime.Version(),
		runtime.NumCPU())
	fmt.Print("| |")
	for _, w := range workloads {
		fmt.Printf(" %s |", w.name)
	}
	fmt.Print("\n|---|")
	for range workloads {
		fmt.Print("---|")
	}
	fmt.Println()
	for _, p := range peers {
		fmt.Printf("| %s |", p.name)
		for _, w := range workloads {
			fmt.Printf(" %.1f |", median(figures[p.name+"/"+w.name]))
		}
		fmt.Println()
	}
	fmt.Println()
	if err := collections(rounds); err != nil {
		return err
	}
	return sampling(rounds)
}

// measure runs a workload on a peer and returns the CPU nanoseconds a step.
func measure(p peer, w workload, steps int) (float64, error) {
	runtime.GC()
	tasks := make([]*task, w.goroutines)
	for i := range tasks {
		tasks[i] = &task{workload: w, steps: steps / w.goroutines}
		if err := p.open(tasks[i]); err != nil {
			return 0, err
		}
		tasks[i].prepare()
	}
	before := cpu()
	var done sync.WaitGroup
	for _, t := range tasks[1:] {
		done.Go(t.run)
	}
	tasks[0].run()
	done.Wait()
	spent := cpu() - before
	for _, t := range tasks {
		t.finish()
	}
	return float64(spent) / float64(steps), nil
}

func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func median[T cmp.Ordered](values []T) T {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// collections measures one garbage collection with ten million blocks of 32 bytes alive, held in several ways.
func collections(rounds int) error {
	fmt.Printf("One garbage collection with 10 million blocks alive, CPU milliseconds, median of %d\n\n", rounds)
	fmt.Print("| held as | ms |\n|---|---|\n")
	for _, c := range holders {
		held, release, err := c.make(10_000_000)
		if err != nil {
			return err
		}
		debug.FreeOSMemory()
		var spent []float64
		for range rounds {
			before := cpu()
			runtime.GC()
			spent = append(spent, float64(cpu()-before)/1e6)
		}
		runtime.KeepAlive(held)
		release()
		fmt.Printf("| %s | %.2f |\n", c.name, median(spent))
	}
	return nil
}
