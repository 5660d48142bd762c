// Package kernels runs tests of libgc.so.1 under other kernels than the machine's own, in a virtual machine that qemu
// emulates (no KVM is needed). What the incremental mode does depends on the kernel: Debian 12's own, 6.1, has
// soft-dirty bits and no asynchronous userfaultfd.
//
// The structures:
//
//	Run      one program that the guest is to start: words, environment, deadline
//	Outcome  how it ended, what it printed, and its log
//
// The path of the test (kernels_test.go, with -tags kernels; make test-kernel):
//
//  1. It takes the kernels that fetch.sh has unpacked into the build folder.
//  2. C programs of clib/tests/gc are compiled, as package ctest does.
//  3. initramfs packs the guest (package guest, a static program of Go's), the programs, libgc.so.1, the libc and the
//     list of runs (ListFile) into an archive, which is all the machine has for a disk, with the module for disks in
//     memory, to which the guest has the kernel swap.
//  4. qemu starts the kernel with it. The guest is the first process: it mounts /proc, starts the programs one after
//     the other, prints an Outcome a line, behind Mark, to the serial console, and switches the machine off.
//  5. The outcomes are judged by the heads of the test files, and the logs must say which way the library has taken.
package kernels

import "time"

// ListFile is where the guest finds its runs: a list of Run as JSON.
const ListFile = "/runs.json"

// LogFile is where a run's library writes its log to.
const LogFile = "/tmp/log"

// RAMDiskModule is the kernel's module for disks in memory, for pages to be swapped out to.
const RAMDiskModule = "/brd.ko"

// Mark begins a line of the console that holds an Outcome.
const Mark = "granary-outcome "

// Run is one program that the guest starts.
type Run struct {
	Name    string
	Command []string
	Env     []string
	Timeout time.Duration
}

// Outcome is how a run ended.
type Outcome struct {
	Name, Kernel string
	Out, Err     string
	Log          string // the beginning of LogFile
	Exit, Signal int
	SwappedOut   int // pages, of all programs, meanwhile
	TimedOut     bool
	Took         time.Duration
	Failed       string // why it could not be started
}
