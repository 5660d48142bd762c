// This file holds the two passes over a program and the comparison of what they recorded.
// The overview is in doc.go.

package programs

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// searchPath is where programs come from: Debian's own directories, never a version manager's
// shims.
const searchPath = "/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"

// record is one named piece of a result that must be the same in both passes.
type record struct {
	name string
	data []byte
}

// session is one pass over a program. Fields are written by newSession and by the test's body only,
// on the test's own goroutine.
type session struct {
	t       *testing.T
	library string // const: the library to preload; empty in the plain pass
	gcDir   string // const: the folder of the libgc.so.1 to run on; empty for the system's
	dir     string // const: the work directory, at the same path in both passes
	aside   string // const: a directory outside the work directory, one a pass
	records []record
}

// compare runs body without and with Granary and fails the test where the records differ.
func compare(t *testing.T, body func(s *session)) {
	t.Helper()
	library := libraryCopy(t)
	base := tempDir(t)
	plain := pass(t, base, "plain", "", "", body)
	loaded := pass(t, base, "granary", library, "", body)
	compareRecords(t, plain.records, loaded.records)
}

// compareCollector runs body on the system's libgc, on Granary's, and on that with Granary's malloc as well, and fails
// the test where the records differ.
func compareCollector(t *testing.T, body func(s *session)) {
	t.Helper()
	base, plain := compareCollectorAlone(t, body)
	library := libraryCopy(t)
	both := pass(t, base, "both", library, filepath.Join(filepath.Dir(library), "gc"), body)
	compareRecords(t, plain.records, both.records)
}

// compareCollectorAlone does so without Granary's malloc.
func compareCollectorAlone(t *testing.T, body func(s *session)) (base string, plain *session) {
	t.Helper()
	gcDir := filepath.Join(filepath.Dir(libraryCopy(t)), "gc")
	base = tempDir(t)
	plain = pass(t, base, "plain", "", "", body)
	collected := pass(t, base, "collector", "", gcDir, body)
	compareRecords(t, plain.records, collected.records)
	return base, plain
}

// pass calls body once in base/work and moves that directory aside to base/<name>.
func pass(t *testing.T, base, name, library, gcDir string, body func(s *session)) *session {
	t.Helper()
	s := newSession(t, base, name, library)
	s.gcDir = gcDir
	body(s)
	if len(s.records) == 0 {
		t.Fatalf("the %s pass recorded nothing: the test would compare nothing", s.name())
	}
	if err := os.Rename(s.dir, filepath.Join(base, name)); err != nil {
		t.Fatal(err)
	}
	return s
}

func newSession(t *testing.T, base, name, library string) *session {
	t.Helper()
	s := &session{
		t:       t,
		library: library,
		dir:     filepath.Join(base, "work"),
		aside:   filepath.Join(base, name+".aside"),
	}
	for _, dir := range []string{s.dir, filepath.Join(s.dir, "tmp"), s.aside} {
		makeDir(t, dir)
	}
	return s
}

func (s *session) granary() bool { return s.library != "" || s.gcDir != "" }

func (s *session) name() string {
	if s.granary() {
		return "granary"
	}
	return "plain"
}

// fatalf ends the test with a message that says in which pass it happened.
func (s *session) fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s pass: %s", s.name(), fmt.Sprintf(format, args...))
}

// record notes a piece of the result that must be equal in both passes.
func (s *session) record(name string, data []byte) {
	s.records = append(s.records, record{name, bytes.Clone(data)})
}

// recordFile records the SHA-256 and the size of a file of the work directory.
func (s *session) recordFile(path string) {
	s.t.Helper()
	file, err := os.Open(s.path(path))
	if err != nil {
		s.fatalf("%v", err)
	}
	defer file.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		s.fatalf("%v", err)
	}
	if size == 0 {
		s.fatalf("%s is empty: nothing to compare", path)
	}
	s.record("file "+path, fmt.Appendf(nil, "sha256 %x, %d bytes", sum.Sum(nil), size))
}

// path gives the path of a name in the work directory.
func (s *session) path(name string) string { return filepath.Join(s.dir, name) }

// write makes a file in the work directory.
func (s *session) write(name string, data []byte) {
	s.t.Helper()
	makeDir(s.t, filepath.Dir(s.path(name)))
	if err := os.WriteFile(s.path(name), data, 0o644); err != nil {
		s.fatalf("%v", err)
	}
}

