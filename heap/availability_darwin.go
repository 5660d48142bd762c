package heap

import "golang.org/x/sys/unix"

// availableMemory is what the process may use: all of the machine. It is 0 if nobody says.
func availableMemory() uint64 {
	bytes, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0
	}
	return bytes
}
