// This file runs CPython: its own test suite, and its sqlite3 module.

package programs

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
)

// quickModules take a second or two each.
var quickModules = []string{
	"test_json", "test_gc", "test_ctypes", "test_thread", "test_dict", "test_struct",
	"test_bytes", "test_zlib", "test_memoryview",
}

// moreModules are what `make test-programs` runs beside them. The long ones come first, so that
// the two workers end at about the same time.
var moreModules = []string{
	"test_asyncio", "test_multiprocessing_fork", "test_signal", "test_subprocess",
	"test_threading", "test_selectors", "test_select", "test_io", "test_fork1", "test_queue",
	"test_decimal", "test_weakref", "test_pickle", "test_lzma", "test_bz2", "test_tarfile",
	"test_zipfile", "test_faulthandler", "test_tracemalloc", "test_mmap", "test_buffer",
	"test_array", "test_set", "test_list", "test_tuple", "test_deque", "test_unicode",
	"test_codecs", "test_re", "test_sort", "test_heapq", "test_itertools", "test_functools",
	"test_collections", "test_descr", "test_generators", "test_coroutines", "test_exceptions",
	"test_traceback", "test_ast", "test_compile", "test_marshal", "test_copy", "test_hashlib",
	"test_gzip", "test_xml_etree", "test_xml_etree_c", "test_pyexpat", "test_csv",
	"test_datetime", "test_long", "test_float", "test_math", "test_random", "test_posix",
	"test_atexit", "test_import", "test_threading_local", "test_context", "test_shelve",
}

func TestPythonsOwnTestsPassEqually(t *testing.T) {
	modules := quickModules
	if fullSize {
		modules = append(append([]string{}, moreModules...), quickModules...)
	}
	comparePythonTests(t, modules)
}

// The reports of the workers prove that the library serves them; the driver's own check proves that
// it is loaded.
func TestPythonsWorkersReportOnTheirHeaps(t *testing.T) {
	python := need(t, "python3", "python3")
	compare(t, func(s *session) {
		driver := s.copyTestdata("regrtest.py")[0]
		r := s.run(command{
			args: []string{python, driver, s.libraryOrNone(), "-j2",
				"test_dict", "test_struct", "test_list"},
			env: []string{"GRANARY_REPORT=json",
				"GRANARY_REPORT_FILE=" + filepath.Join(s.aside, "%p")},
			silent: true,
		})
		s.record("the verdicts", moduleVerdicts(r.stdout))
		workers := 0
		for _, path := range s.reports() {
			var report struct {
				Command []string
				Sum     struct{ Mallocs int }
			}
			data, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(data, &report)
			}
			if err != nil {
				s.fatalf("the report %s: %v", path, err)
			}
			if slices.Contains(report.Command, "--worker-args") && report.Sum.Mallocs > 1000 {
				workers++
			}
		}
		if s.granary() != (workers == 3) {
			s.fatalf("%d workers reported that Granary served them, wanted three with it", workers)
		}
	})
}

func (s *session) libraryOrNone() string {
	if s.granary() {
		return s.library
	}
	return "none"
}

// reports gives the report files that processes of this pass wrote beside the work directory.
func (s *session) reports() []string {
	s.t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.aside, "*"))
	if err != nil {
		s.fatalf("%v", err)
	}
	return paths
}

// With PYTHONMALLOC=malloc every object comes from malloc, not only those above 512 bytes.
func TestPythonsOwnTestsPassEquallyWithEveryObjectFromMalloc(t *testing.T) {
	modules := []string{"test_json", "test_dict", "test_thread"}
	if fullSize {
		modules = append(modules, "test_threading", "test_gc", "test_weakref", "test_pickle",
			"test_descr", "test_deque", "test_multiprocessing_fork", "test_io", "test_decimal")
	}
	comparePythonTests(t, modules, "PYTHONMALLOC=malloc")
}

