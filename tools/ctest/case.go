package ctest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// File is one test file.
type File struct {
	Path   string // absolute
	Name   string // "abi/alignment": below clib/tests, without the ending
	Header *Header
}

// Case is one run of a file.
type Case struct {
	*File
	Variant string // the environment of an "also" line, "" for the plain run
}

// Load reads the head of every test file below root. Folders named plugins hold parts of
// tests, and folders named testdata belong to Go tests.
func Load(root string) ([]*File, error) {
	tests := filepath.Join(root, "clib", "tests")
	var files []*File
	err := filepath.WalkDir(tests, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "plugins" || entry.Name() == "testdata") {
			return filepath.SkipDir
		}
		suffix := filepath.Ext(path)
		if entry.IsDir() || (suffix != ".c" && suffix != ".cpp" && suffix != ".sh") {
			return nil
		}
		header, err := ParseHeader(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(tests, strings.TrimSuffix(path, suffix))
		if err != nil {
			return err
		}
		files = append(files, &File{path, name, header})
		return nil
	})
	sort.Slice(files, func(i, j int) bool { return files[i].Name < files[j].Name })
	return files, err
}

// Expand returns the runs that the head of the file asks for.
func (f *File) Expand() []*Case {
	cases := []*Case{{File: f}}
	for _, variant := range f.Header.Also {
		cases = append(cases, &Case{File: f, Variant: variant})
	}
	return cases
}

// Applies reports whether the test can say anything here: tests of what only Granary has say nothing
// of other allocators, and tests of what only root may do say nothing to other users.
func (h *Header) Applies(library *Library) bool {
	if h.Only == "granary" && !library.Granary {
		return false
	}
	return os.Getuid() == 0 || !slices.Contains(h.Needs, "root")
}

// Missing names the first command that the test needs and the machine lacks, or is "".
func (h *Header) Missing() string {
	for _, need := range h.Needs {
		if _, err := exec.LookPath(need); need != "root" && err != nil {
			return need
		}
	}
	return ""
}

var placeholder = regexp.MustCompile(`\{[A-Za-z0-9_.-]+\}`)

// expand replaces the names in braces, and complains about those it does not know.
func expand(text string, values map[string]string) (string, error) {
	var unknown string
	result := placeholder.ReplaceAllStringFunc(text, func(name string) string {
		value, known := values[name]
		if !known {
			unknown = name
		}
		return value
	})
	if unknown != "" {
		return "", fmt.Errorf("%s is not a name that a test can use", unknown)
	}
	return result, nil
}

// Execute compiles and runs the case, with dir as its working directory.
func (c *Case) Execute(compiler *Compiler, library *Library, dir string) (*Result, error) {
	values := map[string]string{
		"{lib}":     library.Preload,
		"{libdir}":  library.Dir,
		"{static}":  library.Static,
		"{granary}": "-L" + library.Dir + " -lgranary -Wl,-rpath," + library.Dir,
		"{gcdir}":   library.GCDir,
		"{dir}":     dir,
		"{source}":  filepath.Dir(c.Path),
	}
	for _, plugin := range c.Header.Plugins {
		source := filepath.Join(filepath.Dir(c.Path), "plugins", plugin.Source)
		file, err := compiler.SharedObject(source, plugin.Flags)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(plugin.Source, filepath.Ext(plugin.Source))
		values["{"+name+".so}"] = file
	}
	command, err := c.command(compiler, values)
	if err != nil {
		return nil, err
	}
	env := plainEnvironment()
	if c.Header.Library == "preload" && library.Preload != "" {
		env = append(env, "LD_PRELOAD="+library.Preload)
	}
	if c.Header.Library == "gc" && library.GCDir != "" {
		env = append(env, "LD_LIBRARY_PATH="+library.GCDir)
	}
	settings := append(append([]string{}, c.Header.Env...), strings.Fields(c.Variant)...)
	for _, setting := range settings {
		setting, err := expand(setting, values)
		if err != nil {
			return nil, err
		}
		env = append(env, setting)
	}
	return Run(command, env, dir, c.Header.Timeout)
}

// command compiles the file and returns the words to start.
func (c *Case) command(compiler *Compiler, values map[string]string) ([]string, error) {
	if filepath.Ext(c.Path) == ".sh" {
		words, err := expand(c.Header.Args, values)
		if err != nil {
			return nil, err
		}
		return append([]string{"sh", c.Path}, strings.Fields(words)...), nil
	}
	link, err := expand(c.Header.Link, values)
	if err != nil {
		return nil, err
	}
	libraries := strings.Fields(link)
	if c.Header.Library == "gc" {
		libraries = append(libraries, "-lgc")
	}
	program, err := compiler.Program(c.Path, c.Header.CFlags, libraries)
	if err != nil {
		return nil, err
	}
	values["{exe}"] = program
	if c.Header.Run != "" {
		line, err := expand(c.Header.Run, values)
		return []string{"sh", "-c", line}, err
	}
	words, err := expand(c.Header.Args, values)
	return append([]string{program}, strings.Fields(words)...), err
}
