// The tests of the core's collector as a gccgo program.
package main

import (
	"granary/internal/core/coretest/gctest"
	"granary/internal/core/coretest/kit"
)

func main() { kit.Main(gctest.All()) }
