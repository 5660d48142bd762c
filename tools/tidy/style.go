package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	mostFunctionLines = 70
	mostFileLines     = 600
	mostCharacters    = 120
)

// notFormatted finds Go files that gofmt would change.
func notFormatted(f *file) []violation {
	if !f.isGo() {
		return nil
	}
	if f.err != nil {
		return []violation{{f.path, 1, "cannot be parsed: " + f.err.Error()}}
	}
	formatted, err := format.Source([]byte(f.text))
	if err != nil || !bytes.Equal(formatted, []byte(f.text)) {
		return []violation{{f.path, 1, "gofmt would change it"}}
	}
	return nil
}

// tooLong finds files that are too long. Tests and tables may be: nobody has to keep all of them in mind.
func tooLong(f *file) []violation {
	if !f.isGo() && !f.isC() || f.isTest() || f.isGenerated() {
		return nil
	}
	if lines := strings.Count(f.text, "\n"); lines > mostFileLines {
		return []violation{{f.path, lines, fmt.Sprintf("has %d lines, more than %d: split it", lines, mostFileLines)}}
	}
	return nil
}

// longFunctions finds functions that are too long.
func longFunctions(f *file) []violation {
	if f.isC() {
		return longCFunctions(f)
	}
	if f.ast == nil || f.isTest() || f.isGenerated() {
		return nil
	}
	var found []violation
	for _, declaration := range f.ast.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		lines := f.set.Position(function.End()).Line - f.set.Position(function.Pos()).Line + 1
		if lines > mostFunctionLines {
			found = append(found, f.at(function.Pos(), "%s has %d lines, more than %d", function.Name.Name, lines,
				mostFunctionLines))
		}
	}
	return found
}

// longCFunctions relies on the C code's layout: the braces of a function stand alone at the beginning of a line.
func longCFunctions(f *file) []violation {
	var found []violation
	start := 0
	f.eachLine(func(number int, line string) {
		switch {
		case line == "{":
			start = number
		case line == "}" && start != 0:
			if lines := number - start + 2; lines > mostFunctionLines {
				found = append(found, violation{f.path, start, fmt.Sprintf("a function has %d lines, more than %d", lines,
					mostFunctionLines)})
			}
			start = 0
		}
	})
	return found
}

var code = regexp.MustCompile(`\.(go|c|h|cc|cpp|sh|py|mk)$|(^|/)Makefile$`)

// directive is a line in the head of a C test (package ctest), which cannot be broken.
var directive = regexp.MustCompile(`^(//|#) [a-z-]+: `)

// wideLines finds lines that are too wide. Tables in generated files may be wider.
func wideLines(f *file) []violation {
	if !code.MatchString(f.path) || f.isGenerated() {
		return nil
	}
	var found []violation
	f.eachLine(func(number int, line string) {
		if strings.HasPrefix(f.path, "clib/tests/") && directive.MatchString(line) {
			return
		}
		if width := utf8.RuneCountInString(line); width > mostCharacters {
			found = append(found, violation{f.path, number, fmt.Sprintf("has %d characters, more than %d", width,
				mostCharacters)})
		}
	})
	return found
}

// The words are put together here so that this file does not contain them.
var (
	unfinished  = regexp.MustCompile(`\b(` + "TO" + `DO|` + "FIX" + `ME|` + "X" + `XX)\b`)
	skipping    = regexp.MustCompile(`\b[tb]\.` + "Skip" + `(f|Now)?\(`)
	foreignWord = regexp.MustCompile(`(?i)(^|[^\w./-])/` + "work" + `/|\bissue` + ` #\d|\bsub-?` + `agents?\b|\bhelper` +
		` agents?\b|co-authored` + `-by|\bproxy\.golang\.` + `org\b|\bregistry\.npm` + `js\b`)
	temporaryPath = regexp.MustCompile(`(^|[^\w./-])/tmp/`)
)

// notes finds what somebody meant to come back to.
func notes(f *file) []violation {
	if isForeign(f) {
		return nil
	}
	return match(f, unfinished, "is unfinished: do it, or say in words what is missing and why")
}

// skips finds tests that may do without testing. Whether a test is built at all is said by a build tag.
func skips(f *file) []violation {
	if !f.isGo() {
		return nil
	}
	return match(f, skipping, "a test must fail and name what is missing, not skip")
}

// foreignWords finds what belongs to how the project is made and not to the project.
func foreignWords(f *file) []violation {
	if isForeign(f) {
		return nil
	}
	found := match(f, foreignWord, "speaks of something outside of the project")
	if strings.HasSuffix(f.path, ".md") {
		found = append(found, match(f, temporaryPath, "names a temporary path of some machine")...)
	}
	return found
}

// isForeign reports whether somebody else wrote the file.
func isForeign(f *file) bool {
	return strings.HasPrefix(f.path, "report/assets/chart-") || strings.HasSuffix(f.path, ".sum")
}

func match(f *file, pattern *regexp.Regexp, what string) []violation {
	if !utf8.ValidString(f.text) {
		return nil
	}
	var found []violation
	f.eachLine(func(number int, line string) {
		if word := pattern.FindString(line); word != "" {
			found = append(found, violation{f.path, number, fmt.Sprintf("%q %s", strings.TrimSpace(word), what)})
		}
	})
	return found
}
