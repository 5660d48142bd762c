package tidy

import (
	"cmp"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"granary/internal/preload"
)

// newFileIn parses a file again into a set that several files share.
func newFileIn(set *token.FileSet, f *file) *ast.File {
	parsed, _ := parser.ParseFile(set, f.path, f.text, parser.ParseComments)
	return parsed
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	var keys []K
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// builtBy reports whether a compiler ("gc" or "gccgo") sees a file of this machine's kind.
func builtBy(f *file, compiler string) bool {
	expression := buildConstraint(f)
	if expression == nil {
		return true
	}
	return expression.Eval(func(tag string) bool {
		return tag == compiler || tag == "linux" || tag == "amd64" || tag == "unix" || strings.HasPrefix(tag, "go1.")
	})
}

func buildConstraint(f *file) constraint.Expr {
	var found constraint.Expr
	f.eachLine(func(_ int, line string) {
		if found == nil && constraint.IsGoBuild(line) {
			found, _ = constraint.Parse(line)
		}
	})
	return found
}

// misnamedForCompiler finds files of the core whose name does not say which compiler sees them: the library's build
// calls gccgo directly, which does not read build constraints, and leaves out what ends in _gc.go.
func misnamedForCompiler(f *file) []violation {
	if !f.isCore() && !f.isCoreTest() || strings.Contains(f.path, "/testdata/") {
		return nil
	}
	switch seen := builtBy(f, "gccgo"); {
	case !seen && !f.isForGCOnly():
		return []violation{{f.path, 1, "is not for gccgo, so its name must end in _gc.go"}}
	case seen && f.isForGCOnly():
		return []violation{{f.path, 1, "ends in _gc.go, so it needs a build constraint that keeps gccgo out"}}
	case seen && !builtBy(f, "gc") && !strings.HasSuffix(f.path, "_gccgo.go"):
		return []violation{{f.path, 1, "is for gccgo alone, so its name must end in _gccgo.go"}}
	}
	return nil
}

// undocumented finds packages without a package comment; one of the core has it in doc.go.
func undocumented(files []*file) []violation {
	documented, seen := map[string]bool{}, map[string]string{}
	for _, f := range files {
		if f.ast == nil || strings.Contains(f.path, "testdata/") || f.isTest() {
			continue
		}
		if seen[f.dir()] == "" {
			seen[f.dir()] = f.path
		}
		if f.ast.Doc == nil || strings.HasPrefix(f.path, corePath) && path.Base(f.path) != "doc.go" {
			continue
		}
		documented[f.dir()] = true
	}
	var found []violation
	for _, dir := range sortedKeys(seen) {
		if documented[dir] {
			continue
		}
		what := "the package has no package comment"
		if strings.HasPrefix(dir, corePath) {
			what = "the package has no doc.go with a package comment"
		}
		found = append(found, violation{seen[dir], 1, what})
	}
	return found
}

// readVariable is how the C library reads a variable of the environment.
var readVariable = regexp.MustCompile(`granary_getenv\("(GRANARY_\w+)"\)`)

// undocumentedOptions compares what the library reads, the table of options, and the documents.
func undocumentedOptions(files []*file, options []preload.Option) []violation {
	documents := ""
	known := map[string]bool{}
	for _, f := range files {
		if f.path == "README.md" || strings.HasPrefix(f.path, "docs/") && strings.HasSuffix(f.path, ".md") {
			documents += f.text
		}
	}
	var found []violation
	for _, option := range options {
		known[option.Env] = true
		if option.Env != "" && !mentions(documents, option.Env) {
			found = append(found, violation{"docs", 1, option.Env + " is in no document"})
		}
		if option.Flag != "" && !mentions(documents, "--"+option.Flag) {
			found = append(found, violation{"docs", 1, "--" + option.Flag + " is in no document"})
		}
	}
	for _, f := range files {
		if !strings.HasPrefix(f.path, "clib/glue/") {
			continue
		}
		f.eachLine(func(number int, line string) {
			for _, name := range readVariable.FindAllStringSubmatch(line, -1) {
				if !known[name[1]] {
					found = append(found, violation{f.path, number, name[1] + " is read but not in the table of options"})
				}
			}
		})
	}
	return found
}

func mentions(text, name string) bool {
	return regexp.MustCompile(`(^|[^\w-])` + regexp.QuoteMeta(name) + `($|[^\w-])`).MatchString(text)
}
