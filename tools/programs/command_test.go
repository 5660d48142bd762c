// This file holds commands: starting them with a deadline, with or without Granary, and proving
// that Granary was in them. The overview is in doc.go.

package programs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// command is what to start. Only args is needed.
type command struct {
	args   []string
	env    []string            // added to the fixed environment
	stdin  io.Reader           // empty when nil
	dir    string              // the work directory when empty
	limit  time.Duration       // two minutes when zero
	user   *syscall.Credential // the user of the tests when nil
	exits  []int               // the exit statuses that it may end with; only 0 when nil
	silent bool                // no GRANARY_VERBOSE line: the test proves the loading itself
	tries  int                 // started anew, so often in all, when a signal ends it; stdin must be nil
}

// loading is one process that said it had loaded Granary.
type loading struct {
	pid       int
	name      string
	collector bool // it was libgc.so.1 that said so
}

// result is what a finished command left. stderr is without the lines of GRANARY_VERBOSE.
type result struct {
	pid, exit      int
	stdout, stderr []byte
	loaded         []loading
}

// verboseLine is the line that GRANARY_VERBOSE=1 makes the library print when it starts. git relays
// the standard error of its other side with a word before each line and blanks behind it.
var verboseLine = regexp.MustCompile(
	`(?:remote: )?granary: (libgc-)?\S+ in pid (\d+) \(([^\n]*?)\) *(\n|$)`)

// environment is all that programs get to see of the environment.
func (s *session) environment(c command) []string {
	env := []string{
		"PATH=" + searchPath,
		"HOME=" + s.dir,
		"TMPDIR=" + s.path("tmp"),
		"LANG=C.UTF-8",
		"TZ=UTC",
	}
	if s.library != "" {
		env = append(env, "LD_PRELOAD="+s.library)
	}
	if s.gcDir != "" {
		env = append(env, "LD_LIBRARY_PATH="+s.gcDir)
	}
	if s.granary() && !c.silent {
		env = append(env, "GRANARY_VERBOSE=1")
	}
	return append(env, c.env...)
}

// prepare makes the process of a command, in a process group of its own so that its end can be
// made the end of its children too.
func (s *session) prepare(ctx context.Context, c command) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	cmd.Dir = s.dir
	if c.dir != "" {
		cmd.Dir = c.dir
	}
	cmd.Env = s.environment(c)
	cmd.Stdin = c.stdin
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:    true,
		Credential: c.user,
		Pdeathsig:  syscall.SIGKILL, // should the tests be killed, as by their time limit
	}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs a command to its end. It must end in time, with a status asked for, with Granary
// loaded in it in the granary pass, and without a message of Granary's.
func (s *session) run(c command) result {
	s.t.Helper()
	if c.limit == 0 {
		c.limit = 2 * time.Minute
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), c.limit)
	defer cancel()
	cmd := s.prepare(ctx, c)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	shown := strings.Join(c.args, " ")
	if ctx.Err() != nil {
		s.fatalf("%.300s\ndid not end within %v\n%s", shown, c.limit, tail(stderr.Bytes()))
	}
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		s.fatalf("%.300s: %v", shown, err)
	}
	if c.tries > 1 && ended != nil && ended.ExitCode() < 0 {
		c.tries--
		return s.run(c)
	}
	if c.exits == nil {
		c.exits = []int{0}
	}
	if !slices.Contains(c.exits, cmd.ProcessState.ExitCode()) {
		s.fatalf("%.300s\nended with %v, wanted exit status %v\n%s%s", shown,
			cmd.ProcessState, c.exits, tail(stdout.Bytes()), tail(stderr.Bytes()))
	}
	r := result{pid: cmd.Process.Pid, exit: cmd.ProcessState.ExitCode(), stdout: stdout.Bytes()}
	r.stderr, r.loaded = takeVerboseLines(stderr.Bytes())
	err = checkMessages(s.granary(), c.silent, r)
	if err == nil && s.gcDir != "" && !slices.ContainsFunc(r.loaded, func(l loading) bool { return l.collector }) {
		err = errors.New("no process said that it runs on Granary's libgc.so.1")
	}
	if err != nil {
		s.fatalf("%.300s\n%v\n%s", shown, err, tail(stderr.Bytes()))
	}
	return r
}

