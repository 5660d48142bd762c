package tidy

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	coreLanguage = "go1.17"
	coreImport   = "granary/" + corePath
)

// foreignImports finds imports that the core may not have: it has to run without a Go runtime. What files for the
// ordinary compiler import concerns Go programs only, which have one.
func foreignImports(f *file) []violation {
	if !f.isCore() || f.ast == nil {
		return nil
	}
	allowed := map[string]bool{"unsafe": true, "sync/atomic": true, "math/bits": true}
	if f.isForGCOnly() && f.dir() == corePath+"sys" {
		allowed["golang.org/x/sys/unix"] = true
		allowed["golang.org/x/sys/windows"] = true
		allowed["runtime"] = true
	}
	var found []violation
	for _, spec := range f.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil || allowed[name] || strings.HasPrefix(name, coreImport) && name != coreImport+"coretest" {
			continue
		}
		found = append(found, f.at(spec.Pos(), "the core may not import %s", name))
	}
	return found
}

// layers are the packages of the core from the bottom up: each may import those before it.
var layers = []string{"sys", "space", "heap", "linear", "object", "gc", "guard"}

// upwardImports finds imports against the layers' order.
func upwardImports(f *file) []violation {
	if !f.isCore() || f.ast == nil {
		return nil
	}
	own := slices.Index(layers, strings.TrimPrefix(f.dir(), corePath))
	if own < 0 {
		return []violation{{f.path, 1, "belongs to no layer of the core that is known here: see layers in core.go"}}
	}
	var found []violation
	for _, spec := range f.ast.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if of, ok := strings.CutPrefix(name, coreImport); ok && slices.Index(layers, of) >= own {
			found = append(found, f.at(spec.Pos(), "%s may only import layers below it, not %s", layers[own], of))
		}
	}
	return found
}

// atomicFunction is the form of sync/atomic's functions, as opposed to its types.
var atomicFunction = regexp.MustCompile(
	`^(Load|Store|Add|Swap|CompareAndSwap)(Int32|Int64|Uint32|Uint64|Uintptr|Pointer)$`)

// newerLibrary finds parts of the library that came after Go 1.17; checkTypes finds parts of the language.
func newerLibrary(f *file) []violation {
	if !f.isCore() && !f.isCoreTest() || f.ast == nil {
		return nil
	}
	var found []violation
	ast.Inspect(f.ast, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if name, ok := selector.X.(*ast.Ident); ok && name.Name == "atomic" && name.Obj == nil &&
			!atomicFunction.MatchString(selector.Sel.Name) {
			found = append(found, f.at(n.Pos(), "atomic.%s is not a function of Go 1.17's sync/atomic", selector.Sel.Name))
		}
		return true
	})
	return found
}

// forbiddenCalls are built-in functions that need a runtime.
var forbiddenCalls = map[string]bool{
	"panic": true, "recover": true, "make": true, "new": true, "append": true, "print": true, "println": true,
}

// runtimeNeeds finds statements and expressions for which gccgo calls the Go runtime, which the library does not have.
func runtimeNeeds(f *file) []violation {
	if !f.isCore() || f.isForGCOnly() || f.ast == nil {
		return nil
	}
	var found []violation
	report := func(n ast.Node, what string) {
		found = append(found, f.at(n.Pos(), "the core has no runtime for %s", what))
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "a go statement")
		case *ast.DeferStmt:
			report(n, "a defer statement")
		case *ast.SelectStmt:
			report(n, "a select statement")
		case *ast.FuncLit:
			report(n, "a function literal")
		case *ast.MapType:
			report(n, "a map")
		case *ast.ChanType:
			report(n, "a channel")
		case *ast.InterfaceType:
			report(n, "an interface")
		case *ast.ArrayType:
			if n.Len == nil {
				report(n, "a slice")
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && forbiddenCalls[name.Name] && name.Obj == nil {
				report(n, name.Name)
			}
		}
		return true
	})
	return found
}

// corePackage is a package of the core, or the tests of it, as one compiler sees it.
type corePackage struct {
	types *types.Package
	info  *types.Info
	found []violation // newer language
}

// coreChecker type-checks packages of the core from the files at hand.
type coreChecker struct {
	packages map[string]*corePackage // by folder
	files    map[string][]*file
	compiler string
	standard types.Importer
	set      *token.FileSet
}

// newCoreChecker looks at the files as the compiler ("gc" or "gccgo") does.
func newCoreChecker(files []*file, compiler string) *coreChecker {
	set := token.NewFileSet()
	c := &coreChecker{packages: map[string]*corePackage{}, files: map[string][]*file{}, compiler: compiler, set: set,
		standard: importer.ForCompiler(set, "source", nil)}
	for _, f := range files {
		if (f.isCore() || f.isCoreTest()) && f.ast != nil && !strings.Contains(f.path, "/testdata/") &&
			builtBy(f, compiler) {
			c.files[f.dir()] = append(c.files[f.dir()], f)
		}
	}
	return c
}

