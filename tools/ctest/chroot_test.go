package ctest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// In a folder that a process has made its root, and that lacks libgcc's unwinder, debug mode still finds misuse, and
// says why it shows no stacks.
func TestDebugModeWithoutUnwinder(t *testing.T) {
	openLibrary(t)
	file := filepath.Join(moduleRoot, "clib", "tests", "misuse", "double_free.c")
	program, err := compiler.Program(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	copyInto(t, root, "/program", program)
	copyInto(t, root, "/libgranary.so", library.Preload)
	for _, file := range loadedFiles(t, program) {
		copyInto(t, root, file, file)
	}
	cmd := exec.Command("/program")
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Geteuid() != 0 { // root of a namespace of its own may change it, too
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	cmd.Dir = "/"
	cmd.Env = []string{"LD_PRELOAD=/libgranary.so", "GRANARY_DEBUG_ALLOC=1"}
	output, err := cmd.CombinedOutput()
	for _, want := range []string{
		"granary: no stacks can be shown: libgcc_s.so.1: cannot open shared object file",
		"block was already freed",
	} {
		if !strings.Contains(string(output), want) {
			t.Errorf("expected %q in what the program wrote (%v):\n%s", want, err, output)
		}
	}
}

// loadedFiles are the libraries of a program, and its loader.
func loadedFiles(t *testing.T, program string) (files []string) {
	t.Helper()
	output, err := exec.Command("ldd", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(output)) {
		if filepath.IsAbs(word) {
			files = append(files, word)
		}
	}
	if len(files) < 2 {
		t.Fatalf("ldd names no libc and loader:\n%s", output)
	}
	return files
}

func copyInto(t *testing.T, root, path, from string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}
