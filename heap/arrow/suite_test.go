//go:build programs

package arrow

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const arrowPath = "github.com/apache/arrow-go/v18/"

// packages are those of arrow-go that allocate, but for the kernels of compute and what needs servers.
var packages = strings.Fields(`arrow arrow/array arrow/arrio arrow/csv arrow/encoded arrow/extensions
	arrow/internal/arrjson arrow/ipc arrow/ipc/cmd/arrow-json-integration-test arrow/memory/... arrow/scalar
	arrow/tensor arrow/util parquet/file parquet/pqarrow`)

// result is what became of a test.
type result struct{ pkg, test, action, output string }

// copyArrow copies arrow-go and puts Granary under its Go allocator, which its tests use everywhere.
func copyArrow(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	from := goCommand(t, ".", "list", "-m", "-f", "{{.Dir}}", strings.TrimSuffix(arrowPath, "/"))
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(from))); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("testdata", "go_allocator.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "arrow", "memory", "go_allocator.go")
	for _, file := range []string{path, filepath.Join(dir, "go.mod"), filepath.Join(dir, "go.sum")} {
		if err := os.Chmod(file, 0o644); err != nil { // the module cache is read-only
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	goCommand(t, dir, "mod", "edit", "-require=granary@v0.0.0", "-require=granary/heap/arrow@v0.0.0",
		"-replace=granary="+filepath.Dir(filepath.Dir(here)), "-replace=granary/heap/arrow="+here)
	return dir
}

func goCommand(t *testing.T, dir string, arguments ...string) string {
	t.Helper()
	command := exec.Command("go", arguments...)
	command.Dir = dir
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, &problems)
	}
	return string(output)
}

// runArrow runs tests of packages in the copy.
func runArrow(t *testing.T, dir string, env []string, flags, packages []string) []result {
	t.Helper()
	arguments := append([]string{"test", "-mod=mod", "-trimpath", "-vet=off", "-short", "-count=1", "-json"}, flags...)
	for _, pkg := range packages {
		arguments = append(arguments, "./"+pkg)
	}
	command := exec.Command("go", arguments...)
	command.Dir = dir
	command.Env = append(os.Environ(), env...)
	var problems bytes.Buffer
	command.Stderr = &problems
	output, _ := command.Output() // it is an error as well if a test fails
	var results []result
	texts := map[string]string{}
	decoder := json.NewDecoder(bytes.NewReader(output))
	for decoder.More() {
		var event struct{ Action, Package, Test, Output string }
		if err := decoder.Decode(&event); err != nil {
			t.Fatalf("go test -json: %v\n%s", err, &problems)
		}
		key := event.Package + " " + event.Test
		switch event.Action {
		case "output":
			texts[key] += event.Output
		case "pass", "fail", "skip", "build-fail":
			pkg := strings.TrimPrefix(event.Package, arrowPath)
			results = append(results, result{pkg, event.Test, event.Action, texts[key]})
		}
	}
	if len(results) == 0 {
		t.Fatalf("no test ran:\n%s", &problems)
	}
	return results
}

// knownFail is a line of testdata/known_fail.txt.
type knownFail struct {
	pkg    string
	test   *regexp.Regexp
	reason string // "freed" or "data"
	seen   bool
}

func (r *result) isOf(k *knownFail) bool { return r.pkg == k.pkg }

func readKnownFails(t *testing.T) []*knownFail {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "known_fail.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var fails []*knownFail
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		if len(fields) != 3 || fields[0] != "freed" && fields[0] != "data" {
			t.Fatalf("known_fail.txt: %q", line)
		}
		test, err := regexp.Compile("^(" + fields[2] + ")$")
		if err != nil {
			t.Fatal(err)
		}
		fails = append(fails, &knownFail{pkg: fields[1], test: test, reason: fields[0]})
	}
	return fails
}

// TestArrowsOwnTestsPass but for those that are known to read memory which they gave back, and those that want files
// which the module does not bring. The first kind must fail, and pass when nothing is really freed: that is the
// evidence.
func TestArrowsOwnTestsPass(t *testing.T) {
	dir := copyArrow(t)
	known := readKnownFails(t)
	var leftOut, freed []string
	for _, k := range known {
		if k.reason == "data" {
			leftOut = append(leftOut, k.test.String())
		} else {
			freed = append(freed, k.pkg)
		}
	}
	flags := []string{"-skip", strings.Join(leftOut, "|")}
	passed := 0
	for _, r := range runArrow(t, dir, nil, flags, packages) {
		switch {
		case r.action == "pass" && r.test != "" && !strings.Contains(r.test, "/"):
			passed++
		case r.action == "build-fail":
			t.Errorf("%s does not build", r.pkg)
		case r.action == "fail" && r.test == "" && !slices.Contains(freed, r.pkg):
			t.Errorf("%s failed:\n%s", r.pkg, r.output)
		case r.action == "fail" && r.test != "" && !isKnown(known, r):
			t.Errorf("%s %s failed:\n%s", r.pkg, r.test, r.output)
		}
	}
	t.Logf("%d tests passed", passed)
	if passed < 1000 {
		t.Errorf("only %d tests passed", passed)
	}
	for _, k := range known {
		if k.reason == "freed" && !k.seen {
			t.Errorf("%s %s did not fail: it is no longer known to", k.pkg, k.test)
		}
	}
	for _, r := range runArrow(t, dir, []string{"GRANARY_KEEP_FREED=1"}, flags, freed) {
		if r.action == "fail" {
			t.Errorf("%s %s fails although nothing is freed:\n%s", r.pkg, r.test, r.output)
		}
	}
}

func isKnown(known []*knownFail, r result) bool {
	for _, k := range known {
		if k.reason == "freed" && k.pkg == r.pkg && k.test.MatchString(r.test) {
			k.seen = true
			return true
		}
	}
	return false
}
