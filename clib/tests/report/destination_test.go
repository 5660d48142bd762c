package report

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const (
	asText = "GRANARY_REPORT=text"
	asJSON = "GRANARY_REPORT=json"
)

func TestModeSaysWhatIsWritten(t *testing.T) {
	for _, test := range []struct {
		env  []string
		want string // beginning of stderr
	}{
		{nil, ""},
		{[]string{"GRANARY_REPORT="}, ""},
		{[]string{"GRANARY_REPORT=none"}, ""},
		{[]string{asText}, "granary: usage report of harness, pid "},
		{[]string{asJSON}, `{"granary_report":1,`},
		{[]string{"GRANARY_REPORT=xml"}, "granary: GRANARY_REPORT is xml: unknown, so there will be " +
			"no usage report; use text, json or none\n"},
	} {
		stderr := run(t, 0, test.env, "setup", "stats=typical", "at-exit").stderr
		if !strings.HasPrefix(stderr, test.want) || (test.want == "") != (stderr == "") {
			t.Errorf("%q: stderr %q, want %q", test.env, stderr, test.want)
		}
	}
}

func TestReportIsWrittenOnce(t *testing.T) {
	stderr := run(t, 0, []string{asJSON}, "setup", "stats=zero", "at-exit", "at-exit").stderr
	if reports := decodeAll(t, stderr); len(reports) != 1 {
		t.Errorf("%d reports, want 1", len(reports))
	}
}

func TestReportReachesStderrThatTheProgramClosed(t *testing.T) {
	for _, steps := range [][]string{
		{"close=2"},
		{"close=500"},
		{"close=0", "close=1", "close=2"},
	} {
		steps = append(append([]string{"setup", "stats=zero"}, steps...), "at-exit")
		if reports := decodeAll(t, run(t, 0, []string{asJSON}, steps...).stderr); len(reports) != 1 {
			t.Errorf("%q: %d reports, want 1", steps, len(reports))
		}
	}
}

// The duplicate of stderr is number 500. A lower number could be one that the program counts on.
func TestReportNeedsStderrOrRoomForItsDuplicate(t *testing.T) {
	for _, test := range []struct {
		limit string
		steps []string
		want  int
	}{
		{"4", nil, 1},
		{"500", nil, 1},
		{"500", []string{"close=2"}, 0},
		{"501", []string{"close=2"}, 1},
	} {
		steps := append([]string{"limit-files=" + test.limit, "setup", "stats=zero"}, test.steps...)
		stderr := run(t, 0, []string{asJSON}, append(steps, "at-exit")...).stderr
		if reports := decodeAll(t, stderr); len(reports) != test.want {
			t.Errorf("limit of %s files, %q: %d reports, want %d", test.limit, test.steps, len(reports), test.want)
		}
	}
}

// A file that the program opened under the number of stderr is the program's.
func TestReportNeverGoesToAFileOfTheProgram(t *testing.T) {
	for _, steps := range [][]string{
		{"setup", "close=2", "open=FILE", "at-exit"},
		{"setup", "close=2", "close=500", "open=FILE", "at-exit"},
		{"close=2", "open=FILE", "close=2", "setup", "open=FILE", "at-exit"},
		{"close=2", "setup", "open=FILE", "at-exit"},
	} {
		file := filepath.Join(t.TempDir(), "data")
		for i := range steps {
			steps[i] = strings.Replace(steps[i], "FILE", file, 1)
		}
		run(t, 0, []string{asText}, append([]string{"stats=typical"}, steps...)...)
		if got := readFile(t, file); got != "" {
			t.Errorf("%q: the program's file got %q", steps, got)
		}
	}
}

func TestReportFileIsAppendedTo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reports")
	if err := os.WriteFile(file, []byte("before\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		run(t, 0, []string{asJSON, "GRANARY_REPORT_FILE=" + file}, "setup", "stats=typical", "at-exit")
	}
	rest, found := strings.CutPrefix(readFile(t, file), "before\n")
	if reports := decodeAll(t, rest); !found || len(reports) != 2 {
		t.Errorf("the file has %q", readFile(t, file))
	}
}

func TestReportFileAloneMeansText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reports")
	run(t, 0, []string{"GRANARY_REPORT_FILE=" + file}, "setup", "stats=typical", "at-exit")
	if got := readFile(t, file); !strings.HasPrefix(got, "granary: usage report of harness, ") {
		t.Errorf("the file has %q", got)
	}
}

