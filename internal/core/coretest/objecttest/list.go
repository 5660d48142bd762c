package objecttest

import "granary/internal/core/coretest/kit"

// T is what a test tells its results to.
type T = kit.T

// All lists the tests.
func All() []kit.Test {
	var all []kit.Test
	for _, group := range [][]kit.Test{goldenTests, holdTests, batchTests, limitTests, sequenceTests, threadTests} {
		all = append(all, group...)
	}
	return all
}
