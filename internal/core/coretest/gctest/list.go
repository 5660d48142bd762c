package gctest

import "granary/internal/core/coretest/kit"

// Test is one test with its name, which says what must hold.
type Test = kit.Test

// All lists the tests that run under both compilers.
func All() []Test {
	var all []Test
	for _, group := range [][]Test{
		allocTests, freeTests, sweepTests, threadTests, faultTests, sequenceTests,
		markTests, descriptorTests, sliceTests, markFaultTests, finalTests, finalModelTests,
	} {
		all = append(all, group...)
	}
	return all
}
