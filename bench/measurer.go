package bench

// Running one command under measure.c.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// searchPath is where programs are looked for: Debian's own, not what a user's shell puts before
// them.
const searchPath = "/usr/bin:/bin:/usr/sbin:/sbin"

// errorTextLimit bounds what is kept of a program's error output.
const errorTextLimit = 2000

// Measurer starts commands through the compiled measure.c.
type Measurer struct {
	Binary      string
	Scratch     string   // a folder for output files and the commands' home
	Environment []string // added to every command's
}

// Command is what to run. The environment is built from nothing, so that a benchmark does not
// depend on the shell it was started from.
type Command struct {
	Arguments   []string
	Environment []string
	Input       string // a file for standard input; empty for none
	Directory   string
}

// Outcome is what one execution cost and how it ended.
type Outcome struct {
	WallSeconds   float64
	UserSeconds   float64
	SystemSeconds float64
	PeakRSSKiB    int64
	MinorFaults   int64
	ExitCode      int
	Signal        syscall.Signal
	Expired       bool // killed by the runner's time limit
	OutputFile    string
	ErrorText     string
}

// Failure says in words how a run failed; it is empty for one that ended well.
func (outcome *Outcome) Failure() string {
	switch {
	case outcome.Expired:
		return "did not finish within the time limit"
	case outcome.Signal != 0:
		return fmt.Sprintf("killed by signal %d (%s)", int(outcome.Signal), outcome.Signal)
	case outcome.ExitCode != 0:
		return fmt.Sprintf("exit status %d", outcome.ExitCode)
	}
	return ""
}

// Running is a command under way.
type Running struct {
	process *exec.Cmd
	figures *os.File // the read end
	output  *os.File
	errors  *limitedBuffer
	expired func() bool
}

// Start starts a command under an allocator; preload is the library's path or empty.
func (measurer *Measurer) Start(
	ctx context.Context, preload string, command Command,
) (*Running, error) {
	if preload == "" {
		preload = "-"
	}
	output, err := os.CreateTemp(measurer.Scratch, "output-*")
	if err != nil {
		return nil, err
	}
	figures, figuresWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, output.Close())
	}
	running := &Running{figures: figures, output: output, errors: &limitedBuffer{}}
	arguments := append([]string{preload}, command.Arguments...)
	process := exec.CommandContext(ctx, measurer.Binary, arguments...)
	process.Env = append([]string{
		"PATH=" + searchPath, "HOME=" + measurer.Scratch, "LC_ALL=C.UTF-8", "TZ=UTC",
		"GIT_CONFIG_NOSYSTEM=1",
	}, append(measurer.Environment, command.Environment...)...)
	process.Dir = command.Directory
	process.Stdout = output
	process.Stderr = running.errors
	process.ExtraFiles = []*os.File{figuresWrite}
	// A group of its own, so that a command that hangs is ended with everything that it started.
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	running.process = process
	running.expired = func() bool { return ctx.Err() != nil }
	if command.Input != "" {
		input, err := os.Open(command.Input)
		if err != nil {
			return nil, errors.Join(err, output.Close(), figures.Close(), figuresWrite.Close())
		}
		defer input.Close()
		process.Stdin = input
	}
	if err := process.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot start %s: %w", measurer.Binary, err),
			output.Close(), figures.Close(), figuresWrite.Close())
	}
	return running, figuresWrite.Close()
}

// Wait waits for the end and reads the figures. An error means that nothing was measured for a
// reason that lies with the runner; a command that failed is an Outcome with a Failure.
func (running *Running) Wait() (*Outcome, error) {
	line, readErr := io.ReadAll(running.figures)
	waitErr := running.process.Wait()
	outcome := &Outcome{
		OutputFile: running.output.Name(),
		ErrorText:  strings.TrimSpace(running.errors.String()),
	}
	if err := errors.Join(running.figures.Close(), running.output.Close(), readErr); err != nil {
		return nil, err
	}
	if running.expired() {
		outcome.Expired = true
		return outcome, nil
	}
	if waitErr != nil {
		return nil, fmt.Errorf("%s: %w: %s", running.process.Path, waitErr, outcome.ErrorText)
	}
	return outcome, outcome.parse(string(line))
}

// parse reads the line that measure.c writes.
func (outcome *Outcome) parse(line string) error {
	var signal int
	_, err := fmt.Sscanf(line,
		"wall=%g user=%g system=%g rss_kib=%d minor_faults=%d exit=%d signal=%d",
		&outcome.WallSeconds, &outcome.UserSeconds, &outcome.SystemSeconds,
		&outcome.PeakRSSKiB, &outcome.MinorFaults, &outcome.ExitCode, &signal)
	if err != nil {
		return fmt.Errorf("%s wrote %q: %w", measurerName, line, err)
	}
	outcome.Signal = syscall.Signal(signal)
	return nil
}

// Measure runs a command to its end. The caller removes OutputFile.
func (measurer *Measurer) Measure(
	ctx context.Context, preload string, command Command,
) (*Outcome, error) {
	running, err := measurer.Start(ctx, preload, command)
	if err != nil {
		return nil, err
	}
	return running.Wait()
}

// fileHash is the checksum of a program: a hash over all that it printed.
func fileHash(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil))[:16], nil
}

// limitedBuffer keeps the first errorTextLimit bytes that are written to it.
type limitedBuffer struct {
	bytes.Buffer
}

func (buffer *limitedBuffer) Write(text []byte) (int, error) {
	if room := errorTextLimit - buffer.Len(); room > 0 {
		buffer.Buffer.Write(text[:min(room, len(text))])
	}
	return len(text), nil
}

// newMeasurer makes a measurer with an empty scratch folder inside the build folder.
func newMeasurer(layout Layout, environment []string) (*Measurer, func(), error) {
	scratch, err := os.MkdirTemp(layout.Build, "scratch-*")
	if err != nil {
		return nil, nil, err
	}
	scratch, err = filepath.Abs(scratch)
	measurer := &Measurer{
		Binary: layout.binary(measurerName), Scratch: scratch, Environment: environment,
	}
	return measurer, func() { os.RemoveAll(scratch) }, err
}

// stop kills the group that this command and all it started belong to.
func (running *Running) stop() {
	// The group may have ended already; then there is nothing to stop.
	_ = syscall.Kill(-running.process.Process.Pid, syscall.SIGKILL)
}
