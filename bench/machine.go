package bench

// One line that says what machine the figures are from.

import (
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// MachineLine names processor, cores, memory, kernel, huge pages and Debian's version.
func MachineLine() string {
	parts := []string{
		fmt.Sprintf("%s, %d cores", processorName(), runtime.NumCPU()),
		fmt.Sprintf("%.0f GiB", float64(memoryBytes())/(1<<30)),
	}
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		// The version without what a vendor put behind it.
		release, _, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), "-")
		machine := unix.ByteSliceToString(name.Machine[:])
		parts = append(parts, fmt.Sprintf("Linux %s %s", release, machine))
	}
	if text, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled"); err == nil {
		_, after, _ := strings.Cut(string(text), "[")
		setting, _, _ := strings.Cut(after, "]")
		parts = append(parts, "transparent huge pages "+setting)
	}
	if text, err := os.ReadFile("/etc/debian_version"); err == nil {
		parts = append(parts, "Debian "+strings.TrimSpace(string(text)))
	}
	return strings.Join(parts, "; ")
}

func processorName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			key, value, ok := strings.Cut(line, ":")
			if ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	}
	return runtime.GOARCH
}

func memoryBytes() uint64 {
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}
