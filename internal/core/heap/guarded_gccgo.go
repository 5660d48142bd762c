//go:build gccgo

package heap

// ProcessHeap is the one heap of a C program, for package guard.
func ProcessHeap() *Heap { return &process }
