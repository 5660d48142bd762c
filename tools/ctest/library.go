package ctest

import (
	"fmt"
	"os"
	"path/filepath"
)

// Library is the allocator under test.
type Library struct {
	Preload string // file to preload, "" for the libc alone
	Static  string // libgranary.a
	Dir     string // folder of libgranary.so, for -L and -rpath
	GCDir   string // folder of libgc.so.1, "" for the system's
	Granary bool   // it is Granary and not a peer
}

// ModuleRoot finds the folder that holds go.mod, from the working directory upward.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("no go.mod above the working directory")
		}
		dir = parent
	}
}

// FindLibrary says which allocator the environment asks to test.
func FindLibrary(root string) (*Library, error) {
	build := os.Getenv("GRANARY_BUILD")
	if build == "" {
		build = filepath.Join(root, "build")
	}
	dir := filepath.Join(build, "lib")
	library := &Library{
		Preload: filepath.Join(dir, "libgranary.so"),
		Static:  filepath.Join(dir, "libgranary.a"),
		Dir:     dir,
		GCDir:   filepath.Join(dir, "gc"),
		Granary: true,
	}
	switch other := os.Getenv("GRANARY_CTEST_LIBRARY"); other {
	case "":
	case "glibc":
		library.Preload, library.GCDir, library.Granary = "", "", false
		return library, nil
	default:
		library.Preload, library.Granary = other, false
	}
	if _, err := os.Stat(library.Preload); err != nil {
		return nil, fmt.Errorf("%s is missing: run `make lib` first (%w)", library.Preload, err)
	}
	return library, nil
}
