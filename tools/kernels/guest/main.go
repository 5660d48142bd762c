// Guest is the first process of the virtual machine: see package kernels.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"granary/tools/ctest"
	"granary/tools/kernels"
)

// logBytes is how much of a log is told: the way that is taken is in its first lines.
const logBytes = 16 << 10

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "granary: guest is for the first process of a virtual machine")
		os.Exit(2)
	}
	if err := work(); err != nil {
		fmt.Println("granary: guest:", err)
	}
	unix.Sync()
	if err := unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF); err != nil {
		fmt.Println("granary: guest: power off:", err)
	}
}

func work() error {
	mounts := [][2]string{{"proc", "/proc"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}}
	for _, mount := range mounts {
		if err := unix.Mount(mount[0], mount[1], mount[0], 0, ""); err != nil {
			return fmt.Errorf("%s: %w", mount[1], err)
		}
	}
	if err := swapOn(); err != nil {
		return err
	}
	text, err := os.ReadFile(kernels.ListFile)
	if err != nil {
		return err
	}
	var runs []kernels.Run
	if err := json.Unmarshal(text, &runs); err != nil {
		return err
	}
	for _, run := range runs {
		line, err := json.Marshal(start(run))
		if err != nil {
			return err
		}
		fmt.Println(kernels.Mark + string(line))
	}
	return nil
}

func start(run kernels.Run) kernels.Outcome {
	outcome := kernels.Outcome{Name: run.Name, Kernel: release()}
	_ = os.Remove(kernels.LogFile)
	before, started := swappedOut(), time.Now()
	result, err := ctest.Run(run.Command, run.Env, "/tmp", run.Timeout)
	if err != nil {
		outcome.Failed = err.Error()
		return outcome
	}
	outcome.Out, outcome.Err, outcome.TimedOut = result.Out, result.Err, result.TimedOut
	outcome.Exit, outcome.Signal = result.Exit, int(result.Signal)
	outcome.Log = beginning(kernels.LogFile)
	outcome.SwappedOut = swappedOut() - before
	outcome.Took = time.Since(started)
	return outcome
}

func beginning(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, logBytes))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func release() string {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return ""
	}
	text, _, _ := strings.Cut(string(name.Release[:]), "\x00")
	return text
}