// output runs a command and gives its standard output.
func (s *session) output(args ...string) []byte {
	s.t.Helper()
	return s.run(command{args: args}).stdout
}

// recordRun runs a command and records both its outputs.
func (s *session) recordRun(name string, c command) result {
	s.t.Helper()
	r := s.run(c)
	s.record("standard output of "+name, r.stdout)
	s.record("standard error of "+name, r.stderr)
	return r
}

// takeVerboseLines cuts the lines of GRANARY_VERBOSE out of what was written to standard error.
func takeVerboseLines(stderr []byte) (rest []byte, loaded []loading) {
	for _, match := range verboseLine.FindAllSubmatch(stderr, -1) {
		pid, _ := strconv.Atoi(string(match[2]))
		loaded = append(loaded, loading{pid, string(match[3]), len(match[1]) > 0})
	}
	return verboseLine.ReplaceAll(stderr, nil), loaded
}

// checkMessages says what is wrong with the messages of a finished command: Granary not loaded,
// loaded where it must not be, or a message about misuse.
func checkMessages(granary, silent bool, r result) error {
	if at := bytes.Index(r.stderr, []byte("granary: ")); at >= 0 {
		return fmt.Errorf("a message of Granary's on standard error: %.500s", r.stderr[at:])
	}
	if !granary && len(r.loaded) > 0 {
		return errors.New("Granary was loaded in the pass that must do without it")
	}
	if granary && !silent && !r.isLoaded(r.pid) {
		return fmt.Errorf("Granary was not loaded in it: no line `granary: VERSION in pid %d`", r.pid)
	}
	return nil
}

// isLoaded says whether the process with this id said that it had loaded Granary.
func (r result) isLoaded(pid int) bool {
	for _, l := range r.loaded {
		if l.pid == pid {
			return true
		}
	}
	return false
}

// needLoaded fails the test unless, in the granary pass, processes of all these names loaded
// Granary.
func (s *session) needLoaded(loaded []loading, names ...string) {
	s.t.Helper()
	if !s.granary() {
		return
	}
	for _, name := range names {
		found := false
		for _, l := range loaded {
			found = found || l.name == name
		}
		if !found {
			s.fatalf("Granary was not loaded in %s, only in %v", name, loaded)
		}
	}
}

// needMapped fails the test unless the library is in the memory map of a running process exactly
// when this is the granary pass.
func (s *session) needMapped(pid int) {
	s.t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		s.fatalf("%v", err)
	}
	if mapped := bytes.Contains(maps, []byte("libgranary.so")); mapped != s.granary() {
		s.fatalf("libgranary.so in the memory map of process %d: %v", pid, mapped)
	}
}

// tail gives the end of an output for a message.
func tail(output []byte) string {
	const most = 4000
	if len(output) > most {
		output = output[len(output)-most:]
	}
	return string(output)
}

// lockedBuffer collects the output of a running process.
type lockedBuffer struct {
	mutex sync.Mutex
	data  bytes.Buffer // under mutex
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.data.Write(p)
}

func (b *lockedBuffer) bytes() []byte {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return bytes.Clone(b.data.Bytes())
}

// server is a command that stays until it is stopped.
//
// States: running (from start on; the test owns it), ended (done is closed; err and the
// process state may be read).
type server struct {
	s      *session
	cmd    *exec.Cmd // const
	silent bool      // const
	out    lockedBuffer
	errors lockedBuffer
	done   chan struct{}
	err    error // written before done is closed
}

