//go:build gc && amd64

package object

// unlock gives a lock up. Here a store becomes visible after all that were made before it, and the compiler keeps their
// order, so it needs no exchange, which is half of what a lock costs. Nobody sleeps behind a lock in Go programs.
func unlock(word *uint32) { *word = 0 }
