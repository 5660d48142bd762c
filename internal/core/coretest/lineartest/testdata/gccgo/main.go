// The tests of the linear allocators as a gccgo program.
package main

import (
	"granary/internal/core/coretest/kit"
	"granary/internal/core/coretest/lineartest"
)

func main() { kit.Main(lineartest.All()) }
