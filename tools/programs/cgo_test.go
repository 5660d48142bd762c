// This file runs a Go program that is linked with libgc.so.1 by cgo: two collectors and their signals in one process.
// bdwgc ends such a program, as its signals do not reach Go's threads.

package programs

import (
	"os/exec"
	"path/filepath"
	"testing"
)

func TestAGoProgramRunsOnTheCollector(t *testing.T) {
	program := filepath.Join(tempDir(t), "cgo")
	build := exec.Command("go", "build", "-C", "testdata/cgo", "-o", program, ".")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	library := libraryCopy(t)
	for _, preloaded := range []string{"", library} {
		pass(t, tempDir(t), "collector", preloaded, filepath.Join(filepath.Dir(library), "gc"), func(s *session) {
			for _, processors := range []string{"2", "8"} {
				r := s.recordRun("the program", command{args: []string{program}, env: []string{"GOMAXPROCS=" + processors}})
				if string(r.stdout) != goProgramPrints || len(r.stderr) > 0 {
					s.fatalf("it printed\n%s%s", r.stdout, r.stderr)
				}
			}
		})
	}
}

const goProgramPrints = `goroutines: done
threads that end: done
threads of C's: done
timers: true
child processes: true
signals: true
signals of the collector's number: true
faults: true
profiles: true
collections of Go's: true
computing: true
finalizers have run: true
collections took place: true
`
