package ctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// compatibilityRows is how many ways of breaking programs docs/compatibility.md lists.
const compatibilityRows = 48

var (
	rowStart   = regexp.MustCompile(`^\| (\d+) \|`)
	codeWord   = regexp.MustCompile("`([^`]+)`")
	goTestName = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// compatibilityTable returns the names in the last column of each row.
func compatibilityTable(t *testing.T) map[int][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "docs", "compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	table := make(map[int][]string)
	for line := range strings.Lines(string(text)) {
		match := rowStart.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		number, _ := strconv.Atoi(match[1])
		if _, twice := table[number]; twice {
			t.Errorf("row %d is there twice", number)
		}
		columns := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		last := columns[len(columns)-1]
		table[number] = []string{}
		for _, word := range codeWord.FindAllStringSubmatch(last, -1) {
			table[number] = append(table[number], word[1])
		}
		if len(table[number]) == 0 && !strings.Contains(line, "cannot apply") {
			t.Errorf("row %d names no test and does not say why it cannot apply", number)
		}
	}
	return table
}

// goTests returns the names of the Go tests of this package.
func goTests(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range goTestName.FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	return names
}

func TestCompatibilityTableNamesTheTests(t *testing.T) {
	table := compatibilityTable(t)
	for number := 1; number <= compatibilityRows; number++ {
		if _, found := table[number]; !found {
			t.Errorf("docs/compatibility.md has no row %d", number)
		}
	}
	if len(table) != compatibilityRows {
		t.Errorf("docs/compatibility.md has %d rows, not %d", len(table), compatibilityRows)
	}
	files, err := Load(moduleRoot)
	if err != nil {
		t.Fatal(err)
	}
	var claimed []string // "7 dlopen/deepbind", from the heads of the files
	for _, file := range files {
		for _, number := range file.Header.Covers {
			claimed = append(claimed, fmt.Sprint(number, " ", file.Name))
			if !slices.Contains(table[number], file.Name) {
				t.Errorf("%s covers %d, and the row does not name it", file.Name, number)
			}
		}
	}
	tests := goTests(t)
	for number, names := range table {
		for _, name := range names {
			known := slices.Contains(claimed, fmt.Sprint(number, " ", name)) ||
				slices.Contains(tests, name)
			if !known {
				t.Errorf("row %d names %s, which is no test or does not cover it", number, name)
			}
		}
	}
}
