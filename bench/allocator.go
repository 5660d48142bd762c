package bench

// The allocators and where Debian puts them.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Granary and Glibc are the names with a meaning of their own; the others are peers.
const (
	Granary = "granary"
	Glibc   = "glibc"
	// Baseline is the peer that ratios are taken to.
	Baseline = "mimalloc"
)

// Allocator is a malloc to measure.
type Allocator struct {
	Name    string
	Library string // absolute path to preload
	Version string
}

// allocatorKind is what is known of an allocator before the machine is looked at.
type allocatorKind struct {
	name       string
	debPackage string
	sonames    []string
}

var allocatorKinds = []allocatorKind{
	// Preloaded as well, which changes nothing for most programs: but Debian's redis-server is
	// linked with jemalloc, and only with libc in front of it does it run on glibc's malloc.
	{name: Glibc, debPackage: "libc6", sonames: []string{"libc.so.6"}},
	{name: "jemalloc", debPackage: "libjemalloc2", sonames: []string{"libjemalloc.so.2"}},
	{
		name: "tcmalloc", debPackage: "libtcmalloc-minimal4",
		sonames: []string{"libtcmalloc_minimal.so.4"},
	},
	{
		name: Baseline, debPackage: "libmimalloc2.0",
		sonames: []string{"libmimalloc.so.2.0", "libmimalloc.so.2"},
	},
	{name: Granary},
}

// AllocatorNames lists every allocator in the order in which they run.
func AllocatorNames() []string {
	names := make([]string, 0, len(allocatorKinds))
	for _, kind := range allocatorKinds {
		names = append(names, kind.name)
	}
	return names
}

// Places is where libraries are looked for. The zero value finds nothing; see SystemPlaces.
type Places struct {
	Directories []string // looked through first
	LoaderCache string   // the output of ldconfig -p, for libraries elsewhere
	Granary     string   // the path of libgranary.so
}

// SystemPlaces is where a Debian of any architecture keeps libraries.
func SystemPlaces(granaryLibrary string) Places {
	var directories []string
	for _, pattern := range []string{
		"/usr/lib/*-linux-gnu*", "/lib/*-linux-gnu*", "/usr/lib64", "/usr/lib", "/usr/local/lib",
	} {
		found, _ := filepath.Glob(pattern) // the patterns are constants and well formed
		directories = append(directories, found...)
	}
	ldconfig := "/sbin/ldconfig"
	if _, err := os.Stat(ldconfig); err != nil {
		ldconfig = "ldconfig"
	}
	// Without ldconfig the directories remain.
	cache, _ := exec.Command(ldconfig, "-p").Output()
	return Places{Directories: directories, LoaderCache: string(cache), Granary: granaryLibrary}
}

// FindAllocators locates the named allocators. All that is missing is named in one error.
func FindAllocators(names []string, places Places) ([]Allocator, error) {
	var found []Allocator
	var problems []error
	for _, name := range names {
		kind, err := kindOf(name)
		if err != nil {
			return nil, err
		}
		library, err := places.find(kind)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		found = append(found, Allocator{Name: name, Library: library})
	}
	return found, errors.Join(problems...)
}

func kindOf(name string) (allocatorKind, error) {
	for _, kind := range allocatorKinds {
		if kind.name == name {
			return kind, nil
		}
	}
	return allocatorKind{}, fmt.Errorf("there is no allocator %q; known are %s",
		name, strings.Join(AllocatorNames(), ", "))
}

func (places Places) find(kind allocatorKind) (string, error) {
	if kind.name == Granary {
		if _, err := os.Stat(places.Granary); err != nil {
			return "", fmt.Errorf("granary: %s is not there: run make first, "+
				"or leave granary out with --allocators", places.Granary)
		}
		return filepath.Abs(places.Granary)
	}
	for _, soname := range kind.sonames {
		for _, directory := range places.Directories {
			path := filepath.Join(directory, soname)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
		if path := fromLoaderCache(places.LoaderCache, soname); path != "" {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %s was not found: run apt-get install %s, "+
		"or leave %s out with --allocators",
		kind.name, strings.Join(kind.sonames, " or "), kind.debPackage, kind.name)
}

// fromLoaderCache finds a library in lines such as "\tlibx.so.2 (libc6,x86-64) =>
// /usr/lib/libx.so.2".
func fromLoaderCache(cache, soname string) string {
	for line := range strings.Lines(cache) {
		name, path, ok := strings.Cut(line, " => ")
		if ok && strings.HasPrefix(strings.TrimSpace(name), soname+" ") {
			return strings.TrimSpace(path)
		}
	}
	return ""
}

// Probe checks that the loader really puts the allocator into a program, and asks for its version.
// The loader only prints a warning when it cannot, and the benchmark would then measure glibc under
// another name.
func (allocator *Allocator) Probe(ctx context.Context, measurer *Measurer) error {
	allocator.Version = allocator.version()
	outcome, err := measurer.Measure(ctx, allocator.Library, Command{
		Arguments:   []string{"cat", "/proc/self/maps"},
		Environment: []string{"GRANARY_VERBOSE=1"},
	})
	if err != nil {
		return fmt.Errorf("%s: %w", allocator.Name, err)
	}
	real, err := filepath.EvalSymlinks(allocator.Library)
	if err != nil {
		return fmt.Errorf("%s: %w", allocator.Name, err)
	}
	maps, err := os.ReadFile(outcome.OutputFile)
	if err != nil {
		return err
	}
	if outcome.Failure() != "" || !strings.Contains(string(maps), real) {
		return fmt.Errorf("%s: the loader does not preload %s (%s); "+
			"was it built for this machine? %s", allocator.Name, allocator.Library,
			outcome.Failure(), outcome.ErrorText)
	}
	if allocator.Name == Granary {
		allocator.Version = granaryVersion(outcome.ErrorText)
	}
	return nil
}

// version asks Debian's package data; a library that was built by hand has none.
func (allocator *Allocator) version() string {
	kind, err := kindOf(allocator.Name)
	if err != nil {
		return "unknown"
	}
	if kind.debPackage == "" {
		return "unknown"
	}
	output, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", kind.debPackage).Output()
	if err != nil || len(output) == 0 {
		return "unknown"
	}
	return string(output) + " (" + kind.debPackage + ")"
}

// granaryVersion reads the line that GRANARY_VERBOSE=1 prints: "granary: VERSION in pid PID
// (NAME)".
func granaryVersion(text string) string {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) >= 4 && fields[0] == "granary:" && fields[2] == "in" && fields[3] == "pid" {
			return fields[1]
		}
	}
	return "unknown"
}
