//go:build gc && !granary_strict

package sys

// See strict_gc.go.
const (
	strict         = false
	leastPageBytes = 1
)
