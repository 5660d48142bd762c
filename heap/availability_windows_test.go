package heap

import (
	"testing"

	"golang.org/x/sys/windows"
)

func TestTheLeastLimitOfAJobCounts(t *testing.T) {
	const process, job = windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY, windows.JOB_OBJECT_LIMIT_JOB_MEMORY
	for _, c := range []struct {
		machine      uint64
		flags        uint32
		process, job uintptr
		want         uint64
	}{
		{1000, 0, 10, 20, 1000},
		{1000, process, 10, 5, 10},
		{1000, job, 10, 20, 20},
		{1000, process | job, 30, 20, 20},
		{1000, process | job, 3000, 2000, 1000},
		{0, job, 0, 20, 20},
	} {
		var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
		limits.BasicLimitInformation.LimitFlags = c.flags
		limits.ProcessMemoryLimit, limits.JobMemoryLimit = c.process, c.job
		if got := leastLimit(c.machine, &limits); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}