// start starts a server. Whatever becomes of the test, it is ended with the test.
func (s *session) start(c command) *server {
	s.t.Helper()
	v := &server{s: s, silent: c.silent, done: make(chan struct{})}
	v.cmd = s.prepare(context.Background(), c)
	v.cmd.Stdout, v.cmd.Stderr = &v.out, &v.errors
	if err := v.cmd.Start(); err != nil {
		s.fatalf("%v", err)
	}
	go func() {
		v.err = v.cmd.Wait()
		close(v.done)
	}()
	s.t.Cleanup(func() {
		select {
		case <-v.done:
		default:
			syscall.Kill(-v.cmd.Process.Pid, syscall.SIGKILL)
			<-v.done
		}
	})
	return v
}

func (v *server) pid() int { return v.cmd.Process.Pid }

// waitUntil asks again and again until ready says yes; it fails the test when the server ends
// before that, or after a minute.
func (v *server) waitUntil(what string, ready func() bool) {
	v.s.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !ready() {
		select {
		case <-tick.C:
		case <-v.done:
			v.s.fatalf("%s ended (%v) before %s\n%s%s", v.cmd.Path, v.cmd.ProcessState, what,
				tail(v.out.bytes()), tail(v.errors.bytes()))
		case <-late:
			v.s.fatalf("%s: not within a minute: %s\n%s%s", v.cmd.Path, what,
				tail(v.out.bytes()), tail(v.errors.bytes()))
		}
	}
}

// stop sends the signal, waits for the end and checks it: exit status 0, Granary loaded, no message
// of Granary's. A signal of 0 only waits, for a server that was told to end in another way.
func (v *server) stop(signal syscall.Signal) result {
	v.s.t.Helper()
	if signal != 0 {
		if err := v.cmd.Process.Signal(signal); err != nil {
			v.s.fatalf("%s ended before it was stopped: %v\n%s", v.cmd.Path, err,
				tail(v.errors.bytes()))
		}
	}
	select {
	case <-v.done:
	case <-time.After(time.Minute):
		v.s.fatalf("%s did not end within a minute of being told to", v.cmd.Path)
	}
	if v.err != nil {
		v.s.fatalf("%s ended with %v\n%s%s", v.cmd.Path, v.err, tail(v.out.bytes()),
			tail(v.errors.bytes()))
	}
	r := result{pid: v.pid(), stdout: v.out.bytes()}
	r.stderr, r.loaded = takeVerboseLines(v.errors.bytes())
	if err := checkMessages(v.s.granary(), v.silent, r); err != nil {
		v.s.fatalf("%s: %v", v.cmd.Path, err)
	}
	return r
}

func TestTheProofOfLoadingRefusesAProgramWithoutTheLibrary(t *testing.T) {
	r := result{pid: 7, loaded: []loading{{pid: 8, name: "child"}}}
	if err := checkMessages(true, false, r); err == nil {
		t.Error("a program that never said that it had loaded Granary was accepted")
	}
	r.loaded = append(r.loaded, loading{pid: 7, name: "program"})
	if err := checkMessages(true, false, r); err != nil {
		t.Errorf("a program that had loaded Granary was refused: %v", err)
	}
	if err := checkMessages(false, false, r); err == nil {
		t.Error("the plain pass was accepted with Granary in it")
	}
}

func TestAMessageAboutMisuseIsFoundBesideTheVerboseLines(t *testing.T) {
	written := "one\ngranary: 0.1.0 in pid 12 (name (x))\ntwo\n"
	rest, loaded := takeVerboseLines([]byte(written))
	if string(rest) != "one\ntwo\n" || len(loaded) != 1 || loaded[0] != (loading{pid: 12, name: "name (x)"}) {
		t.Errorf("cut into %q and %v", rest, loaded)
	}
	misuse := "granary: free(0x10): block was already freed (class 64)\n"
	rest, loaded = takeVerboseLines([]byte(written + misuse))
	if err := checkMessages(true, false, result{pid: 12, stderr: rest, loaded: loaded}); err == nil {
		t.Error("a message about misuse was accepted")
	}
}