func TestReportFileIsRelativeToTheDirectoryAtTheStart(t *testing.T) {
	dir := t.TempDir()
	run(t, 0, []string{asJSON, "GRANARY_REPORT_FILE=out%%-%p.json"},
		"chdir="+dir, "setup", "chdir=/", "stats=zero", "at-exit")
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 {
		t.Fatalf("files %q, want one", files)
	}
	report := decode(t, readFile(t, files[0]))
	if want := "out%-" + strconv.Itoa(report.PID) + ".json"; filepath.Base(files[0]) != want {
		t.Errorf("file %s, want %s", files[0], want)
	}
}

func TestReportThatCannotBeWrittenIsToldAndChangesNoStatus(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for file, why := range map[string]string{
		dir + "/missing/report": "No such file or directory",
		dir:                     "Is a directory",
		pipe:                    "No such device or address", // nobody reads it
		"/dev/full":             "No space left on device",
	} {
		stderr := run(t, 0, []string{asText, "GRANARY_REPORT_FILE=" + file},
			"setup", "stats=zero", "at-exit").stderr
		want := "granary: cannot write the usage report to " + file + ": " + why + "\n"
		if stderr != want {
			t.Errorf("stderr %q, want %q", stderr, want)
		}
	}
	long := strings.Repeat("x", 5000)
	stderr := run(t, 0, []string{asText, "GRANARY_REPORT_FILE=" + long}, "setup", "at-exit").stderr
	if !strings.HasPrefix(stderr, "granary: no usage report can be written to xxx") ||
		!strings.HasSuffix(stderr, "xxx: File name too long\n") {
		t.Errorf("stderr %q", stderr)
	}
}

func TestChildAfterForkWritesItsOwnReport(t *testing.T) {
	for _, file := range []string{"", filepath.Join(t.TempDir(), "reports")} {
		result := run(t, 0, []string{asJSON, "GRANARY_REPORT_FILE=" + file},
			"setup", "stats=typical", "fork", "at-exit")
		output := result.stderr
		if file != "" {
			output = readFile(t, file)
		}
		reports := decodeAll(t, output)
		if len(reports) != 2 || reports[0].ParentPID != result.pid || reports[1].PID != result.pid {
			t.Errorf("reports %+v, want those of a child and of %d", reports, result.pid)
		}
	}
}

func TestFailingWritesDoNotKillTheProgram(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read.Close()
	defer write.Close()
	command := exec.Command(harness, "setup", "stats=zero", "write=3,text")
	command.ExtraFiles = []*os.File{write}
	command.Run()
	if got := command.ProcessState.ExitCode(); got != int(syscall.EPIPE) {
		t.Errorf("a pipe that nobody reads: %v, want EPIPE", command.ProcessState)
	}
	file := filepath.Join(t.TempDir(), "file")
	run(t, int(syscall.EFBIG), nil, "limit-file-bytes=100", "open="+file, "stats=zero", "write=3,text")
	run(t, int(syscall.EBADF), nil, "stats=zero", "write=77,json")
}

// nonBlockingPipe returns a pipe of one page, as small as a pipe can be.
func nonBlockingPipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	const setPipeSize = 1031
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, write.Fd(), setPipeSize, 4096); errno != 0 {
		t.Fatal(errno)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}

func TestReportWaitsForTheReaderOfANonBlockingPipe(t *testing.T) {
	read, write := nonBlockingPipe(t)
	command := exec.Command(harness, "nonblock=3", "setup", "stats=huge", "write=3,json")
	command.ExtraFiles = []*os.File{write}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	var got bytes.Buffer
	if _, err := io.Copy(&got, read); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Fatal(err)
	}
	decode(t, got.String())
}

func TestReportGivesUpOnAPipeThatStaysFull(t *testing.T) {
	_, write := nonBlockingPipe(t)
	command := exec.Command(harness, "nonblock=3", "setup", "stats=huge", "write=3,json")
	command.ExtraFiles = []*os.File{write}
	command.Run()
	if got := command.ProcessState.ExitCode(); got != int(syscall.EAGAIN) {
		t.Errorf("ended with %v, want EAGAIN", command.ProcessState)
	}
}
