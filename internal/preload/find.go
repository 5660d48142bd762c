package preload

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// defaultPath is searched when PATH is not set, as by the C library.
const defaultPath = "/bin:/usr/bin"

// FindProgram finds the file that the system would execute for name, as execvp does: a name with a
// slash is a file, any other is looked for in the directories of path (the value of PATH, and
// whether it is set). The error is a *Problem.
func FindProgram(name, path string, pathSet bool) (string, error) {
	if strings.Contains(name, "/") {
		if problem := notExecutable(name); problem != nil {
			return "", problem
		}
		return name, nil
	}
	if !pathSet {
		path = defaultPath
	}
	var refused *Problem
	for _, dir := range filepath.SplitList(path) {
		if name == "" {
			break
		}
		if dir == "" {
			dir = "."
		}
		file := dir + "/" + name
		problem := notExecutable(file)
		if problem == nil {
			return file, nil
		}
		// A file that may not be executed is passed over, and told only if there is no other.
		if problem.Status == StatusCannotExecute && refused == nil {
			refused = problem
		}
	}
	if refused != nil {
		return "", refused
	}
	hint := ""
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && name != "" {
		hint = fmt.Sprintf("; for the file in this directory say ./%s", name)
	}
	return "", &Problem{Status: StatusNotFound,
		Text: fmt.Sprintf("%q is not a program in PATH%s", name, hint)}
}

// notExecutable says why a file cannot be executed, or nil.
func notExecutable(file string) *Problem {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		text := fmt.Sprintf("%s does not exist", file)
		if target, err := os.Readlink(file); err == nil {
			text = fmt.Sprintf("%s is a link to %s, which does not exist", file, target)
		}
		return &Problem{Status: StatusNotFound, Text: text}
	case err != nil:
		return &Problem{Status: StatusCannotExecute, Text: reasonOf(file, err)}
	case info.IsDir():
		return &Problem{Status: StatusCannotExecute, Text: file + " is a directory"}
	case !info.Mode().IsRegular():
		return &Problem{Status: StatusCannotExecute, Text: file + " is not a regular file"}
	}
	const executable = 1
	if info.Mode()&0o111 == 0 || syscall.Access(file, executable) != nil {
		text := fmt.Sprintf("%s is not executable", file)
		if info.Mode()&0o111 == 0 {
			text += fmt.Sprintf("; make it so with: chmod +x %s", file)
		} else {
			text += " by you, or is on a file system mounted noexec"
		}
		return &Problem{Status: StatusCannotExecute, Text: text}
	}
	return nil
}

// reasonOf is an error about a file without Go's name of the call.
func reasonOf(file string, err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return fmt.Sprintf("%s: %v", file, err)
}

// LibraryName is the file name of the library.
const LibraryName = "libgranary.so"

// FindLibrary finds the library: the file named by flag or else by the variable GRANARY_LIB if
// either is not empty, or else the first that exists beside the executable or in a system
// directory. The path is absolute.
func FindLibrary(flag, variable, executable string) (string, error) {
	for _, named := range []struct{ by, file string }{
		{"--lib", flag}, {"GRANARY_LIB", variable},
	} {
		if named.file == "" {
			continue
		}
		info, err := os.Stat(named.file)
		if err != nil {
			return "", fmt.Errorf("%s names no library: %s", named.by, reasonOf(named.file, err))
		}
		if info.IsDir() {
			return "", fmt.Errorf("%s names no library: %s is a directory; name the %s in it",
				named.by, named.file, LibraryName)
		}
		return filepath.Abs(named.file)
	}
	return firstLibrary(libraryPlaces(executable))
}

// CollectorDir is the folder of libgc.so.1 that came with a libgranary.so.
func CollectorDir(library string) (string, error) {
	dir := filepath.Join(filepath.Dir(library), "gc")
	file := filepath.Join(dir, "libgc.so.1")
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("--gc: %s was not found\nBuild it with make, or name a %s beside which it is with --lib=PATH",
			file, LibraryName)
	}
	return dir, nil
}

// Needs reports whether an ELF file asks the loader for a library of that name.
func Needs(file, name string) bool {
	object, err := elf.Open(file)
	if err != nil {
		return false
	}
	defer object.Close()
	libraries, err := object.ImportedLibraries()
	return err == nil && slices.Contains(libraries, name)
}

// firstLibrary is the first of the places where there is a file.
func firstLibrary(places []string) (string, error) {
	for _, place := range places {
		if info, err := os.Stat(place); err == nil && info.Mode().IsRegular() {
			return place, nil
		}
	}
	return "", fmt.Errorf("%s was not found; I looked for\n  %s\nBuild it with make, or name it "+
		"with --lib=PATH or GRANARY_LIB=PATH", LibraryName, strings.Join(places, "\n  "))
}

// libraryPlaces lists where the library may be: PREFIX/lib for PREFIX/bin/granary, lib beside
// build/granary, and the system's directories.
func libraryPlaces(executable string) []string {
	var places []string
	add := func(dir string) {
		place := filepath.Join(dir, LibraryName)
		for _, known := range places {
			if known == place {
				return
			}
		}
		places = append(places, place)
	}
	executables := []string{executable}
	if real, err := filepath.EvalSymlinks(executable); err == nil {
		executables = append(executables, real)
	}
	for _, file := range executables {
		dir := filepath.Dir(file)
		add(filepath.Join(dir, "..", "lib"))
		add(filepath.Join(dir, "lib"))
	}
	for _, dir := range []string{"/usr/local/lib", "/usr/lib"} {
		add(dir)
	}
	return places
}
