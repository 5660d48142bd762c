//go:build !cgo || !linux

package inherit

// Restore does nothing: without cgo no code runs before the Go runtime. Of the ignored signals the
// runtime itself keeps SIGHUP and SIGINT.
func Restore() {}
