package heap

// AvailableMemory is what the process may use, in bytes: the least limit of its cgroup and those above it, or all of
// the machine. It is 0 if nobody says.
func AvailableMemory() uint64 { return availableMemory() }
