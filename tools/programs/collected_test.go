// This file runs programs that are written for libgc, bdwgc's library: on Debian's, and on Granary's.

package programs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestGuileRunsOnTheCollector(t *testing.T) {
	guile := need(t, "guile", "guile-3.0")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/collect.scm", "collected/threads.scm")
		for _, script := range []string{"collect", "threads"} {
			// guile 3.0.8 crashes in one of 30 runs of the second script on Debian's libgc, in one of 70 on Granary's.
			s.recordRun(script, command{args: []string{guile, "--no-auto-compile", "collected/" + script + ".scm",
				fmt.Sprint(sizes(3, 12))}, tries: 4})
		}
		s.recordRun("the REPL", command{args: []string{guile, "--no-auto-compile", "-q"},
			stdin: strings.NewReader("(define (f n) (if (= n 0) 1 (* n (f (- n 1)))))\n(f 30)\n(gc)\n(map f (iota 9))\n")})
	})
}

func TestECLRunsOnTheCollector(t *testing.T) {
	ecl := need(t, "ecl", "ecl")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/collect.lisp")
		s.recordRun("the interpreter", command{args: []string{ecl, "-norc", "-q", "-load", "collected/collect.lisp",
			"-eval", fmt.Sprintf("(main %d)", sizes(2, 10)), "-eval", "(quit)"}})
		if fullSize {
			s.run(command{args: []string{ecl, "-norc", "-compile", "collected/collect.lisp"}})
			s.recordRun("the compiled program", command{args: []string{ecl, "-norc", "-q", "-load",
				"collected/collect.fas", "-eval", "(main 20)", "-eval", "(quit)"}})
		}
	})
}

// A page with a large table, nested lists, links, entities and a form.
func largePage(rows int) []byte {
	var page bytes.Buffer
	page.WriteString("<html><head><title>Rows</title></head><body><h1>Rows &amp; columns</h1><table border=1>\n")
	for i := range rows {
		fmt.Fprintf(&page, "<tr><td>%d</td><td><a href=\"#%d\">row %x</a></td><td>%s</td></tr>\n", i, i, i*i,
			strings.Repeat("word ", i%7))
	}
	page.WriteString("</table><ul><li>one<ul><li>two &lt;three&gt;</ul></ul><form><input name=a value=b></form>\n")
	for i := range rows {
		fmt.Fprintf(&page, "<p>Paragraph %d %s</p>", i, strings.Repeat("of some length ", i%11))
	}
	return page.Bytes()
}

func TestW3mRunsOnTheCollector(t *testing.T) {
	w3m := need(t, "w3m", "w3m")
	compareCollector(t, func(s *session) {
		s.write("page.html", largePage(sizes(3000, 20000)))
		s.recordRun("a large page", command{args: []string{w3m, "-dump", "-cols", "100", "page.html"}})
		s.recordRun("its source", command{args: []string{w3m, "-dump_source", "page.html"}})
	})
}

func TestNekoRunsOnTheCollector(t *testing.T) {
	compiler, neko := need(t, "nekoc", "neko"), need(t, "neko", "neko")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/collect.neko")
		s.run(command{args: []string{compiler, "collected/collect.neko"}})
		s.recordRun("a program", command{args: []string{neko, "collected/collect.n", fmt.Sprint(sizes(5, 60))}})
	})
}

func TestPokeRunsOnTheCollector(t *testing.T) {
	poke := need(t, "poke", "poke")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/collect.pk")
		s.write("file.bin", compressibleData(64<<10))
		s.recordRun("a script", command{args: []string{poke, "-q", "-L", "collected/collect.pk"}})
	})
}

func TestStalinRunsOnTheCollector(t *testing.T) {
	stalin := need(t, "stalin", "stalin")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/small.sc")
		s.run(command{args: []string{stalin, "-On", "-c", "collected/small"}})
		s.recordFile("collected/small.c")
	})
}

func TestGooRunsOnTheCollector(t *testing.T) {
	goo := need(t, "goo", "goo")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/words.goo")
		s.recordRun("its REPL", command{args: []string{goo}, stdin: bytes.NewReader(s.read("collected/words.goo"))})
	})
}

func TestParser3RunsOnTheCollector(t *testing.T) {
	parser3 := need(t, "parser3", "parser3-cgi")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/page.html")
		s.recordRun("a page", command{args: []string{parser3, "collected/page.html"}})
	})
}

func TestSmallToolsRunOnTheCollector(t *testing.T) {
	mmv, chase := need(t, "mmv", "mmv"), need(t, "chase", "chase")
	compareCollector(t, func(s *session) {
		for i := range 300 {
			s.write(fmt.Sprintf("many/file%d.txt", i), []byte("x"))
		}
		s.recordRun("mmv", command{args: []string{mmv, "-n", "many/file*.txt", "many/#1.renamed"}})
		s.recordRun("chase", command{args: []string{chase, "many/file7.txt"}})
	})
}

// C++ with libgccpp: operator new makes objects that the collector looks into. With Granary's malloc, which has an
// operator new as well, it would not find them.
func TestFauhdlcRunsOnTheCollector(t *testing.T) {
	fauhdlc := need(t, "fauhdlc", "fauhdlc")
	compareCollectorAlone(t, func(s *session) {
		s.copyTestdata("collected/counter.vhdl")
		s.recordRun("fauhdlc", command{args: []string{fauhdlc, "-o", "counter.code", "-d", "counter.data",
			"collected/counter.vhdl"}})
	})
}

// Crystal's programs run fibers on stacks of their own. The compiler, which uses the collector as well, runs once in
// make test, on the system's.
func TestCrystalRunsOnTheCollector(t *testing.T) {
	crystal := need(t, "crystal", "crystal")
	compile := func(s *session) string {
		s.copyTestdata("collected/collect.cr")
		s.run(command{args: []string{crystal, "build", "--no-color", "-o", s.path("collect"), "collected/collect.cr"},
			env: []string{"CRYSTAL_CACHE_DIR=" + s.path("cache")}})
		return s.path("collect")
	}
	program := ""
	if !fullSize {
		program = compile(newSession(t, tempDir(t), "compiler", ""))
	}
	compareCollector(t, func(s *session) {
		if fullSize {
			program = compile(s)
		}
		s.recordRun("a program", command{args: []string{program, fmt.Sprint(sizes(50, 500))}})
	})
}

// sizes chooses between the size for `make test` and the one for `make test-programs`.
func sizes(quick, full int) int {
	if fullSize {
		return full
	}
	return quick
}
