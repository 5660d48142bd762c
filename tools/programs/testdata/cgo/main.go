// A Go program that allocates from libgc.so.1 through cgo, on all the kinds of threads that a Go program has, while
// Go's own collector, preemption, profiler, signals and child processes are at work. It prints a line for each part.
package main

// #cgo LDFLAGS: -lgc
// #include "objects.h"
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
)

// sum is that of the tree that objects.c makes of a depth and a seed.
func sum(depth int, seed uint64) uint64 {
	if depth == 0 {
		return seed
	}
	return seed + sum(depth-1, seed*3+1) + sum(depth-1, seed*5+2)
}

// fromC is called by C, which has objects on its stack meanwhile.
//
//export fromC
func fromC(call C.int) {
	words := make(map[int]string)
	for i := range 50 {
		words[i] = fmt.Sprint("word ", i)
	}
	deep(100, words)
	switch {
	case call%7 == 3:
		runtime.GC()
	case call%5 == 2:
		C.collect()
	default:
		runtime.Gosched()
	}
}

// deep makes the goroutine's stack grow, which moves it.
func deep(depth int, words map[int]string) int {
	var frame [64]int
	if depth == 0 {
		return len(words)
	}
	frame[depth%len(frame)] = depth
	return deep(depth-1, words) + frame[depth%len(frame)]
}

// check is called by all goroutines.
func check(what string, got, want uint64) {
	if got != want {
		fmt.Printf("%s: %d, wanted %d: an object was lost\n", what, got, want)
		os.Exit(1)
	}
}

func onStack(what string, depth int, seed uint64, call int) {
	check(what, uint64(C.sum_on_stack(C.int(depth), C.uint64_t(seed), C.int(call))), sum(depth, seed))
}

// together calls work in so many goroutines and waits for them.
func together(count int, work func(number int)) {
	var group sync.WaitGroup
	for number := range count {
		group.Go(func() { work(number) })
	}
	group.Wait()
}

func main() {
	C.roots_start()
	setRoots()
	healthy := startHealth()
	together(8, func(number int) {
		for round := range 30 {
			onStack("on a stack", 6+round%5, uint64(number*1000+round), number+round)
		}
	})
	fmt.Println("goroutines: done")
	endThreads()
	together(4, func(number int) {
		for round := range 10 {
			seed := uint64(round * 77)
			check("in a thread of C's", uint64(C.sum_in_thread(C.int(5+number), C.uint64_t(seed))), sum(5+number, seed))
		}
	})
	fmt.Println("threads of C's: done")
	checkRoots()
	healthy.finish()
	C.finalized_make(1000)
	C.collect()
	C.collect()
	fmt.Println("finalizers have run:", C.finalized_count() > 900)
	checkRoots()
	fmt.Println("collections took place:", C.collections() > 20)
}

func setRoots() {
	for number := range C.ROOTS {
		C.roots_set(C.int(number), C.int(number%9), C.uint64_t(number))
	}
}

func checkRoots() {
	for number := range C.ROOTS {
		check("in a root", uint64(C.roots_sum(C.int(number))), sum(number%9, uint64(number)))
	}
}

// endThreads makes threads that end with their goroutines.
func endThreads() {
	together(4, func(number int) {
		for round := range 25 {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				runtime.LockOSThread() // and never unlocks: the thread ends
				onStack("on a thread that ends", 7, uint64(number+round), number+round)
			}()
			<-ended
		}
	})
	fmt.Println("threads that end: done")
}
