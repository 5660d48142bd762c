// Package unlock makes a copy of modernc.org/libc whose malloc and free take no lock, which memory.Shared allows: the
// lock around the allocator is all that keeps connections of sqlite from allocating at the same time.
package unlock

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// change is a piece of a file that becomes another one; it is there so often.
type change struct {
	file     string
	from, to string
	count    int
}

const (
	lock    = "\tallocatorMu.Lock()\n\n\tdefer allocatorMu.Unlock()\n\n"
	figures = `	return MemAllocatorStat{
		Allocs: allocator.Allocs,
		Bytes:  allocator.Bytes,
		Mmaps:  allocator.Mmaps,
	}
`
	shared = `	allocs, bytes, mmaps := allocator.Counts()
	return MemAllocatorStat{Allocs: allocs, Bytes: bytes, Mmaps: mmaps}
`
)

var changes = []change{
	{"libc_musl.go", "allocator   memory.Allocator", "allocator   memory.Shared", 1},
	{"mem_musl.go", lock, "", 6},
	{"mem_musl.go", figures, shared, 1},
}

// Copy copies the libc in a folder, of version 1.80.1, to another folder, without the lock. The file names say that it
// is for Linux.
func Copy(to, from string) error {
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		return err
	}
	for _, c := range changes {
		path := filepath.Join(to, c.file)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), c.from); n != c.count {
			return fmt.Errorf("%s: %q is there %d times, not %d: another version of libc", path, c.from, n, c.count)
		}
		if err := os.Chmod(path, 0o644); err != nil { // the module cache is read-only
			return err
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), c.from, c.to)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
