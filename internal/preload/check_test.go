package preload

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// compile compiles a C program (or library) in dir and returns its path.
func compile(t *testing.T, dir, name, source string, flags ...string) string {
	t.Helper()
	output := filepath.Join(dir, name)
	command := exec.Command("gcc", append([]string{"-x", "c", "-", "-o", output}, flags...)...)
	command.Stdin = strings.NewReader(source)
	if message, err := command.CombinedOutput(); err != nil {
		t.Fatalf("gcc %q: %v\n%s", flags, err, message)
	}
	return output
}

func write(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

const (
	emptyMain   = "int main(void) { return 0; }"
	stubLibrary = `const char *granary_version(void) { return "7.7.7"; }`
)

// newChecker returns a checker with a stub of the library, and a directory that is its PATH.
func newChecker(t *testing.T) (*Checker, string) {
	t.Helper()
	dir := t.TempDir()
	library, err := OpenLibrary(compile(t, t.TempDir(), LibraryName, stubLibrary, "-shared", "-fPIC"))
	if err != nil {
		t.Fatal(err)
	}
	return &Checker{Library: library, Path: dir, PathSet: true}, dir
}

// expectation is what Check should say of a file. The texts are parts of what is said.
type expectation struct {
	file    string
	status  int // of the refusal, 0: none
	refusal string
	format  string
	warning string
}

func (want expectation) test(t *testing.T, checker *Checker) {
	t.Helper()
	verdict := checker.Check(want.file)
	got := Problem{}
	if verdict.Refusal != nil {
		got = *verdict.Refusal
	}
	if got.Status != want.status || !strings.Contains(got.Text, want.refusal) {
		t.Errorf("refused %s with %+v, want %d and %q", want.file, got, want.status, want.refusal)
	}
	format := ""
	if verdict.Format != nil {
		format = verdict.Format.Text
	}
	if (format == "") != (want.format == "") || !strings.Contains(format, want.format) {
		t.Errorf("%s has format problem %q, want %q", want.file, format, want.format)
	}
	warnings := strings.Join(verdict.Warnings, "\n")
	if (warnings == "") != (want.warning == "") || !strings.Contains(warnings, want.warning) {
		t.Errorf("warned of %s with %q, want %q", want.file, warnings, want.warning)
	}
}

func TestProgramsThatCannotBePreloadedAreRefusedWithTheReason(t *testing.T) {
	checker, dir := newChecker(t)
	musl := write(t, filepath.Join(dir, "ld-musl-x86_64.so.1"), "loader", 0o755)
	odd := write(t, filepath.Join(dir, "ld-odd.so.9"), "loader", 0o755)
	compiler, err := exec.Command("go", "tool", "-n", "compile").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []expectation{
		{file: compile(t, dir, "plain", emptyMain)},
		{file: compile(t, dir, "static", emptyMain, "-static"), status: StatusFailed,
			refusal: "is statically linked, so no library can be loaded"},
		{file: compile(t, dir, "static-pie", emptyMain, "-static-pie"), status: StatusFailed,
			refusal: "is statically linked, so no library can be loaded"},
		{file: strings.TrimSpace(string(compiler)), status: StatusFailed,
			refusal: "is a Go program and statically linked"},
		{file: compile(t, dir, "library", "int x;", "-shared", "-Wl,-soname,libx.so"),
			status: StatusCannotExecute, refusal: "is a shared library, not a program"},
		{file: compile(t, dir, "object", emptyMain, "-c"), format: "link it first"},
		{file: compile(t, dir, "musl", emptyMain, "-Wl,--dynamic-linker="+musl),
			status: StatusFailed, refusal: "uses the C library musl"},
		{file: compile(t, dir, "odd", emptyMain, "-Wl,--dynamic-linker="+odd),
			warning: "uses the dynamic loader " + odd},
		{file: compile(t, dir, "homeless", emptyMain, "-Wl,--dynamic-linker=/none/ld-linux.so.2"),
			status: StatusCannotExecute, refusal: "needs the dynamic loader /none/ld-linux.so.2"},
		{file: compile(t, dir, "asan", emptyMain, "-fsanitize=address"), status: StatusFailed,
			refusal: "is built with AddressSanitizer"},
		{file: compile(t, dir, "asan-static", emptyMain, "-fsanitize=address", "-static-libasan"),
			status: StatusFailed, refusal: "is built with a sanitizer"},
		{file: compile(t, dir, "own", "void *malloc(unsigned long n) { return (void *)n; }"+emptyMain,
			"-rdynamic", "-fno-builtin"), warning: "has a malloc of its own"},
		{file: patchMachine(t, compile(t, dir, "arm", emptyMain)), status: StatusFailed,
			refusal: "is a 64-bit ARM program, but " + checker.Library.Path + " is for 64-bit"},
		{file: write(t, filepath.Join(dir, "x86"), header32(), 0o755), status: StatusFailed,
			refusal: "is a 32-bit x86 program"},
		{file: write(t, filepath.Join(dir, "torn"), "\x7fELF\x02\x01\x01", 0o755),
			warning: "cannot read its ELF headers"},
	} {
		test.test(t, checker)
	}
}

// patchMachine makes a program one for 64-bit ARM, as far as its header says.
func patchMachine(t *testing.T, file string) string {
	t.Helper()
	program, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const machineAt, aarch64 = 18, 183
	binary.LittleEndian.PutUint16(program[machineAt:], aarch64)
	return write(t, file, string(program), 0o755)
}

// header32 is the header of a 32-bit x86 program without anything behind it.
func header32() string {
	var header bytes.Buffer
	header.WriteString("\x7fELF\x01\x01\x01")
	header.Write(make([]byte, 9))
	for _, half := range []uint16{2, 3} {
		binary.Write(&header, binary.LittleEndian, half)
	}
	for _, word := range []uint32{1, 0, 0, 0, 0} {
		binary.Write(&header, binary.LittleEndian, word)
	}
	for _, half := range []uint16{52, 32, 0, 40, 0, 0} {
		binary.Write(&header, binary.LittleEndian, half)
	}
	return header.String()
}

func TestScriptsAreFollowedToTheirInterpreter(t *testing.T) {
	checker, dir := newChecker(t)
	plain := compile(t, dir, "plain", emptyMain)
	static := compile(t, dir, "static", emptyMain, "-static")
	script := func(name, first string) string {
		return write(t, filepath.Join(dir, name), first+"\nrest\n", 0o755)
	}
	second := script("second", "#!"+plain)
	noExecute := write(t, filepath.Join(dir, "not-executable"), "", 0o644)
	for _, test := range []expectation{
		{file: script("good", "#!"+plain)},
		{file: script("spaces", "#! \t"+plain+"\t -x  ")},
		{file: script("of-script", "#!"+second)},
		{file: script("of-static", "#!"+static+" -x"), status: StatusFailed,
			refusal: static + " is statically linked"},
		{file: script("windows", "#!"+plain+"\r"), status: StatusCannotExecute,
			refusal: "its first line ends as lines do on Windows"},
		{file: script("gone", "#!/none/python9"), status: StatusCannotExecute,
			refusal: "its interpreter cannot be executed: /none/python9 does not exist"},
		{file: script("refused", "#!"+noExecute), status: StatusCannotExecute,
			refusal: "is not executable; make it so with: chmod +x"},
		{file: script("nothing", "#! "), status: StatusCannotExecute, refusal: "names no interpreter"},
		{file: script("long", "#!/"+strings.Repeat("x", 300)), status: StatusCannotExecute,
			refusal: "is longer than the 256 bytes"},
		{file: script("env", "#!/usr/bin/env plain")},
		{file: script("env-S", "#!/usr/bin/env -S A=b -u C plain -x")},
		{file: script("env-split", "#!/usr/bin/env --split-string=plain -x")},
		{file: script("env-static", "#!/usr/bin/env static"), status: StatusFailed,
			refusal: "/static is statically linked"},
		{file: script("env-gone", "#!/usr/bin/env python9"), status: StatusCannotExecute,
			refusal: `its interpreter cannot be found: "python9" is not a program in PATH; install it`},
		{file: script("env-word", "#!/usr/bin/env plain -x"), status: StatusCannotExecute,
			refusal: "write #!/usr/bin/env -S plain -x"},
		{file: script("env-i", "#!/usr/bin/env -S -i plain"), status: StatusFailed,
			refusal: "which takes LD_PRELOAD and with it Granary away"},
		{file: script("env-quoted", `#!/usr/bin/env -S 'no such thing'`)}, // left to env
		{file: script("text", "echo hello"), format: "granary run -- sh " + dir + "/text"},
		{file: write(t, filepath.Join(dir, "empty"), "", 0o755), format: "is empty"},
		{file: write(t, filepath.Join(dir, "exe"), "MZ\x00", 0o755), format: "is a Windows program"},
		{file: write(t, filepath.Join(dir, "data"), "\x00\x01", 0o755), format: "is neither a program"},
	} {
		test.test(t, checker)
	}
	loop := filepath.Join(dir, "loop")
	write(t, loop, "#!"+loop+"\n", 0o755)
	expectation{file: loop, format: "chain of interpreters is too long"}.test(t, checker)
}

func TestTheLoaderItselfCanBeRun(t *testing.T) {
	checker, dir := newChecker(t)
	program, err := readProgram(compile(t, dir, "plain", emptyMain))
	if err != nil {
		t.Fatal(err)
	}
	expectation{file: program.loader}.test(t, checker)
}

func TestPrivilegeChangesAreToldAsTheKernelDecidesThem(t *testing.T) {
	user := credentials{uid: 1000, euid: 1000, gid: 100, egid: 100}
	root := credentials{}
	with := func(c credentials, change func(*credentials)) credentials {
		change(&c)
		return c
	}
	for _, test := range []struct {
		name string
		who  credentials
		file privileges
		want string
	}{
		{"plain", user, privileges{mode: 0o755}, ""},
		{"setuid", user, privileges{mode: 0o4755}, "is setuid"},
		{"setuid of oneself", user, privileges{mode: 0o4755, owner: 1000}, ""},
		{"setuid root by root", root, privileges{mode: 0o4755}, ""},
		{"setuid other by root", root, privileges{mode: 0o4755, owner: 5}, "is setuid"},
		{"setgid", user, privileges{mode: 0o2755}, "is setgid"},
		{"setgid of one's group", user, privileges{mode: 0o2755, group: 100}, ""},
		{"setgid without execute is a lock", user, privileges{mode: 0o2745}, ""},
		{"capabilities", user, privileges{mode: 0o755, capabilities: true}, "has file capabilities"},
		{"capabilities by root", root, privileges{mode: 0o755, capabilities: true}, ""},
		{"nosuid", with(user, func(c *credentials) { c.noSetuid = true }),
			privileges{mode: 0o6755, capabilities: true}, ""},
		{"no new privileges", with(user, func(c *credentials) { c.noNewPrivileges = true }),
			privileges{mode: 0o6755, capabilities: true}, ""},
		{"already changed", with(user, func(c *credentials) { c.euid = 0 }),
			privileges{mode: 0o755}, "would run under an effective id that is not the real one"},
	} {
		if got := test.who.change(test.file); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestSetuidProgramIsRefused(t *testing.T) {
	checker, dir := newChecker(t)
	file := compile(t, dir, "changing", emptyMain)
	if os.Geteuid() != 0 {
		file = "/usr/bin/su" // of root, on every Debian; only root could make a file of another user
	} else if err := errors.Join(os.Chown(file, 12345, -1), os.Chmod(file, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	_, own, err := privilegesOf(file)
	if err != nil {
		t.Fatal(err)
	}
	want := expectation{file: file, status: StatusFailed,
		refusal: "is setuid, and for such programs the loader ignores LD_PRELOAD"}
	if own.noSetuid || own.noNewPrivileges {
		want = expectation{file: file} // the system gives no privileges here
	}
	want.test(t, checker)
}
