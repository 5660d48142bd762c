package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// file is one file of the repository.
type file struct {
	path string // from the root, with slashes
	text string
	ast  *ast.File // of Go files, nil if it cannot be parsed
	set  *token.FileSet
	err  error // of parsing
}

// violation is a place in a file and what is wrong there.
type violation struct {
	path string
	line int
	what string
}

func (v violation) String() string { return fmt.Sprintf("%s:%d: %s", v.path, v.line, v.what) }

// repository is all files, and the folder they lie in.
type repository struct {
	root  string
	files []*file
}

// newFile reads a file from memory.
func newFile(name, text string) *file {
	f := &file{path: name, text: text}
	if f.isGo() {
		f.set = token.NewFileSet()
		f.ast, f.err = parser.ParseFile(f.set, name, text, parser.ParseComments)
	}
	return f
}

func readRepository(root string) (*repository, error) {
	names, err := trackedFiles(root)
	if err != nil {
		return nil, err
	}
	r := &repository{root: root}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, but not committed yet
		}
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, newFile(name, string(text)))
	}
	if len(r.files) == 0 {
		return nil, fmt.Errorf("no files in %s", root)
	}
	return r, nil
}

// trackedFiles asks git, and walks the folder where there is no git or no repository (an unpacked archive).
func trackedFiles(root string) ([]string, error) {
	command := exec.Command("git", "ls-files", "-z")
	command.Dir = root
	if output, err := command.Output(); err == nil {
		return strings.FieldsFunc(string(output), func(r rune) bool { return r == 0 }), nil
	}
	var names []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if entry.IsDir() && (relative == "build" || relative == ".git") {
			return filepath.SkipDir
		}
		if entry.Type().IsRegular() {
			names = append(names, filepath.ToSlash(relative))
		}
		return nil
	})
	return names, err
}

func (f *file) isGo() bool   { return strings.HasSuffix(f.path, ".go") }
func (f *file) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

var cFile = regexp.MustCompile(`\.(c|h|cc|cpp)$`)

func (f *file) isC() bool { return cFile.MatchString(f.path) }

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

func (f *file) isGenerated() bool { return f.isGo() && generated.MatchString(f.text) }

const corePath = "internal/core/"

// isCore reports whether the file is part of the freestanding core. Its tests are not, wherever they lie.
func (f *file) isCore() bool {
	return f.isGo() && strings.HasPrefix(f.path, corePath) && !f.isTest() && !f.isCoreTest()
}

// isCoreTest reports whether the file belongs to the tests that both compilers run.
func (f *file) isCoreTest() bool {
	return f.isGo() && !f.isTest() && strings.HasPrefix(f.path, corePath+"coretest/")
}

// isForGCOnly reports whether gccgo never sees the file.
func (f *file) isForGCOnly() bool { return strings.HasSuffix(f.path, "_gc.go") }

func (f *file) dir() string { return path.Dir(f.path) }

// at makes a violation at a place in a Go file.
func (f *file) at(pos token.Pos, format string, args ...any) violation {
	return violation{f.path, f.set.Position(pos).Line, fmt.Sprintf(format, args...)}
}

// eachLine calls use for each line with its number.
func (f *file) eachLine(use func(number int, line string)) {
	number := 0
	for line := range strings.Lines(f.text) {
		number++
		use(number, strings.TrimRight(line, "\r\n"))
	}
}
