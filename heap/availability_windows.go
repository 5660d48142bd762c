package heap

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// availableMemory is what the process may use: the least limit of the job that it belongs to, as a container does, or
// all of the machine. It is 0 if nobody says.
func availableMemory() uint64 {
	return leastLimit(machineMemory(), jobLimits(windows.Handle(0)))
}

// leastLimit is the machine's memory, or less if the limits that a job has set say so.
func leastLimit(machine uint64, job *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) uint64 {
	least := machine
	note := func(flag uint32, limit uint64) {
		if job.BasicLimitInformation.LimitFlags&flag != 0 && limit != 0 && (least == 0 || limit < least) {
			least = limit
		}
	}
	note(windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY, uint64(job.ProcessMemoryLimit))
	note(windows.JOB_OBJECT_LIMIT_JOB_MEMORY, uint64(job.JobMemoryLimit))
	return least
}

// jobLimits are the limits of a job; 0 is the one of the process. A process in no job has none.
func jobLimits(job windows.Handle) *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION {
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	if windows.QueryInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)), nil) != nil {
		return &windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	}
	return &limits
}

var globalMemoryStatusEx = windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")

// machineMemory is the machine's memory, 0 if Windows does not say.
func machineMemory() uint64 {
	// MEMORYSTATUSEX of the Windows API.
	status := struct {
		length, load                                   uint32
		physical, physicalFree, pageFile, pageFileFree uint64
		virtual, virtualFree, virtualFreeExtended      uint64
	}{}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := globalMemoryStatusEx.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return status.physical
}
