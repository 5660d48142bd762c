// The tests of the core as a gccgo program.
package main

import (
	"granary/internal/core/coretest"
	"granary/internal/core/coretest/kit"
)

func main() { kit.Main(coretest.All()) }
