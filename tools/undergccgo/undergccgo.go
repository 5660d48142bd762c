// Package undergccgo runs tests of the core that are written for both of its compilers under gccgo: it builds the
// core's packages, the tests and a main function as an ordinary gccgo program, with the C glue that the core needs, and
// runs it. The tests themselves are of the form that package coretest/kit describes.
package undergccgo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"granary/internal/core/coretest/kit"
)

// Flags are the library's, but for link-time optimisation, which would only make this slower.
var Flags = []string{
	"-O3", "-fno-tree-slp-vectorize", "-fno-semantic-interposition", "-fPIC", "-g", "-fno-split-stack",
	"-fno-go-check-divide-zero", "-fno-go-check-divide-overflow", "-fno-exceptions", "-fno-non-call-exceptions",
}

// CorePath is where the core's packages lie.
const CorePath = "granary/internal/core/"

// Program says what the program is made of. Files are named from the root of the repository.
type Program struct {
	Core  []string // packages below internal/core, each before those that import it
	Tests string   // the package of tests, below internal/core
	Main  string   // a file with package main
	Glue  []Source // C files
}

// Source is one C file and the names in it whose "granary_" is replaced by "real_", so that the tests stand between.
type Source struct {
	File    string
	Renamed []string
}

// SysGlue is what every program of the core needs. faults.c stands between the core and what is renamed.
var SysGlue = []Source{
	{File: "clib/glue/sys.c", Renamed: []string{"sys_reserve", "sys_commit", "sys_decommit"}},
	{File: "internal/core/coretest/testdata/gccgo/faults.c"},
}

// HeapGlue is what those need that have the heap in them.
var HeapGlue = append(slices.Clone(SysGlue),
	Source{File: "clib/glue/system.c",
		Renamed: []string{"system_malloc", "system_calloc", "system_realloc", "system_aligned"}},
	Source{File: "internal/core/coretest/testdata/gccgo/doubles.c"})

// Run builds the program and runs it. Every test of all must be ok.
func Run(t *testing.T, root string, p Program, all []kit.Test) {
	t.Helper()
	for _, tool := range []string{"gccgo", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%s is needed to build the core: install Debian's package %s (make setup does)", tool, tool)
		}
	}
	// A goroutine under gccgo leaves its processor only where it calls into the scheduler, which the core never does. So
	// every goroutine has a processor here, for those that spin until another one gives up a lock; and gccgo's own
	// collector, which would stop that one and wait for the spinning ones, is off.
	program := exec.Command(build(t, root, p))
	program.Env = append(os.Environ(), "GOGC=off", "GOMAXPROCS=64")
	output, err := program.CombinedOutput()
	for _, test := range all {
		line := "ok " + test.Name + "\n"
		if !bytes.Contains(output, []byte("\n"+line)) && !bytes.HasPrefix(output, []byte(line)) {
			t.Errorf("not ok under gccgo: %s", test.Name)
		}
	}
	if err != nil || t.Failed() {
		t.Errorf("%v\n%s", err, output)
	}
}

func build(t *testing.T, root string, p Program) string {
	dir := t.TempDir()
	var objects []string
	compile := func(name string, flags []string) {
		object := filepath.Join(dir, CorePath, name+".o")
		if err := os.MkdirAll(filepath.Dir(object), 0o755); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-c", "-fgo-pkgpath=" + CorePath + name, "-I" + dir, "-o", object}, flags...)
		mustRun(t, "gccgo", append(args, sources(t, filepath.Join(root, "internal/core", name))...)...)
		objects = append(objects, object)
	}
	for _, name := range p.Core {
		compile(name, Flags)
	}
	// The tests are no part of the library; -O1 is what checks the core's code soonest.
	for _, name := range []string{"coretest/kit", p.Tests} {
		compile(name, []string{"-O1", "-g"})
	}
	glue := filepath.Join(root, "clib/glue")
	for _, c := range p.Glue {
		object := filepath.Join(dir, filepath.Base(c.File)+".o")
		args := []string{"-c", "-O2", "-g", "-std=gnu11", "-Wall", "-Werror", "-D_GNU_SOURCE", "-I" + glue,
			"-I" + filepath.Join(root, "clib/include"), "-o", object}
		for _, name := range c.Renamed {
			args = append(args, "-Dgranary_"+name+"=real_"+name)
		}
		file := filepath.Join(root, c.File)
		touch(t, file)
		mustRun(t, "gcc", append(args, file)...)
		objects = append(objects, object)
	}
	main := filepath.Join(root, p.Main)
	touch(t, main)
	program := filepath.Join(dir, "program")
	mustRun(t, "gccgo", append([]string{"-O1", "-g", "-I" + dir, "-o", program, main}, objects...)...)
	return program
}

// sources are the files of a package that gccgo compiles. Called directly it does not read build constraints: files
// for the other compiler end in _gc.go.
func sources(t *testing.T, dir string) []string {
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	var files []string
	for _, file := range all {
		if !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, "_gc.go") {
			touch(t, file)
			files = append(files, file)
		}
	}
	return files
}

// touch reads a file that only a child process uses, so that go test knows that the result depends on it.
func touch(t *testing.T, file string) {
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
}

func mustRun(t *testing.T, name string, args ...string) {
	output, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}
