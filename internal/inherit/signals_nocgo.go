//go:build !cgo || !linux

package inherit

// IgnoreSignalsAgain does nothing: without cgo no code runs before the Go runtime. Of the ignored
// signals the runtime itself keeps SIGHUP and SIGINT.
func IgnoreSignalsAgain() {}
