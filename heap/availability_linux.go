package heap

import (
	"bufio"
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// availableMemory is what the process may use: the least limit of its cgroup and those above it, or all of the
// machine. It is 0 if nobody says.
func availableMemory() uint64 {
	least := uint64(0)
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		least = uint64(info.Totalram) * uint64(info.Unit)
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return least
	}
	if limit := cgroupLimit("/sys/fs/cgroup", groups); limit != 0 && (least == 0 || limit < least) {
		least = limit
	}
	return least
}

// cgroupLimit is the least memory limit that holds for a process with this /proc/self/cgroup, 0 for none. Version 2
// has one line, "0::/path"; version 1 one a controller, "7:memory:/path".
func cgroupLimit(root string, groups []byte) uint64 {
	least := uint64(0)
	lines := bufio.NewScanner(bytes.NewReader(groups))
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), ":", 3)
		if len(fields) != 3 {
			continue
		}
		dir, name := root, "memory.max"
		if fields[1] == "memory" {
			dir, name = path.Join(root, "memory"), "memory.limit_in_bytes"
		} else if fields[0] != "0" || fields[1] != "" {
			continue
		}
		// In a container the path can be that of the host, and the container's own group is the root.
		for group := path.Join("/", fields[2]); ; group = path.Dir(group) {
			if limit := readLimit(path.Join(dir, group, name)); limit != 0 && (least == 0 || limit < least) {
				least = limit
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// readLimit is the number in a file, 0 if there is none or it stands for no limit.
func readLimit(file string) uint64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || limit >= 1<<62 { // "max", or version 1's way to say so
		return 0
	}
	return limit
}
