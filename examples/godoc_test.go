// Package examples has a test: that godoc shows how the functions of the packages are used.
package examples

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// Every exported function of a package, but for those that make options, is called in one of the package's examples.
func TestEveryFunctionIsInAnExample(t *testing.T) {
	for _, name := range []string{"heap", "linear", "managed", "object"} {
		functions, shown := map[string]bool{}, map[string]bool{}
		for path, file := range filesOf(t, filepath.Join("..", name)) {
			for _, declaration := range file.Decls {
				f, ok := declaration.(*ast.FuncDecl)
				switch {
				case !ok || f.Recv != nil:
				case !strings.HasSuffix(path, "_test.go"):
					if f.Name.IsExported() && !makesOption(f) {
						functions[f.Name.Name] = true
					}
				case strings.HasPrefix(f.Name.Name, "Example"):
					addUses(shown, f, name)
				}
			}
		}
		if len(functions) < 3 || len(shown) == 0 {
			t.Errorf("%s: %d functions, %d names in examples", name, len(functions), len(shown))
		}
		for f := range functions {
			if !shown[f] {
				t.Errorf("no example of package %s calls %s", name, f)
			}
		}
	}
}

func filesOf(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, path := range paths {
		if files[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func makesOption(f *ast.FuncDecl) bool {
	if f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	result, ok := f.Type.Results.List[0].Type.(*ast.Ident)
	return ok && result.Name == "Option"
}

// addUses adds the names that a function uses of a package.
func addUses(shown map[string]bool, f *ast.FuncDecl, name string) {
	ast.Inspect(f, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := selector.X.(*ast.Ident); ok && from.Name == name {
				shown[selector.Sel.Name] = true
			}
		}
		return true
	})
}
