package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"granary/internal/preload"
)

// The tests run this test binary as `granary`, through a link of that name, on a stub of the
// library.
var (
	command string // the link
	stub    string // the library: its constructor appends the program's name to $STUB_LOG
	other   string // another library that can be preloaded
)

const stubSource = `
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
const char *granary_version(void) { return "7.7.7"; }
__attribute__((constructor)) static void start(void) {
	const char *log = getenv("STUB_LOG");
	FILE *file = log ? fopen(log, "a") : NULL;
	if (file) {
		fprintf(file, "%s\n", program_invocation_short_name);
		fclose(file);
	}
	if (getenv("GRANARY_VERBOSE"))
		dprintf(2, "granary: 7.7.7 in pid %d (%s)\n", getpid(), program_invocation_short_name);
}`

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "granary" {
		main()
		return
	}
	os.Exit(prepareAndRun(m))
}

func prepareAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "granary-run")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "granary")
	stub = filepath.Join(dir, preload.LibraryName)
	other = filepath.Join(dir, "libother.so")
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, command)
	}
	for file, source := range map[string]string{stub: stubSource, other: "int granary_other;"} {
		compile := exec.Command("gcc", "-x", "c", "-", "-shared", "-fPIC", "-o", file)
		compile.Stdin = strings.NewReader(source)
		output, failed := compile.CombinedOutput()
		if failed != nil {
			err = fmt.Errorf("%w\n%s", failed, output)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// result is what a command did.
type result struct {
	stdout, stderr string
	state          *os.ProcessState
	pid            int
}

// invocation is a command to run. The zero values are an empty input and the environment of the
// test.
type invocation struct {
	stdin string
	env   []string // more variables
	dir   string
}

func (i invocation) run(t *testing.T, arguments ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	process := exec.Command(arguments[0], arguments[1:]...)
	process.Env = append(os.Environ(), i.env...)
	process.Dir = i.dir
	process.Stdin = strings.NewReader(i.stdin)
	process.Stdout, process.Stderr = &stdout, &stderr
	err := process.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return result{stdout.String(), stderr.String(), process.ProcessState, process.Process.Pid}
}

// runStub runs `granary run --lib=STUB ARGUMENTS`.
func runStub(t *testing.T, arguments ...string) result {
	t.Helper()
	return invocation{}.granary(t, arguments...)
}

func (i invocation) granary(t *testing.T, arguments ...string) result {
	t.Helper()
	return i.run(t, append([]string{command, "run", "--lib=" + stub}, arguments...)...)
}

func (r result) want(t *testing.T, status int, stderr string) {
	t.Helper()
	if r.state.ExitCode() != status || !strings.Contains(r.stderr, stderr) {
		t.Errorf("%v, stderr %q; want exit status %d and %q", r.state, r.stderr, status, stderr)
	}
}

func TestExitStatusIsThatOfTheProgram(t *testing.T) {
	for _, status := range []int{0, 3, 125, 126, 127, 255} {
		result := runStub(t, "--", "sh", "-c", fmt.Sprintf("exit %d", status))
		result.want(t, status, "")
		if result.stderr != "" {
			t.Errorf("stderr %q", result.stderr)
		}
	}
}

func TestDeathBySignalIsSeenByTheParent(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGABRT} {
		state := runStub(t, "--", "sh", "-c", fmt.Sprintf("ulimit -c 0; kill -%d $$", signal)).state
		status := state.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != signal {
			t.Errorf("signal %d: the parent saw %v", signal, state)
		}
	}
}

func TestSignalsReachTheProgramUnderTheSamePID(t *testing.T) {
	process := exec.Command(command, "run", "--lib="+stub, "--", "sh", "-c",
		"trap 'exit 5' USR1; echo $$; read line; exit 6")
	stdin, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 32)
	count, err := stdout.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(line[:count]), fmt.Sprintln(process.Process.Pid); got != want {
		t.Errorf("the program has pid %s, the parent started %s", got, want)
	}
	if err := process.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	process.Wait()
	if got := process.ProcessState.ExitCode(); got != 5 {
		t.Errorf("ended with %v, want 5 from its trap", process.ProcessState)
	}
}

// What a process inherits must be the same with granary run in between.
func TestProgramInheritsWhatItsParentSet(t *testing.T) {
	for _, set := range []string{
		"trap '' TERM PIPE HUP CHLD USR1",
		"exec <&-",
		"exec 2>&-",
		"exec 0<&- 2>&-",
		"exec 7</dev/null",
		"ulimit -n 123",
		"umask 027",
		"cd /",
	} {
		const show = "grep Sig[IBC] /proc/self/status; ls -l /proc/self/fd | sed 's/.*:.. //'; " +
			"ulimit -n; umask; pwd"
		run := func(how string) string {
			var stdout bytes.Buffer
			process := exec.Command("sh", "-c", set+"; exec "+how+` sh -c "$SHOW"`)
			process.Env = append(os.Environ(), "SHOW="+show)
			process.Stdout = &stdout
			if err := process.Run(); err != nil {
				t.Fatalf("%s: %v", set, err)
			}
			lines := strings.Split(stdout.String(), "\n")
			// The descriptor of the listed directory and that of the pipes have new numbers each time.
			return strings.Join(slices.DeleteFunc(lines, func(line string) bool {
				return strings.Contains(line, "/proc/") || strings.Contains(line, "pipe:")
			}), "\n")
		}
		want, got := run(""), run(command+" run --report=none --lib="+stub+" --")
		if got != want || !strings.Contains(got, "SigIgn") {
			t.Errorf("%s: with granary\n%s\nwithout\n%s", set, got, want)
		}
	}
}

