//go:build gc

package coretest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gccgoFlags are the library's, but for link-time optimisation, which would only make this slower.
// TestGccgoFlagsAreTheLibrarys compares them with clib/build.mk.
var gccgoFlags = []string{
	"-O3", "-fno-tree-slp-vectorize", "-fno-semantic-interposition", "-fPIC", "-g", "-fno-split-stack",
	"-fno-go-check-divide-zero", "-fno-go-check-divide-overflow", "-fno-exceptions", "-fno-non-call-exceptions",
}

const (
	repository = "../../.."
	corePath   = "granary/internal/core/"
)

// TestCoreUnderGccgo builds the core and its tests with gccgo, as an ordinary program of gccgo's with the Go runtime
// for the tests, and runs it.
func TestCoreUnderGccgo(t *testing.T) {
	t.Parallel()
	for _, tool := range [][2]string{{"gccgo", "gccgo"}, {"gcc", "gcc"}} {
		if _, err := exec.LookPath(tool[0]); err != nil {
			t.Fatalf("%s is needed to build the core: install Debian's package %s (make setup does)", tool[0], tool[1])
		}
	}
	program := buildUnderGccgo(t)
	command := exec.Command(program)
	output, err := command.CombinedOutput()
	for _, test := range All() {
		if !bytes.Contains(output, []byte("\nok "+test.Name+"\n")) && !bytes.HasPrefix(output, []byte("ok "+test.Name+"\n")) {
			t.Errorf("not ok under gccgo: %s", test.Name)
		}
	}
	if err != nil || t.Failed() {
		t.Errorf("%v\n%s", err, output)
	}
}

func buildUnderGccgo(t *testing.T) string {
	dir := t.TempDir()
	var objects []string
	for _, name := range []string{"sys", "space", "heap", "coretest"} {
		object := filepath.Join(dir, corePath, name+".o")
		if err := os.MkdirAll(filepath.Dir(object), 0o755); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-c", "-fgo-pkgpath=" + corePath + name, "-I" + dir, "-o", object}, gccgoFlags...)
		if name == "coretest" {
			// The tests are no part of the library; -O1 is what checks the core's code soonest.
			args = []string{"-c", "-O1", "-g", "-fgo-pkgpath=" + corePath + name, "-I" + dir, "-o", object}
		}
		mustRun(t, "gccgo", append(args, gccgoSources(t, filepath.Join("..", name))...)...)
		objects = append(objects, object)
	}
	glue := filepath.Join(repository, "clib/glue")
	for _, c := range []struct {
		source  string
		renamed []string
	}{
		{filepath.Join(glue, "sys.c"), []string{"sys_reserve", "sys_commit", "sys_decommit"}},
		{filepath.Join(glue, "system.c"), []string{"system_malloc", "system_calloc", "system_realloc", "system_aligned"}},
		{"testdata/gccgo/doubles.c", nil},
	} {
		object := filepath.Join(dir, filepath.Base(c.source)+".o")
		args := []string{"-c", "-O2", "-g", "-std=gnu11", "-Wall", "-Werror", "-D_GNU_SOURCE", "-I" + glue,
			"-I" + filepath.Join(repository, "clib/include"), "-o", object}
		for _, name := range c.renamed {
			args = append(args, "-Dgranary_"+name+"=real_"+name)
		}
		touch(t, c.source)
		mustRun(t, "gcc", append(args, c.source)...)
		objects = append(objects, object)
	}
	touch(t, "testdata/gccgo/main.go")
	program := filepath.Join(dir, "coretest")
	mustRun(t, "gccgo", append([]string{"-O1", "-g", "-I" + dir, "-o", program, "testdata/gccgo/main.go"}, objects...)...)
	return program
}

// gccgoSources are the files of a package that gccgo compiles. Called directly it does not read build constraints:
// files for the other compiler end in _gc.go.
func gccgoSources(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no Go files in %s: %v", dir, err)
	}
	var sources []string
	for _, file := range all {
		if !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, "_gc.go") {
			touch(t, file)
			sources = append(sources, file)
		}
	}
	return sources
}

// touch reads a file that only a child process uses, so that go test knows that the result depends on it.
func touch(t *testing.T, file string) {
	t.Helper()
	if _, err := os.ReadFile(file); err != nil {
		t.Fatal(err)
	}
}

func mustRun(t *testing.T, name string, args ...string) {
	t.Helper()
	output, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, output)
	}
}

func TestGccgoFlagsAreTheLibrarys(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(repository, "clib/build.mk"))
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{}
	for _, word := range strings.Fields(string(rules)) {
		words[word] = true
	}
	for _, flag := range gccgoFlags {
		if !words[flag] {
			t.Errorf("%s is not among the flags of clib/build.mk: build the core for the tests as the library's", flag)
		}
	}
	if !words["-flto=auto"] || !words["GCCGO_FLAGS"] {
		t.Errorf("clib/build.mk no longer builds the core as this test expects")
	}
}
