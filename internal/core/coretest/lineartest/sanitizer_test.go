//go:build gc

package lineartest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"granary/tools/undergccgo"
)

const repository = "../../../.."

// TestLinearUnderGccgo runs the tests as a program of gccgo's.
func TestLinearUnderGccgo(t *testing.T) {
	t.Parallel()
	undergccgo.Run(t, repository, undergccgo.Program{
		Core:  []string{"sys", "space", "heap", "linear"},
		Tests: "coretest/lineartest",
		Main:  "internal/core/coretest/lineartest/testdata/gccgo/main.go",
		Glue: append(slices.Clone(undergccgo.HeapGlue), undergccgo.Source{
			File: "internal/core/coretest/lineartest/testdata/gccgo/linear_doubles.c",
		}),
	}, All())
}

// TestThreadsUnderTheThreadSanitizer builds the core with the sanitizer and runs testdata/hammer.c on it. What the core
// has for the C library alone (process_gccgo.go) is left out: it would need the rest of the library.
func TestThreadsUnderTheThreadSanitizer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		output, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s\n(gcc, gccgo and the sanitizer's library libtsan come with Debian's packages gccgo and gcc)",
				name, strings.Join(args, " "), err, output)
		}
		return string(output)
	}
	var objects []string
	for _, name := range []string{"sys", "space", "linear"} {
		object := filepath.Join(dir, undergccgo.CorePath, name+".o")
		if err := os.MkdirAll(filepath.Dir(object), 0o755); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(repository, "internal/core", name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"-c", "-O1", "-g", "-fsanitize=thread", "-fPIE", "-fno-split-stack", "-fno-exceptions",
			"-fno-go-check-divide-zero", "-fgo-pkgpath=" + undergccgo.CorePath + name, "-I" + dir, "-o", object}
		for _, file := range files {
			if !strings.HasSuffix(file, "_gc.go") && filepath.Base(file) != "process_gccgo.go" {
				args = append(args, file)
			}
		}
		run("gccgo", args...)
		objects = append(objects, object)
	}
	program := filepath.Join(dir, "hammer")
	args := []string{"-O1", "-g", "-fsanitize=thread", "-std=gnu11", "-D_GNU_SOURCE", "-pthread", "-o", program,
		"-I" + filepath.Join(repository, "clib/glue"), "-I" + filepath.Join(repository, "clib/include"),
		"testdata/hammer.c", filepath.Join(repository, "clib/glue/sys.c"), filepath.Join(repository, "clib/glue/runtime.c")}
	run("gcc", append(args, objects...)...)
	for _, more := range [][]string{nil, {"2000"}} {
		if output := run(program, more...); output != "fine\n" {
			t.Errorf("the hammer says %s", output)
		}
	}
}