// Import finds a package for the type checker. One that is not at hand is left out: only what needs a newer language
// is of interest here, and the compilers find all else.
func (c *coreChecker) Import(name string) (*types.Package, error) {
	if dir, ok := strings.CutPrefix(name, "granary/"); ok && len(c.files[dir]) > 0 {
		return c.check(dir).types, nil
	}
	if name == "unsafe" || strings.Contains(strings.Split(name, "/")[0], ".") {
		if name == "unsafe" {
			return types.Unsafe, nil
		}
		return nil, errors.New("not looked at")
	}
	return c.standard.Import(name)
}

var newerLanguage = regexp.MustCompile(`requires go1\.(\d+) or later|type parameters?|predeclared any`)

func (c *coreChecker) check(dir string) *corePackage {
	if p := c.packages[dir]; p != nil {
		return p
	}
	p := &corePackage{info: &types.Info{Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}}
	c.packages[dir] = p
	var parsed []*ast.File
	for _, f := range c.files[dir] {
		again := newFileIn(c.set, f)
		parsed = append(parsed, again)
	}
	config := types.Config{GoVersion: coreLanguage, Importer: c, Error: func(err error) {
		var detail types.Error
		if errors.As(err, &detail) && newerLanguage.MatchString(detail.Msg) {
			place := c.set.Position(detail.Pos)
			p.found = append(p.found, violation{place.Filename, place.Line, "the core is written in Go 1.17: " + detail.Msg})
		}
	}}
	p.types, _ = config.Check("granary/"+dir, c.set, parsed, p.info)
	return p
}

// newerSyntax finds language that came after Go 1.17, in the core and in its tests for both compilers.
func newerSyntax(files []*file) []violation {
	seen := map[violation]bool{}
	var found []violation
	for _, compiler := range []string{"gc", "gccgo"} {
		c := newCoreChecker(files, compiler)
		for _, dir := range sortedKeys(c.files) {
			for _, v := range c.check(dir).found {
				if !seen[v] {
					seen[v] = true
					found = append(found, v)
				}
			}
		}
	}
	return found
}

// storedPointers finds struct types and package variables of the core that hold what Go's collector would have to
// follow, or gccgo would need a runtime for.
func storedPointers(files []*file) []violation {
	c := newCoreChecker(files, "gccgo")
	var found []violation
	for _, dir := range sortedKeys(c.files) {
		if strings.HasPrefix(dir, corePath+"coretest") {
			continue
		}
		p := c.check(dir)
		for _, name := range p.types.Scope().Names() {
			object := p.types.Scope().Lookup(name)
			place := c.set.Position(object.Pos())
			report := func(what string) {
				found = append(found, violation{place.Filename, place.Line, name + " stores " + what +
					": stored state holds addresses (sys.Addr and the like)"})
			}
			switch object := object.(type) {
			case *types.Var:
				if what := stores(object.Type()); what != "" {
					report(what)
				}
			case *types.TypeName:
				if _, ok := object.Type().Underlying().(*types.Struct); ok {
					if what := stores(object.Type()); what != "" {
						report(what)
					}
				}
			}
		}
	}
	return found
}

// stores names the first part of a type that may not be stored, "" for none.
func stores(t types.Type) string {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Kind() == types.UnsafePointer {
			return "an unsafe.Pointer"
		}
		if u.Info()&types.IsString != 0 {
			return "a string"
		}
	case *types.Array:
		return stores(u.Elem())
	case *types.Struct:
		for i := 0; i < u.NumFields(); i++ {
			if what := stores(u.Field(i).Type()); what != "" {
				return what + " in " + u.Field(i).Name()
			}
		}
	case *types.Pointer:
		return "a pointer"
	case *types.Map:
		return "a map"
	case *types.Slice:
		return "a slice"
	case *types.Interface:
		return "an interface"
	case *types.Signature:
		return "a function"
	case *types.Chan:
		return "a channel"
	}
	return ""
}

// noWalker finds packages of the core that have locks, so state that several threads share, and no check.go.
func noWalker(files []*file) []violation {
	stateful, walker := map[string]string{}, map[string]bool{}
	for _, f := range files {
		if !f.isCore() || f.ast == nil {
			continue
		}
		if path.Base(f.path) == "check.go" {
			walker[f.dir()] = true
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			structure, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			for _, field := range structure.Fields.List {
				for _, name := range field.Names {
					if of, ok := field.Type.(*ast.Ident); ok && of.Name == "uint32" &&
						strings.HasSuffix(strings.ToLower(name.Name), "lock") {
						stateful[f.dir()] = f.path
					}
				}
			}
			return true
		})
	}
	var found []violation
	for _, dir := range sortedKeys(stateful) {
		if !walker[dir] {
			found = append(found, violation{stateful[dir], 1, "has state under locks, but the package has no check.go " +
				"that walks it"})
		}
	}
	return found
}
