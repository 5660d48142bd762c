package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// program is a real one of Debian's that is linked with libgc.so.1. The words of its commands are paths in a folder
// that holds the files of bench/collectors/programs.
type program struct {
	name    string
	prepare [][]string // commands that are run once before
	command []string
	input   func() []byte // of the file input.html, if it is not nil
}

const compileScheme = `(use-modules (system base compile)) (compile-file "%s.scm" #:output-file "%[1]s.compiled")`

func guile(script string) program {
	return program{name: "guile_" + script,
		prepare: [][]string{{"guile", "--no-auto-compile", "-c", fmt.Sprintf(compileScheme, script)}},
		command: []string{"guile", "--no-auto-compile", "-q", "-c", fmt.Sprintf(`(load-compiled "%s.compiled")`, script)}}
}

// inALoop is a command that runs often enough to be measured.
func inALoop(times int, command string) []string {
	return []string{"sh", "-c", fmt.Sprintf("for i in $(seq %d); do %s || exit 1; done", times, command)}
}

var programs = []program{
	guile("gcbench"),
	guile("words"),
	{name: "guile_start", command: inALoop(20, "guile --no-auto-compile -q -c '(display 1)'")},
	{name: "ecl_trees", command: []string{"ecl", "-norc", "-q", "-load", "trees.lisp", "-eval", "(quit)"}},
	{name: "ecl_start", command: inALoop(10, "ecl -norc -q -eval '(princ 1)' -eval '(quit)'")},
	{name: "w3m_dump", command: []string{"w3m", "-dump", "-cols", "100", "input.html"}, input: largePage},
	{name: "neko_trees", prepare: [][]string{{"nekoc", "trees.neko"}}, command: []string{"neko", "trees.n"}},
	{name: "poke_start", command: inALoop(5, "poke -q -c 'printf(\"1\\n\")'")},
	{name: "crystal_trees", prepare: [][]string{{"crystal", "build", "--release", "-o", "trees", "trees.cr"}},
		command: []string{"./trees"}},
	{name: "crystal_compiler", command: []string{"crystal", "build", "--no-codegen", "trees.cr"}},
}

// largePage has a table with links, and paragraphs.
func largePage() []byte {
	var page bytes.Buffer
	page.WriteString("<html><body><table border=1>\n")
	for i := range 20000 {
		fmt.Fprintf(&page, "<tr><td>%d</td><td><a href=\"#%d\">row %x</a></td><td>%s</td></tr>\n", i, i, i*i,
			strings.Repeat("word ", i%7))
	}
	page.WriteString("</table>\n")
	for i := range 20000 {
		fmt.Fprintf(&page, "<p>Paragraph %d %s</p>", i, strings.Repeat("of some length ", i%11))
	}
	return page.Bytes()
}

// preparePrograms fills the folder in which programs run, and returns the names of those that match.
func (o options) preparePrograms() ([]string, error) {
	if err := os.RemoveAll(o.workFolder()); err != nil {
		return nil, err
	}
	if err := os.CopyFS(o.workFolder(), os.DirFS(filepath.Join(o.root, "bench/collectors/programs"))); err != nil {
		return nil, err
	}
	source := filepath.Join(o.root, "bench/collectors/programs/launch.c")
	if err := call("gcc", "-O2", "-Wall", "-Wextra", "-std=gnu11", "-o", o.launcher(), source); err != nil {
		return nil, err
	}
	var names []string
	for _, p := range programs {
		if !o.wanted.MatchString(p.name) {
			continue
		}
		names = append(names, p.name)
		if p.input != nil {
			if err := os.WriteFile(filepath.Join(o.workFolder(), "input.html"), p.input(), 0o644); err != nil {
				return nil, err
			}
		}
		for _, words := range p.prepare {
			if output, err := o.programCommand(words, nil).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, output)
			}
		}
	}
	return names, nil
}

func (o options) workFolder() string { return o.binary("programs") }
func (o options) launcher() string   { return filepath.Join(o.workFolder(), "launch") }

func (o options) programCommand(words, environment []string) *exec.Cmd {
	command := exec.Command(words[0], words[1:]...)
	command.Dir = o.workFolder()
	command.Env = append(os.Environ(), "CRYSTAL_CACHE_DIR="+filepath.Join(o.workFolder(), "cache"))
	command.Env = append(command.Env, environment...)
	return command
}

// executeProgram runs a program once; its checksum is that of what it prints.
func (o options) executeProgram(p program, c collector) (*run, error) {
	settings := append([]string{"LD_PRELOAD=" + c.library}, c.environment...)
	command := o.programCommand(append([]string{o.launcher(), "env"}, append(settings, p.command...)...), nil)
	var errorText bytes.Buffer
	command.Stderr = &errorText
	used, end, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer used.Close()
	command.ExtraFiles = []*os.File{end}
	began := time.Now()
	output, err := command.Output()
	seconds := time.Since(began).Seconds()
	end.Close()
	var cpu, peak float64
	if err == nil {
		_, err = fmt.Fscan(used, &cpu, &peak)
	}
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w\n%s", p.name, c.name, err, errorText.Bytes())
	}
	sum := fnv.New64a()
	sum.Write(output)
	result := &run{workload: p.name, collector: c.name, checksum: fmt.Sprintf("%016x", sum.Sum64())}
	result.figures = map[string]float64{"seconds": seconds, "cpu_seconds": cpu, "peak_rss_kib": peak}
	return result, nil
}
