// Package sys is the core's border to the operating system: address space, time, locks, thread identity.
//
// Its files differ by compiler: those for gccgo name functions of the C glue (clib/glue/sys.c), which makes the system
// calls itself; those for the ordinary compiler use golang.org/x/sys, and there is one for each system: os_linux_gc.go,
// os_darwin_gc.go, os_windows_gc.go, and os_unix_gc.go for what the first two share. Everything above sees one set of
// verbs, which are changes of state of a piece of address space:
//
//	Reserve   nothing       -> reserved    addresses that nobody else gets; touching them is a fault
//	Commit    reserved      -> committed   readable and writable, reads as zero, costs memory when touched
//	Decommit  committed     -> committed   contents dropped, memory given back, reads as zero again; who reads it
//	                                       meanwhile reads what was there or zero
//	Uncommit  committed     -> reserved    the same, but they must be committed again before they are touched
//	Release   any           -> nothing     all that one Reserve took, on Windows
//	Map       nothing       -> committed   Reserve and Commit in one
//	MapAt     nothing       -> committed   at these very addresses, if nobody else has them
//
// No function here allocates. Addr is an address that the compilers do not take for a Go pointer: stored state
// holds Addr, never *T, so that gccgo emits no write barriers and Go's collector has nothing to scan.
package sys
