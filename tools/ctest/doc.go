// Package ctest compiles and runs the test programs of the C library, clib/tests.
//
// Purpose: a test of libgranary.so is one C or C++ file, or one shell script, whose head says how
// it is run and what it must print. This package reads the head, compiles the file, runs it with
// the library preloaded and compares.
//
// The structures: Header is the head of one file; Compiler turns files into programs, once each;
// Library is the allocator under test; Case is one run of one file, with its environment.
//
// The path of one test:
//
//  1. Load walks clib/tests and parses the head of each file (ParseHeader).
//  2. Expand makes a Case of the file, and one more for every "also" line in its head.
//  3. Execute compiles the file and the plug-ins it names (Compiler).
//  4. Run starts it in a process group of its own and ends that group when the time is over.
//  5. Judge compares exit status, signal, standard output and standard error with the head.
//
// The head is the comment lines at the top of the file ("//" in C, "#" in scripts). A line
// "key: value" with a key in small letters is a directive; every other line is prose:
//
//	covers: 7 10        rows of docs/compatibility.md that the test proves
//	env: A=1 B=2        environment of the run; may be repeated
//	args: WORDS         arguments of the program
//	run: COMMAND        a shell command instead of the program itself, which is {exe}
//	also: A=1           run once more with this environment as well; may be repeated
//	expect: REGEXP      the first must match the first line of standard error, each further one
//	                    a later line
//	expect-out: REGEXP  the same for standard output
//	refuse: REGEXP      no line of standard error or output may match
//	expect-exit: N      exit status, 0 if not given
//	signal: NAME        the program must die of this signal (SIGABRT)
//	cflags: WORDS       further compiler options
//	link: WORDS         options behind the source file: libraries
//	plugin: F.c WORDS   compile plugins/F.c beside the test as {F.so}, with further options
//	library: WORD       preload (if not given), none (no preload; {lib} still names the file), gc
//	                    (no preload; linked with -lgc and run on libgc.so.1 in {gcdir})
//	needs: WORDS        commands that must be on the machine; root: left out for other users
//	timeout: SECONDS    240 if not given: it ends what hangs, and is ample on a busy machine
//	sanitize: yes       also run it built with the sanitizers (sanitize_test.go)
//	only: granary       tests what only Granary has: left out when another allocator is tested
//
// Names in braces in env, args, run and link are replaced: {exe} the program, {lib} libgranary.so,
// {libdir} its folder, {gcdir} that of libgc.so.1, {static} libgranary.a, {granary} the options that
// link with libgranary.so, {dir} an empty folder for the run, {source} the test's folder, {F.so} a
// plug-in. In patterns {ptr} stands for an address as "%p" prints it.
//
// GRANARY_CTEST_LIBRARY=glibc runs the tests on the libc alone (and on the system's libgc), and
// GRANARY_CTEST_LIBRARY=FILE on another allocator: that is how the tests themselves are proven.
//
// The package must not import anything of the core: it sees the library as its users do.
package ctest
