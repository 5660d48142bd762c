//go:build gc && granary_strict

package sys

// With the tag granary_strict, Linux behaves as the other systems do in what the layers above could get wrong: pages
// are of 16 KiB, as on macOS on arm64, and what is not cut at them is refused; what was uncommitted is a fault to
// touch, as on Windows. It is there for tests.
const (
	strict         = true
	leastPageBytes = 16 << 10
)
