// Package coretest holds the tests of the core (sys, space, heap), written so that both of its compilers run them.
//
// A test is a function of the form func(T). With the ordinary compiler coretest_test.go runs each as a subtest,
// also under the race detector, and has the fuzz targets. With gccgo, gccgo_test.go builds the core and this package
// as an ordinary gccgo program (testdata/gccgo/main.go, linked with the C glue's own sys.c and system.c) and runs
// it. So the package keeps to Go 1.17 like the core; but it is test code, and maps, closures and goroutines are fine.
//
// The structures:
//
//	T            what a test tells its results to
//	rig          a heap with caches and a shadow model: each block alive, its size and the pattern it is filled with
//	spaceRig     a space and a model of the runs taken of it
//	script       bytes read as a sequence of operations: the fuzz targets, and long random sequences
//
// The path of one step of a test:
//
//  1. The rig makes one call of the heap, as one of several threads (caches).
//  2. A new block must lie apart from all others, be aligned, hold its size, and read as zero if it came of Calloc.
//     It is filled with a pattern of its own. A block that goes must still hold its pattern.
//  3. rig.check has the invariant walkers look (heap.Check, space.Check) and compares the heap's figures with the
//     model's.
//
// What differs between the compilers (env_*.go): how misuse is reported, and that only the gccgo build can make the
// system refuse memory at a given call. faults_gccgo.go has the tests that need this.
package coretest
