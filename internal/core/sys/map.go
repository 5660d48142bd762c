package sys

// Map is Reserve and Commit in one: whole pages that read as zero. It returns 0, and has taken nothing, if the system
// refuses either.
func Map(bytes uintptr) Addr {
	start := Reserve(bytes)
	if start != 0 && !Commit(start, bytes) {
		Release(start, bytes)
		return 0
	}
	return start
}
