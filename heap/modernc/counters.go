//go:build memory.counters

package memory

// counters says whether Allocator.Bytes is kept.
const counters = true
