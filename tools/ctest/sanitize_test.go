package ctest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Tests marked "sanitize" are also built with AddressSanitizer and UndefinedBehaviorSanitizer and
// run with Granary behind the sanitizer's own allocator, in system mode: this proves that the test
// programs do nothing wrong themselves, and that Granary in the process does not disturb the
// sanitizers.
func TestProgramsAreCleanUnderSanitizers(t *testing.T) {
	files, err := Load(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	runtimePath, err := exec.Command("gcc", "-print-file-name=libasan.so").Output()
	if err != nil {
		t.Fatal(err)
	}
	asan := strings.TrimSpace(string(runtimePath))
	if !filepath.IsAbs(asan) {
		t.Fatal("gcc has no AddressSanitizer: install libasan of its version")
	}
	count := 0
	for _, file := range files {
		if !file.Header.Sanitize {
			continue
		}
		count++
		t.Run(file.Name, func(t *testing.T) {
			t.Parallel()
			runSanitized(t, file, asan)
		})
	}
	if count == 0 {
		t.Fatal("no test is marked")
	}
}

func runSanitized(t *testing.T, file *File, asan string) {
	flags := append([]string{"-fsanitize=address,undefined", "-fno-sanitize-recover=all"},
		file.Header.CFlags...)
	program, err := compiler.Program(file.Path, flags, nil)
	if err != nil {
		t.Fatal(err)
	}
	preload := asan
	if library.Preload != "" {
		preload += ":" + library.Preload
	}
	env := append(plainEnvironment(), "LD_PRELOAD="+preload, "GRANARY_ALLOC_SYSTEM=1",
		"ASAN_OPTIONS=allocator_may_return_null=1:detect_leaks=0:alloc_dealloc_mismatch=1")
	result, err := Run([]string{program}, env, t.TempDir(), 2*file.Header.Timeout)
	if err != nil {
		t.Fatal(err)
	}
	if result.TimedOut || result.Exit != 0 {
		t.Errorf("ended with %s\n%s", result.ending(), shorten(result.Err))
	}
}
