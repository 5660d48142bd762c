package bench

// Where the sources are and where the benchmark may write.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Layout names the folders of one checkout.
type Layout struct {
	Source string // the bench folder of the checkout
	Build  string // compiled workloads and the inputs of programs
}

// FindLayout looks for the checkout upward from each of the given folders.
func FindLayout(from ...string) (Layout, error) {
	for _, start := range from {
		directory, err := filepath.Abs(start)
		if err != nil {
			continue
		}
		for {
			source := filepath.Join(directory, "bench")
			if _, err := os.Stat(filepath.Join(source, "workloads", "bench.h")); err == nil {
				build := filepath.Join(directory, "build", "bench")
				return Layout{Source: source, Build: build}, nil
			}
			parent := filepath.Dir(directory)
			if parent == directory {
				break
			}
			directory = parent
		}
	}
	return Layout{}, errors.New("the sources of the benchmark were not found: " +
		"run granary bench inside a checkout of Granary, or as make bench")
}

// GranaryLibrary is where make puts the library that is measured.
func (layout Layout) GranaryLibrary() string {
	return filepath.Join(filepath.Dir(layout.Build), "lib", "libgranary.so")
}

func (layout Layout) binary(name string) string {
	return filepath.Join(layout.Build, name)
}

// Data is where the inputs of the real programs are made.
func (layout Layout) Data() string {
	return filepath.Join(layout.Build, "data")
}

// Programs is where the scripts that the real programs run are.
func (layout Layout) Programs() string {
	return filepath.Join(layout.Source, "programs")
}

// Report is where the report of a complete benchmark goes.
func (layout Layout) Report() string {
	return filepath.Join(layout.Source, "report.md")
}

// Raw is where the rows of a complete benchmark of that day go.
func (layout Layout) Raw(day string) string {
	return filepath.Join(layout.Source, "results", fmt.Sprintf("%s-raw.csv", day))
}
