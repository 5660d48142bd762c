// Command object measures package object beside what Go programs use for things that come and go, in one run: a map
// of pointers by number, a container/list of pointers, Ark, which is an entity component system (ark.go), and a dense
// table as such systems have (dense.go). It is a module of its own, so that what joins the comparison is no dependency
// of the main one.
//
// Every figure is CPU time of the whole process, Go's collector included: on a machine that others use too wall time is
// worthless. Workloads and peers take turns, round after round; the table has the medians, and the lowest of all rounds
// in brackets. With -raw every single figure goes to a file, too.
//
//	go run . [-rounds 9] [-objects 1000000] [-raw raw.csv] > RESULTS.md
package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"slices"
	"syscall"
)

// thing is what all peers keep: 64 bytes without pointers.
type thing struct {
	ID         uint64
	X, Y, Z    float64
	DX, DY, DZ float64
	Health     int64
}

// store is a peer with some things in it. Each call does a whole workload, so that no call through an interface is
// part of a step.
type store interface {
	pairs(n int)     // makes one and deletes it, n times
	fill(n int)      // makes n, and knows them in this order
	iterate() uint64 // visits all without looking at them, and counts
	sum() uint64     // visits all and adds up their IDs
	replace(n int)   // n times deletes one at random and makes another one
	empty()          // deletes all that are known, one by one
	close()
	// look gets the fields of a thing that is known, n times or somewhat more, of the first so many ones in turn.
	look(n, among int) uint64
	// shuffle changes the order in which they are known.
	shuffle(random *rand.Rand)
}

// peer makes an empty store.
type peer struct {
	name string
	make func() store
}

var workloads = []string{"make+delete", "make", "get", "get at random", "visit", "visit fields", "delete in order",
	"replace", "runtime.GC", "delete at random"}

func main() {
	rounds := flag.Int("rounds", 9, "how often everything is measured")
	objects := flag.Int("objects", 1_000_000, "things alive at a time")
	raw := flag.String("raw", "", "a file for every single figure")
	flag.Parse()
	if *rounds < 1 || *objects < 1024 {
		fmt.Fprintln(os.Stderr, "object: -rounds must be at least 1, -objects at least 1024")
		os.Exit(2)
	}
	figures := map[string][]float64{}
	for range *rounds {
		figures["nothing/runtime.GC"] = append(figures["nothing/runtime.GC"], collect())
		for _, p := range peers {
			for workload, ns := range measure(p, *objects) {
				key := p.name + "/" + workload
				figures[key] = append(figures[key], ns)
			}
		}
	}
	if *raw != "" {
		if err := os.WriteFile(*raw, rows(figures), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "object:", err)
			os.Exit(1)
		}
	}
	print(figures, *rounds, *objects)
}

// rows are all figures in the order in which they were measured: peer, workload, round, figure.
func rows(figures map[string][]float64) []byte {
	text := []byte("peer;workload;round;CPU ns a step (runtime.GC: CPU ms)\n")
	for _, key := range slices.Sorted(maps.Keys(figures)) {
		peer, workload := path.Split(key)
		for round, figure := range figures[key] {
			text = fmt.Appendf(text, "%s;%s;%d;%.3f\n", peer[:len(peer)-1], workload, round+1, figure)
		}
	}
	return text
}

// cpu is the process's CPU time so far in nanoseconds.
func cpu() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// collect is the CPU milliseconds of one collection, the least of some.
func collect() float64 {
	least := 0.0
	for range 5 {
		before := cpu()
		runtime.GC()
		if took := float64(cpu()-before) / 1e6; least == 0 || took < least {
			least = took
		}
	}
	return least
}

// measure has nanoseconds a step, but for runtime.GC, which has milliseconds.
func measure(p peer, objects int) map[string]float64 {
	took := map[string]float64{}
	step := func(workload string, steps int, do func()) {
		before := cpu()
		do()
		took[workload] = float64(cpu()-before) / float64(steps)
	}
	s, sum := p.make(), uint64(objects)*uint64(objects-1)/2
	s.pairs(2000) // what is made once
	runtime.GC()
	step("make+delete", objects, func() { s.pairs(objects) })
	step("make", objects, func() { s.fill(objects) })
	step("get", 4*objects, func() { check(s.look(4*objects, known), 0) })
	step("visit", objects, func() { check(s.iterate(), uint64(objects)) })
	step("visit fields", objects, func() { check(s.sum(), sum) })
	step("delete in order", objects, s.empty)
	s.fill(objects)
	s.shuffle(newRandom())
	step("get at random", objects, func() { check(s.look(objects, objects), sum) })
	step("replace", objects, func() { s.replace(objects) })
	took["runtime.GC"] = collect()
	step("delete at random", objects, s.empty)
	s.close()
	runtime.GC()
	return took
}

func check(got, want uint64) {
	if want != 0 && got != want {
		panic(fmt.Sprintf("counted %d, expected %d", got, want))
	}
}

func print(figures map[string][]float64, rounds, objects int) {
	fmt.Printf("CPU ns a step; runtime.GC: CPU ms a collection, with nothing alive %s. %d rounds, %d objects of 64 "+
		"bytes, %s.\n\n|", cell(figures["nothing/runtime.GC"]), rounds, objects, runtime.Version())
	for _, w := range workloads {
		fmt.Print(" | ", w)
	}
	fmt.Print(" |\n|---")
	for range workloads {
		fmt.Print("|---")
	}
	fmt.Println("|")
	for _, p := range peers {
		fmt.Print("| ", p.name)
		for _, w := range workloads {
			fmt.Print(" | ", cell(figures[p.name+"/"+w]))
		}
		fmt.Println(" |")
	}
}

func cell(of []float64) string {
	of = slices.Sorted(slices.Values(of))
	return fmt.Sprintf("%.2f (%.2f)", of[len(of)/2], of[0])
}
