// The tests of the core's objects as a gccgo program.
package main

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/coretest/objecttest"
)

func main() { kit.Main(objecttest.All()) }