// read gives a file of the work directory.
func (s *session) read(name string) []byte {
	s.t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		s.fatalf("%v", err)
	}
	return data
}

// copyTestdata copies files of testdata into the work directory and gives their names there.
func (s *session) copyTestdata(names ...string) []string {
	s.t.Helper()
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			s.fatalf("%v", err)
		}
		s.write(name, data)
	}
	return names
}

// compareRecords fails the test for every record that differs.
func compareRecords(t *testing.T, plain, loaded []record) {
	t.Helper()
	if len(plain) != len(loaded) {
		t.Errorf("%d records without Granary, %d with it", len(plain), len(loaded))
	}
	for i := range min(len(plain), len(loaded)) {
		p, l := plain[i], loaded[i]
		if p.name != l.name {
			t.Fatalf("record %d is %q without Granary and %q with it", i, p.name, l.name)
		}
		if !bytes.Equal(p.data, l.data) {
			t.Errorf("%s differs:\n%s", p.name, firstDifference(p.data, l.data))
		}
	}
}

// firstDifference shows the first line that differs, with the lines before it.
func firstDifference(plain, loaded []byte) string {
	p, l := bytes.Split(plain, []byte("\n")), bytes.Split(loaded, []byte("\n"))
	at := 0
	for at < len(p) && at < len(l) && bytes.Equal(p[at], l[at]) {
		at++
	}
	from := max(0, at-2)
	return fmt.Sprintf("at line %d\nwithout Granary:\n%s\nwith Granary:\n%s",
		at+1, excerpt(p, from, at), excerpt(l, from, at))
}

func excerpt(lines [][]byte, from, at int) string {
	var out bytes.Buffer
	for i := from; i < min(at+4, len(lines)); i++ {
		fmt.Fprintf(&out, "  %.300q\n", lines[i])
	}
	if from >= len(lines) {
		out.WriteString("  (the end)\n")
	}
	return out.String()
}

// need fails the test unless the program is on the search path; it gives the program's path.
func need(t *testing.T, program, debianPackage string) string {
	t.Helper()
	for _, dir := range filepath.SplitList(searchPath) {
		path := filepath.Join(dir, program)
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Fatalf("%s is missing; install it with: apt-get install --no-install-recommends %s",
		program, debianPackage)
	return ""
}

// buildDir is where the build put its results.
func buildDir() string {
	if dir := os.Getenv("GRANARY_BUILD"); dir != "" {
		return dir
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", "build"))
	if err != nil {
		panic(err)
	}
	return dir
}

// sharedCopy is the one copy of the library that a run of the tests uses.
var sharedCopy struct {
	once sync.Once
	dir  string
	path string
	err  error
}

// libraryCopy gives the path of a copy of libgranary.so. A copy, because servers that run under
// another user must be able to read it wherever the sources lie, and because a build that goes
// on at the same time must not pull the library away under a running program.
func libraryCopy(t *testing.T) string {
	t.Helper()
	c := &sharedCopy
	c.once.Do(func() {
		var data []byte
		if data, c.err = os.ReadFile(filepath.Join(buildDir(), "lib", "libgranary.so")); c.err != nil {
			return
		}
		if c.dir, c.err = os.MkdirTemp("", "granary-lib-"); c.err != nil {
			return
		}
		if c.err = os.Chmod(c.dir, 0o755); c.err != nil {
			return
		}
		c.path = filepath.Join(c.dir, "libgranary.so")
		if c.err = os.WriteFile(c.path, data, 0o755); c.err != nil {
			return
		}
		c.err = copyCollector(c.dir)
	})
	if c.err != nil {
		t.Fatalf("no library to test: %v; run make first, or set GRANARY_BUILD", c.err)
	}
	return c.path
}

// copyCollector copies libgc.so.1 into a folder of dir.
func copyCollector(dir string) error {
	data, err := os.ReadFile(filepath.Join(buildDir(), "lib", "gc", "libgc.so.1"))
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "gc"), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "gc", "libgc.so.1"), data, 0o755)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if sharedCopy.dir != "" {
		os.RemoveAll(sharedCopy.dir)
	}
	os.Exit(code)
}

// tempDir makes a directory that other users may enter, with a name short enough for the path of a
// Unix socket in it (108 bytes); testing's own TempDir is neither.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "granary-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("a program still writes into its work directory: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func makeDir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}