func comparePythonTests(t *testing.T, modules []string, env ...string) {
	python := need(t, "python3", "python3")
	for _, module := range modules {
		found, err := filepath.Glob("/usr/lib/python3*/test/" + module + "*")
		if err != nil || len(found) == 0 {
			t.Fatalf("CPython's tests lack %s; install them with: "+
				"apt-get install --no-install-recommends libpython3.11-testsuite", module)
		}
	}
	compare(t, func(s *session) {
		driver := s.copyTestdata("regrtest.py")[0]
		args := []string{python, driver, s.libraryOrNone(), "-j2", "--timeout", "240",
			"--junit-xml", s.path("results.xml")}
		r := s.run(command{
			args:   append(args, modules...),
			env:    env,
			limit:  12 * time.Minute,
			silent: true,
			exits:  []int{0, 2}, // 2: tests failed, which the comparison below judges
		})
		verdicts, count := pythonVerdicts(s, s.read("results.xml"))
		if count < 20*len(modules) {
			s.fatalf("only %d tests ran in %d modules\n%s", count, len(modules), tail(r.stdout))
		}
		if modulesRun := bytes.Count(moduleVerdicts(r.stdout), []byte("\n")); modulesRun != len(modules) {
			s.fatalf("%d modules have a verdict, wanted %d\n%s", modulesRun, len(modules), tail(r.stdout))
		}
		s.record("the verdicts of CPython's tests", verdicts)
		s.record("the verdicts on its modules", moduleVerdicts(r.stdout))
	})
}

// pythonVerdicts gives a sorted line for each test: passed, skipped (with its reason), failed or in
// error. Sorted, because with two workers the modules end in any order.
func pythonVerdicts(s *session, junit []byte) (verdicts []byte, count int) {
	var suites struct {
		Cases []struct {
			Name    string `xml:"name,attr"`
			Result  string `xml:"result,attr"`
			Skipped *struct {
				Reason string `xml:",chardata"`
			} `xml:"skipped"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
		} `xml:"testsuite>testcase"`
	}
	if err := xml.Unmarshal(junit, &suites); err != nil {
		s.fatalf("the results of CPython's tests: %v", err)
	}
	var lines []string
	for _, c := range suites.Cases {
		verdict := c.Result
		switch {
		case c.Skipped != nil:
			verdict = "skipped: " + c.Skipped.Reason
		case c.Failure != nil:
			verdict = "failed"
		case c.Error != nil:
			verdict = "error"
		}
		lines = append(lines, c.Name+": "+verdict)
	}
	sort.Strings(lines)
	return []byte(strings.Join(lines, "\n")), len(lines)
}

// moduleVerdicts gives the sorted verdicts of lines such as "0:00:01 load avg: 1.02 [2/9]
// test_gc passed". The time, the load and the order are left out as they are never the same
// twice; so is a duration in brackets behind the verdict.
func moduleVerdicts(stdout []byte) []byte {
	var lines []string
	for _, line := range strings.Split(string(stdout), "\n") {
		_, verdict, found := strings.Cut(line, "] test_")
		if !found || !strings.Contains(line, "load avg") {
			continue
		}
		verdict, _, _ = strings.Cut(verdict, " (")
		verdict, _, _ = strings.Cut(verdict, " -- ")
		lines = append(lines, "test_"+verdict+"\n")
	}
	sort.Strings(lines)
	return []byte(strings.Join(lines, ""))
}

func TestPythonsDatabaseModule(t *testing.T) {
	python := need(t, "python3", "python3")
	rows := 30_000
	if fullSize {
		rows = 400_000
	}
	compare(t, func(s *session) {
		script := s.copyTestdata("database.py")[0]
		r := s.recordRun("database.py", command{args: []string{python, script, fmt.Sprint(rows)}})
		if !bytes.Contains(r.stdout, []byte("integrity: ok")) {
			s.fatalf("the script did not reach its end:\n%s", tail(r.stdout))
		}
		s.recordFile("copy.db")
	})
}
