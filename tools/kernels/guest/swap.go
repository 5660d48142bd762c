package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"granary/tools/kernels"
)

const (
	swapBytes = 64 << 20
	pageBytes = 4096
	ramDisk   = "/dev/ram0"
)

// swapOn has pages swapped out to a disk in memory, if the kernel's module for such disks was packed.
func swapOn() error {
	module, err := os.Open(kernels.RAMDiskModule)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer module.Close()
	options := fmt.Sprintf("rd_nr=1 rd_size=%d", swapBytes>>10)
	if err := unix.FinitModule(int(module.Fd()), options, 0); err != nil {
		return fmt.Errorf("%s: %w", kernels.RAMDiskModule, err)
	}
	if err := os.WriteFile(ramDisk, swapHeader(), 0); err != nil {
		return err
	}
	path, err := unix.BytePtrFromString(ramDisk)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_SWAPON, uintptr(unsafe.Pointer(path)), 0, 0); errno != 0 {
		return fmt.Errorf("swapon: %w", errno)
	}
	return nil
}

// swapHeader is the first page of a swap area: behind 1024 bytes for a loader version 1 and the number of the last
// page, no bad pages; the magic word at the end.
func swapHeader() []byte {
	header := make([]byte, pageBytes)
	binary.LittleEndian.PutUint32(header[1024:], 1)
	binary.LittleEndian.PutUint32(header[1028:], swapBytes/pageBytes-1)
	copy(header[pageBytes-len("SWAPSPACE2"):], "SWAPSPACE2")
	return header
}

// swappedOut is how many pages were, since the start.
func swappedOut() int {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(text), "\n") {
		if count, found := strings.CutPrefix(line, "pswpout "); found {
			pages, _ := strconv.Atoi(count)
			return pages
		}
	}
	return 0
}
