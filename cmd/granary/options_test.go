package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"granary/internal/preload"
)

var update = flag.Bool("update", false, "write the table of options in docs/run.md anew")

// variables are the GRANARY_ variables that a program gets with the given flags.
func variables(t *testing.T, env []string, flags ...string) []string {
	t.Helper()
	result := invocation{env: env}.granary(t, append(flags, "--", "env")...)
	result.want(t, 0, "")
	var found []string
	for _, line := range strings.Split(result.stdout, "\n") {
		if strings.HasPrefix(line, "GRANARY_") && !strings.HasPrefix(line, "GRANARY_LIB=") &&
			!strings.HasPrefix(line, "GRANARY_BUILD=") {
			found = append(found, line)
		}
	}
	slices.Sort(found)
	return found
}

func TestFlagsSetTheVariables(t *testing.T) {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const text = "GRANARY_REPORT=text"
	for _, test := range []struct {
		flags, env, want []string
	}{
		{nil, nil, []string{text}},
		{[]string{"--report=json"}, nil, []string{"GRANARY_REPORT=json"}},
		{[]string{"--report", "none"}, nil, []string{"GRANARY_REPORT=none"}},
		{[]string{"--report-file=r-%p"}, nil, []string{text, "GRANARY_REPORT_FILE=" + dir + "/r-%p"}},
		{[]string{"--debug"}, nil, []string{"GRANARY_DEBUG_ALLOC=1", text}},
		{[]string{"--stats"}, nil, []string{"GRANARY_DEBUG_ALLOC_STATS=1", text}},
		{[]string{"--trace-release"}, nil, []string{"GRANARY_DEBUG_ALLOC_RELEASE=1", text}},
		{[]string{"--no-release"}, nil, []string{"GRANARY_ALLOC_RELEASE=0", text}},
		{[]string{"--system"}, nil, []string{"GRANARY_ALLOC_SYSTEM=1", text}},
		{[]string{"--limit=64M"}, nil, []string{"GRANARY_ALLOC_LIMIT=67108864", text}},
		{[]string{"--no-children"}, nil, []string{"GRANARY_CHILDREN=0", text}},
		// What the user set stays, unless a flag says otherwise.
		{nil, []string{"GRANARY_REPORT=json", "GRANARY_DEBUG_ALLOC=1"},
			[]string{"GRANARY_DEBUG_ALLOC=1", "GRANARY_REPORT=json"}},
		{[]string{"--report=text", "--debug=false"},
			[]string{"GRANARY_REPORT=json", "GRANARY_DEBUG_ALLOC=1"}, []string{text}},
	} {
		if got := variables(t, test.env, test.flags...); !slices.Equal(got, test.want) {
			t.Errorf("%q with %q: %q, want %q", test.flags, test.env, got, test.want)
		}
	}
	runStub(t, "--verbose", "true").want(t, 0, "granary: 7.7.7 in pid ")
}

func TestHelpListsEveryOption(t *testing.T) {
	help := invocation{}.run(t, command, "run", "--help").stdout
	environment := invocation{}.run(t, command, "help", "environment").stdout
	for _, option := range preload.Options {
		if option.Flag != "" && !regexp.MustCompile(`--`+option.Flag+` .*`+
			regexp.QuoteMeta(option.Help)).MatchString(help) {
			t.Errorf("granary run --help lacks --%s: %s", option.Flag, option.Help)
		}
		if option.Env != "" && !strings.Contains(environment, "  "+option.Env+"="+option.Values()+"\n") {
			t.Errorf("granary help environment lacks %s", option.Env)
		}
	}
	for _, line := range strings.Split(help+environment, "\n") {
		if len(line) > 100 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

// optionTable is the table of docs/run.md.
func optionTable() string {
	var table strings.Builder
	table.WriteString("| flag of `granary run` | variable | effect |\n|---|---|---|\n")
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + strings.ReplaceAll(text, "|", "`, `") + "`"
	}
	for _, option := range preload.Options {
		flag, variable := option.Flag, option.Env
		if flag != "" {
			flag = "--" + flag
			if option.Kind == preload.Size || option.Kind == preload.Path {
				flag += "=" + option.Values()
			} else if option.Kind == preload.Choice {
				flag += "=" + strings.Join(option.Choices, "|")
			}
		}
		if variable != "" {
			variable += "=" + option.Values()
		}
		fmt.Fprintf(&table, "| %s | %s | %s |\n", code(flag), code(variable), option.Help)
	}
	return table.String()
}

func TestDocumentsListEveryOption(t *testing.T) {
	const begin, end = "<!-- options: made by go test ./cmd/granary -update -->\n", "<!-- end -->"
	file := filepath.Join("..", "..", "docs", "run.md")
	document, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(document), begin)
	table, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", file)
	}
	if table != optionTable() && *update {
		text := before + begin + optionTable() + end + after
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if table != optionTable() {
		t.Errorf("the table of %s is out of date: go test ./cmd/granary -update", file)
	}
}

// The variables that the C code reads are those of the table.
func TestLibraryReadsTheVariablesOfTheTable(t *testing.T) {
	sources, err := filepath.Glob(filepath.Join("..", "..", "clib", "glue", "*.c"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no C sources: %v", err)
	}
	var known []string
	for _, option := range preload.Options {
		known = append(known, option.Env)
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`"(GRANARY_[A-Z_]+)"`).FindAllSubmatch(text, -1) {
			if !slices.Contains(known, string(name[1])) {
				t.Errorf("%s reads %s, which is not in the table of options", source, name[1])
			}
		}
	}
}

func TestVersionIsThatOfCommandAndLibrary(t *testing.T) {
	result := invocation{}.run(t, command, "version", "--lib="+stub)
	result.want(t, 0, "")
	if want := "granary " + version + "\nlibrary 7.7.7 " + stub + "\n"; result.stdout != want {
		t.Errorf("stdout %q, want %q", result.stdout, want)
	}
	invocation{}.run(t, command, "version", "--lib=/none.so").want(t, 1, "--lib names no library")
}

func TestCommandLinesThatMakeNoSense(t *testing.T) {
	invocation{}.run(t, command, "python3").want(t, 2,
		"granary: there is no command \"python3\"; to run a program: granary run -- python3\n")
	invocation{}.run(t, command, "version", "--nonsense").want(t, 2, "unknown flag: --nonsense")
	invocation{}.run(t, command, "version", "now").want(t, 2, "See: granary version --help")
	invocation{}.run(t, command, "bench", "pair_64").want(t, 2, "See: granary bench --help")
	invocation{}.run(t, command, "sizes").want(t, 2, "which size?")
	if result := (invocation{}).run(t, command); !strings.Contains(result.stdout, "granary run -- ") {
		t.Errorf("without arguments: %q, want the help", result.stdout)
	}
}
