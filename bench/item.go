package bench

// What is run: the workloads, whose sources say what they model, and the real programs.

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"time"
)

// Item is a thing to run on every allocator.
type Item struct {
	Name    string
	Summary string        // the first sentence of what it models
	Source  string        // the file of a workload; empty for a program
	Program *Program      // nil for a workload
	Limit   time.Duration // a run that takes longer has failed
}

// IsProgram tells real programs from workloads.
func (item *Item) IsProgram() bool { return item.Program != nil }

// runLimit is far above what any item takes; the slowest ones take some seconds on a slow
// allocator.
const runLimit = 2 * time.Minute

// Items lists the workloads by name and then the programs.
func Items(layout Layout) ([]Item, error) {
	var items []Item
	for _, pattern := range []string{"*.c", "*.cc"} {
		sources, err := filepath.Glob(filepath.Join(layout.Source, "workloads", pattern))
		if err != nil {
			return nil, err
		}
		for _, source := range sources {
			summary, err := sourceSummary(source)
			if err != nil {
				return nil, err
			}
			name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source))
			items = append(items, Item{
				Name: name, Summary: summary, Source: source, Limit: runLimit,
			})
		}
	}
	sort.Slice(items, func(i, j int) bool { return items[i].Name < items[j].Name })
	for _, program := range programs() {
		items = append(items, Item{
			Name: program.Name, Summary: program.Summary, Program: program, Limit: runLimit,
		})
	}
	return items, nil
}

// Select keeps the items whose names match the expression; an empty one keeps all.
func Select(items []Item, only string) ([]Item, error) {
	if only == "" {
		return items, nil
	}
	expression, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("--only: %w", err)
	}
	var selected []Item
	for _, item := range items {
		if expression.MatchString(item.Name) {
			selected = append(selected, item)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("--only %s matches nothing; "+
			"granary bench --list shows the names", only)
	}
	return selected, nil
}

// sourceSummary reads the first paragraph of the comment at the head of a workload, without its
// name. A workload without one is an error: the figure of an unexplained workload means nothing.
func sourceSummary(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	var words []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(line, "/*")
		line = strings.TrimPrefix(line, "//")
		line = strings.TrimSpace(strings.TrimPrefix(line, "*"))
		if line == "" {
			break
		}
		words = append(words, strings.Fields(line)...)
	}
	summary, ok := strings.CutPrefix(strings.Join(words, " "), name+": ")
	if !ok {
		return "", fmt.Errorf("%s must begin with a comment \"%s: what it does\"", path, name)
	}
	return summary, nil
}
