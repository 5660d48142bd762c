package ctest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// What TestMain prepares for all tests; not changed afterwards.
var (
	moduleRoot string
	library    *Library
	compiler   *Compiler
)

// waitersPerCPU: most of a test's time is waiting for memory to be given back or for a child, so
// more tests than processors run at one time.
const waitersPerCPU = 4

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(mainExit(m))
}

func mainExit(m *testing.M) int {
	setDefault("test.parallel", fmt.Sprint(waitersPerCPU*runtime.NumCPU()))
	var err error
	if moduleRoot, err = ModuleRoot(); err == nil {
		library, err = FindLibrary(moduleRoot)
	}
	if err == nil && !library.Granary {
		setDefault("test.skip", testsOfTheFile)
	}
	out, mkdirErr := os.MkdirTemp("", "granary-ctest-")
	if err == nil {
		err = mkdirErr
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "granary:", err)
		return 1
	}
	defer os.RemoveAll(out)
	// Programs of tests that change their user must still be able to start themselves.
	if err := os.Chmod(out, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, "granary:", err)
		return 1
	}
	compiler = NewCompiler(moduleRoot, out, runtime.NumCPU())
	return m.Run()
}

// testsOfTheFile matches the tests that look at libgranary.so itself: with another allocator under
// test there is nothing for them to look at.
const testsOfTheFile = "^Test(Archive|Code|Exported|FastPaths|Library|PkgConfig|Segments|ThreadData)"

// setDefault sets a flag of package testing that the command line did not set.
func setDefault(name, value string) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if !given {
		_ = flag.Set(name, value)
	}
}

// TestC runs every file of clib/tests as its head says.
func TestC(t *testing.T) {
	files, err := Load(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("clib/tests holds no test files")
	}
	for _, file := range files {
		if !file.Header.Applies(library) {
			continue
		}
		for _, testCase := range file.Expand() {
			name := file.Name
			if testCase.Variant != "" {
				name += "/" + strings.ReplaceAll(testCase.Variant, " ", ",")
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				runCase(t, testCase)
			})
		}
	}
}

func runCase(t *testing.T, testCase *Case) {
	if missing := testCase.Header.Missing(); missing != "" {
		t.Fatalf("the command %s is missing: run `make setup` as root", missing)
	}
	result, err := testCase.Execute(compiler, library, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	faults := Judge(testCase.Header, result)
	for _, fault := range faults {
		t.Error(fault)
	}
	if len(faults) > 0 {
		t.Logf("%s\nstandard output:\n%s\nstandard error:\n%s", testCase.Path,
			shorten(result.Out), shorten(result.Err))
	}
}

// shorten keeps the beginning and the end of a long text.
func shorten(text string) string {
	const keepBytes = 3000
	if len(text) <= 2*keepBytes {
		return text
	}
	return text[:keepBytes] + "\n[...]\n" + text[len(text)-keepBytes:]
}