func TestArgumentsArePassedAsTheyAre(t *testing.T) {
	arguments := []string{"", "a b", "--", "-x", "--report=json", "--help", "*", "new\nline", "\xff",
		"run"}
	want := "[" + strings.Join(arguments, "][") + "]"
	for _, before := range [][]string{{"--"}, {}, {"--report", "none"}} {
		all := append(append(slices.Clone(before), "printf", "[%s]"), arguments...)
		result := runStub(t, all...)
		if result.stdout != want {
			t.Errorf("behind %q: %q, want %q", before, result.stdout, want)
		}
	}
	got := runStub(t, "--", "cat", "/proc/self/cmdline").stdout
	if got != "cat\x00/proc/self/cmdline\x00" {
		t.Errorf("the program was started as %q", got)
	}
}

func TestInputAndOutputAreBinary(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	var bytes strings.Builder
	if _, err := io.CopyN(&bytes, random, 1<<20); err != nil {
		t.Fatal(err)
	}
	got := invocation{stdin: bytes.String()}.granary(t, "--", "cat").stdout
	if got != bytes.String() {
		t.Errorf("cat changed %d bytes into other %d bytes", bytes.Len(), len(got))
	}
}

func TestLibraryIsLoadedIntoProgramAndChildren(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	invocation{env: []string{"STUB_LOG=" + log, "LD_PRELOAD=" + other}}.granary(t, "--",
		"sh", "-c", "true; env | grep LD_PRELOAD > "+log+".env; ls / >/dev/null").want(t, 0, "")
	names, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(names))
	for _, name := range []string{"sh", "env", "grep", "ls"} {
		if !slices.Contains(lines, name) {
			t.Errorf("the library was loaded into %q, not into %s", lines, name)
		}
	}
	got, _ := os.ReadFile(log + ".env")
	if want := "LD_PRELOAD=" + stub + ":" + other + "\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRunWithinRunPreloadsOnce(t *testing.T) {
	result := runStub(t, "--", command, "run", "--lib="+stub, "--", "sh", "-c", "echo $LD_PRELOAD")
	if result.stdout != stub+"\n" {
		t.Errorf("LD_PRELOAD is %q, want %q", result.stdout, stub)
	}
}

func TestFailuresSayWhyWithTheStatusOfEnv(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	text := write("text", "echo hello\n", 0o755)
	static := filepath.Join(dir, "static")
	compile := exec.Command("gcc", "-static", "-x", "c", "-", "-o", static)
	compile.Stdin = strings.NewReader(`#include <stdlib.h>
		int main(void) { return getenv("LD_PRELOAD") ? 4 : 5; }`)
	if output, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, test := range []struct {
		arguments []string
		status    int
		stderr    string
	}{
		{nil, 125, "granary: no program to run\nSay: granary run [flags] -- PROGRAM"},
		{[]string{"--nonsense", "true"}, 125,
			"granary: unknown flag: --nonsense\nSee: granary run --help"},
		{[]string{"--report=xml", "true"}, 125, "use text, json or none"},
		{[]string{"--limit=lots", "true"}, 125, "not a size"},
		{[]string{"--debug=9", "true"}, 125, "takes no value"},
		{[]string{"--report-file=" + dir + "/a/b", "true"}, 125, dir + "/a is not a directory; make it"},
		{[]string{"--report-file=" + dir, "true"}, 125, "is a directory; name a file"},
		{[]string{"--report-file=x", "--report=none", "true"}, 125, "has no use with --report=none"},
		{[]string{"--lib=/none.so", "true"}, 125, "--lib names no library"},
		{[]string{"--lib=" + other, "true"}, 125, "is not Granary's library"},
		{[]string{"no-such-program"}, 127, `granary: "no-such-program" is not a program in PATH`},
		{[]string{dir + "/none"}, 127, "does not exist"},
		{[]string{dir}, 126, "is a directory"},
		{[]string{write("plain", "x", 0o644)}, 126, "chmod +x"},
		{[]string{text}, 126, "if it is a shell script: granary run -- sh " + text},
		{[]string{write("gone", "#!/none/perl\n", 0o755)}, 126, "/none/perl does not exist"},
		{[]string{write("empty", "", 0o755)}, 126, "is empty"},
		{[]string{write("torn", "\x7fELF\x02\x01\x01", 0o755)}, 126, "cannot be executed"},
		{[]string{static}, 125, "is statically linked, so no library can be loaded into it; link it " +
			"dynamically, or link libgranary.a into it\n" +
			"To run it without Granary all the same, add --force"},
		{[]string{"--force", static}, 4, "only programs that it starts can use Granary"},
		{[]string{"--force", dir + "/gone"}, 126, "/none/perl does not exist"},
	} {
		result := runStub(t, test.arguments...)
		result.want(t, test.status, test.stderr)
		if result.stdout != "" {
			t.Errorf("%q: stdout %q", test.arguments, result.stdout)
		}
	}
	runStub(t, "--", "sh", text).want(t, 0, "")
}

func TestLibraryThatIsNowhereIsTold(t *testing.T) {
	// The test binary has no library beside it. One that is installed on this machine is used.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	status, stderr := 125, "granary: libgranary.so was not found; I looked for\n  "
	if _, err := preload.FindLibrary("", "", self); err == nil {
		status, stderr = 0, ""
	}
	invocation{env: []string{"GRANARY_LIB="}}.run(t, command, "run", "true").want(t, status, stderr)
	invocation{env: []string{"GRANARY_LIB=" + stub}}.run(t, command, "run", "true").want(t, 0, "")
}
