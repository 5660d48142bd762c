package coretest

import "granary/internal/core/coretest/kit"

// T is what a test tells its results to.
type T = kit.T

// Test is one test with its name, which says what must hold.
type Test = kit.Test

// All lists the tests that run under both compilers, and those of this compiler.
func All() []Test {
	var all []Test
	for _, group := range [][]Test{
		sysTests, spaceTests, classTests, cacheTests, spanTests, largeTests, sweepTests, resizeTests, fullTests,
		misuseTests, severalTests, sequenceTests, threadTests, compilerTests,
	} {
		all = append(all, group...)
	}
	return all
}
