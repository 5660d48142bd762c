package object

import (
	"syscall"
	"testing"
)

func cpuNow() int64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u.Utime.Nano() + u.Stime.Nano()
}

func reportCPU(b *testing.B, since int64, n int) {
	b.ReportMetric(float64(cpuNow()-since)/float64(n), "cpu-ns")
}
