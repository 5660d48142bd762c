// Package lineartest holds the tests of the core's linear allocators, written so that both of its compilers run them;
// see package coretest for how that is done.
//
// The structures:
//
//	rig      an allocator with workers, a stand-in for the native heap, and a model of every allocation: where it lies,
//	         its size, its frame, and the pattern it is filled with
//	script   bytes read as a sequence of operations: the fuzz target, and long random sequences
//
// After each step of a rig the invariant walkers look (Allocator.Check, Space.Check), and the figures are compared with
// the model's. testdata/hammer.c is the test with threads of the C library's kind, built with the thread sanitizer.
package lineartest
