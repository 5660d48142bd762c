package gctest

import (
	"granary/internal/core/coretest/kit"
)

// sequenceTests run long random sequences of operations against the model.
var sequenceTests = []Test{
	{Name: "random scripts with a look at everything after each step", Run: testScriptsChecked},
	{Name: "long random scripts", Run: testScripts},
	{Name: "random scripts under limits run out of memory and go on", Run: testScriptsLimited},
}

func testScriptsChecked(t kit.T) {
	for seed := uint64(1); seed <= 40; seed++ {
		RunScript(t, RandomScript(seed, 600), 150, 1, 0)
	}
}

func testScripts(t kit.T) {
	for seed := uint64(100); seed < 108; seed++ {
		RunScript(t, RandomScript(seed, 20000), 12000, 499, 0)
	}
}

func testScriptsLimited(t kit.T) {
	for limit := uintptr(0x10000); limit <= 0x200000; limit += 0x10000 {
		RunScript(t, RandomScript(uint64(limit), 3000), 1000, 97, limit)
	}
}
