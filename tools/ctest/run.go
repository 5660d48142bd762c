package ctest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Result is how a run ended.
type Result struct {
	Out, Err string
	Exit     int            // exit status, -1 if a signal ended it
	Signal   syscall.Signal // 0 if it exited
	TimedOut bool
}

// signalWait is how long a run that was told to end may take for it.
const signalWait = 5 * time.Second

// Run starts command in a process group of its own with exactly this environment. When the time is
// over the whole group is ended, so that children of a hanging test do not stay behind.
func Run(command, env []string, dir string, timeout time.Duration) (*Result, error) {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = env
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = signalWait
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	group := cmd.Process.Pid
	expired := make(chan struct{})
	timer := time.AfterFunc(timeout, func() {
		close(expired)
		_ = syscall.Kill(-group, syscall.SIGKILL)
	})
	waitErr := cmd.Wait()
	stopped := timer.Stop()
	if !stopped {
		<-expired
	}
	if cmd.ProcessState == nil {
		return nil, waitErr
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	result := &Result{Out: out.String(), Err: errs.String(), Exit: -1, TimedOut: !stopped}
	if status.Signaled() {
		result.Signal = status.Signal()
	} else {
		result.Exit = status.ExitStatus()
	}
	return result, nil
}

// Judge compares a result with what the head of the test expects, and returns what is wrong with
// it.
func Judge(header *Header, result *Result) []string {
	var faults []string
	if result.TimedOut {
		return []string{fmt.Sprintf("did not end within %v", header.Timeout)}
	}
	switch {
	case header.Signal != "":
		if want := unix.SignalNum(header.Signal); result.Signal != want || want == 0 {
			faults = append(faults, fmt.Sprintf("ended with %s, expected %s", result.ending(),
				header.Signal))
		}
	case result.Signal != 0 || result.Exit != header.ExpectExit:
		faults = append(faults, fmt.Sprintf("ended with %s, expected exit status %d",
			result.ending(), header.ExpectExit))
	}
	faults = append(faults, matchLines("standard error", header.Expect, result.Err)...)
	faults = append(faults, matchLines("standard output", header.ExpectOut, result.Out)...)
	for _, pattern := range header.Refuse {
		for _, line := range strings.Split(result.Err+"\n"+result.Out, "\n") {
			if pattern.MatchString(line) {
				faults = append(faults, fmt.Sprintf("printed %q, refused by %q", line, pattern))
			}
		}
	}
	return faults
}

func (r *Result) ending() string {
	if r.Signal != 0 {
		return unix.SignalName(r.Signal)
	}
	return fmt.Sprintf("exit status %d", r.Exit)
}

// matchLines says which patterns find no line: the first must match the first line, the others
// lines behind it in their order.
func matchLines(stream string, patterns []*regexp.Regexp, text string) []string {
	if len(patterns) == 0 {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if !patterns[0].MatchString(lines[0]) {
		return []string{fmt.Sprintf("first line of %s is %q, expected %q", stream, lines[0],
			patterns[0])}
	}
	next := 1
	for _, pattern := range patterns[1:] {
		for next < len(lines) && !pattern.MatchString(lines[next]) {
			next++
		}
		if next == len(lines) {
			return []string{fmt.Sprintf("no further line of %s matches %q", stream, pattern)}
		}
		next++
	}
	return nil
}

// plainEnvironment is the environment of every run: nothing of Granary's or of the loader's from
// outside.
func plainEnvironment() []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "GRANARY_") && !strings.HasPrefix(entry, "LD_") &&
			!strings.HasPrefix(entry, "MALLOC_") && !strings.HasPrefix(entry, "GLIBC_TUNABLES=") {
			env = append(env, entry)
		}
	}
	return env
}
