package tidy

import (
	"sync"
	"testing"

	"granary/internal/preload"
)

var readOnce = sync.OnceValues(func() (*repository, error) { return readRepository("../..") })

func files(t *testing.T) []*file {
	t.Helper()
	r, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	return r.files
}

// each runs a rule for single files over the repository.
func each(t *testing.T, rule func(*file) []violation) {
	t.Helper()
	for _, f := range files(t) {
		report(t, rule(f))
	}
}

func report(t *testing.T, found []violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}

func TestGoFilesAreFormatted(t *testing.T)           { each(t, notFormatted) }
func TestFilesAreShort(t *testing.T)                 { each(t, tooLong) }
func TestFunctionsAreShort(t *testing.T)             { each(t, longFunctions) }
func TestLinesAreNarrow(t *testing.T)                { each(t, wideLines) }
func TestNothingIsLeftUnfinished(t *testing.T)       { each(t, notes) }
func TestNoTestSkips(t *testing.T)                   { each(t, skips) }
func TestTheProjectSpeaksOfItselfAlone(t *testing.T) { each(t, foreignWords) }
func TestPackagesAreDocumented(t *testing.T)         { report(t, undocumented(files(t))) }
func TestOptionsAreDocumented(t *testing.T) {
	report(t, undocumentedOptions(files(t), preload.Options))
}

func TestCoreImportsOnlyWhatNeedsNoRuntime(t *testing.T) { each(t, foreignImports) }
func TestCoreImportsPointDownwards(t *testing.T)         { each(t, upwardImports) }
func TestCoreUsesTheLibraryOfGo117(t *testing.T)         { each(t, newerLibrary) }
func TestCoreIsWrittenInGo117(t *testing.T)              { report(t, newerSyntax(files(t))) }
func TestCoreNeedsNoRuntime(t *testing.T)                { each(t, runtimeNeeds) }
func TestCoreStoresNoPointers(t *testing.T)              { report(t, storedPointers(files(t))) }
func TestCoreFilesAreNamedForTheirCompiler(t *testing.T) { each(t, misnamedForCompiler) }
func TestStatefulCorePackagesHaveAWalker(t *testing.T)   { report(t, noWalker(files(t))) }
