// Package programs runs real programs twice, without Granary and with libgranary.so preloaded,
// and demands the same results byte for byte. It holds tests only.
//
// The structures (all in _test.go files):
//
//	session   one pass over a program: plain, or with the library preloaded
//	command   what to start: arguments, environment, input, deadline
//	result    what a finished command left: output, exit status, the processes that loaded Granary
//	server    a command that stays, with its own end
//	record    one named piece of a result that must be the same in both passes
//
// The path of one test:
//
//  1. compare makes a work directory and calls the test's body for the plain pass. Programs get a
//     small fixed environment, so that nothing of the developer's own settings reaches them.
//  2. The body runs commands and servers and records what must be equal.
//  3. The work directory is moved aside and made again under the same name: paths that programs
//     write into their results (debug information, error messages) are then equal without editing.
//  4. The body runs again with LD_PRELOAD set. Every command must prove that the library was loaded
//     in it: by the line that GRANARY_VERBOSE=1 prints, or by its memory map. A message of the
//     library other than that line fails the test.
//  5. The records of both passes are compared; the first difference is shown.
//
// Two sizes: by default the tests that take seconds, with -tags programs (make test-programs)
// everything at full size. A program that is missing fails its test and names the Debian package.
package programs
