// Package bench measures Granary's malloc library against glibc and the peers that Debian ships.
//
// Structures:
//
//	Layout      where the sources of the benchmark are and where it may write
//	Allocator   a malloc to measure: a library to preload, or none for glibc
//	Item        a thing to run: a workload of workloads/ or a real program of programs.go
//	Run         one execution of one item on one allocator, with everything that was measured
//	Cell        the runs of one item on one allocator: medians, or the failure
//	Results     all cells of a benchmark, with the ratios and means made of them
//
// One benchmark, as Execute does it:
//
//  1. FindAllocators locates the libraries and checks that each one can be preloaded.
//  2. Build compiles measure.c and the workloads whose sources changed; Prepare makes the inputs
//     of the programs.
//  3. For each round, for each item, every allocator runs once; measure/measure.c is the parent of
//     what is measured and reports its time and its peak memory. Runs in turn spread the machine's
//     moods evenly.
//  4. Each run's output is parsed and its checksum compared with the first allocator's.
//  5. NewResults makes medians and ratios; WriteCSV, WriteRaw and the report write them down.
//
// Time is wall time: what a workload measured around its own work (without start-up, exit and the
// waiting that is part of its model), or for a program the time from fork to exit. CPU time is kept
// in the raw results. Peak memory is ru_maxrss of the largest process of the measured tree.
//
// The package must not import Granary's own packages: it is a user of the library, not a part of
// it.
package bench
