package ctest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// Compiler compiles test files into one folder, each combination of file and options once.
type Compiler struct {
	Root string // module root
	Out  string // folder for the results

	mutex sync.Mutex
	built map[string]*artifact // by command line; guarded by mutex
	slots chan struct{}        // bounds the compilers that run at one time
}

// artifact is one result. once runs the compiler; file and err are fixed afterwards.
type artifact struct {
	once sync.Once
	file string
	err  error
}

// NewCompiler returns a compiler that runs at most jobs compilers at one time.
func NewCompiler(root, out string, jobs int) *Compiler {
	return &Compiler{
		Root:  root,
		Out:   out,
		built: make(map[string]*artifact),
		slots: make(chan struct{}, jobs),
	}
}

// Program compiles source, with the options before and behind it, and returns the file to start.
func (c *Compiler) Program(source string, options, link []string) (string, error) {
	return c.build(source, ".exe", options, link)
}

// SharedObject compiles source as a plug-in.
func (c *Compiler) SharedObject(source string, options []string) (string, error) {
	return c.build(source, ".so", append([]string{"-shared", "-fPIC"}, options...), nil)
}

// build runs the compiler for one file. -fno-builtin keeps gcc from removing or joining the calls
// under test; the warnings that are off are those about misuse of malloc, which the tests commit on
// purpose.
func (c *Compiler) build(source, suffix string, options, link []string) (string, error) {
	command := []string{"gcc", "-std=gnu11"}
	if strings.HasSuffix(source, ".cpp") {
		command = []string{"g++", "-std=gnu++17"}
	}
	tests := filepath.Join(c.Root, "clib", "tests")
	command = append(command, "-O1", "-g", "-fno-builtin", "-fno-omit-frame-pointer", "-pthread",
		"-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-use-after-free",
		"-Wno-free-nonheap-object", "-Wno-deprecated-declarations",
		"-I"+filepath.Join(c.Root, "clib", "include"), "-I"+tests)
	command = append(command, options...)
	command = append(command, source)
	command = append(command, link...)
	key := strings.Join(command, "\x00") + suffix

	c.mutex.Lock()
	result := c.built[key]
	if result == nil {
		name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
		name = fmt.Sprintf("%s-%d%s", name, len(c.built), suffix)
		result = &artifact{file: filepath.Join(c.Out, name)}
		c.built[key] = result
	}
	c.mutex.Unlock()

	result.once.Do(func() {
		c.slots <- struct{}{}
		defer func() { <-c.slots }()
		command = append(command, "-o", result.file)
		output, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		if err != nil {
			result.err = fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, output)
		}
	})
	return result.file, result.err
}
