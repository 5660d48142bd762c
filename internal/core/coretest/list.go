package coretest

// T is the part of a test's state that the tests need; *testing.T has it.
type T interface {
	Errorf(format string, args ...interface{})
	Fatalf(format string, args ...interface{}) // does not return
	Logf(format string, args ...interface{})
}

// Test is one test with its name, which says what must hold.
type Test struct {
	Name string
	Run  func(T)
}

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
