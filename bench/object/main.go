// Command object measures package object beside what Go programs use for things that come and go, in one run: a map of
// pointers by number, a container/list of pointers, and a dense table as entity component systems have (dense.go). It
// is a module of its own, so that a library that joins the comparison is no dependency of the main one.
//
// Every figure is CPU time of the whole process, Go's collector included: on a machine that others use too wall time is
// worthless. Workloads and peers take turns, round after round; the table has the medians, and the lowest of all rounds
// in brackets.
//
//	go run . [-rounds 9] [-objects 1000000] > RESULTS.md
package main

import (
	"flag"
	"fmt"
	"os"
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
	pairs(n int)       // makes one and deletes it, n times
	fill(n int)        // makes n
	look(n int) uint64 // gets the fields of a thing that is known, n times, of 1024 different ones
	iterate() uint64   // visits all without looking at them, and counts
	sum() uint64       // visits all and adds up their IDs
	replace(n int)     // n times deletes one at random and makes another one
	empty()            // deletes all, one by one
	close()
}

// peer makes an empty store.
type peer struct {
	name string
	make func() store
}

var workloads = []string{"make+delete", "get", "make", "visit", "visit fields", "replace", "runtime.GC", "delete"}

func main() {
	rounds := flag.Int("rounds", 9, "how often everything is measured")
	objects := flag.Int("objects", 1_000_000, "things alive at a time")
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
	print(figures, *rounds, *objects)
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
	s := p.make()
	s.pairs(2000) // what is made once
	runtime.GC()
	step("make+delete", objects, func() { s.pairs(objects) })
	step("make", objects, func() { s.fill(objects) })
	step("get", 4*objects, func() { check(s.look(4*objects), 0) })
	step("visit", objects, func() { check(s.iterate(), uint64(objects)) })
	step("visit fields", objects, func() { check(s.sum(), uint64(objects)*uint64(objects-1)/2) })
	step("replace", objects, func() { s.replace(objects) })
	took["runtime.GC"] = collect()
	step("delete", objects, s.empty)
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
	slices.Sort(of)
	return fmt.Sprintf("%.2f (%.2f)", of[len(of)/2], of[0])
}
