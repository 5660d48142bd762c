package ctest

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func openGCLibrary(t *testing.T) *elf.File {
	t.Helper()
	openLibrary(t)
	file, err := elf.Open(filepath.Join(library.GCDir, "libgc.so.1"))
	if err != nil {
		t.Fatalf("%v: run `make lib` first", err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

// gcSymbols reads the names that bdwgc exports, and the sizes of those that are variables.
func gcSymbols(t *testing.T) map[string]uint64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "libgc_symbols.txt"))
	if err != nil {
		t.Fatal(err)
	}
	symbols := make(map[string]uint64)
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.Fields(line) {
			name, size, isVariable := strings.Cut(word, ":")
			bytes := uint64(0)
			if isVariable {
				if bytes, err = strconv.ParseUint(size, 10, 64); err != nil {
					t.Fatal(err)
				}
			}
			symbols["GC_"+name] = bytes
		}
	}
	return symbols
}

// Programs link with libgc.so.1 by its name and by its symbols, which have no versions. Variables must have the size
// that they have in bdwgc: a program that is not position-independent has its own copy of that size.
func TestLibraryOfTheCollectorHasAllNames(t *testing.T) {
	file := openGCLibrary(t)
	wanted := gcSymbols(t)
	if len(wanted) != 291 {
		t.Fatalf("the list has %d names, bdwgc has 291", len(wanted))
	}
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, symbol := range symbols {
		if symbol.Section == elf.SHN_UNDEF {
			continue
		}
		bytes, isWanted := wanted[symbol.Name]
		if !isWanted {
			t.Errorf("%s is exported, and is no name of bdwgc's", symbol.Name)
			continue
		}
		delete(wanted, symbol.Name)
		kind := elf.ST_TYPE(symbol.Info)
		if isVariable := kind == elf.STT_OBJECT; isVariable != (bytes != 0) {
			t.Errorf("%s has the type %v", symbol.Name, kind)
		} else if isVariable && symbol.Size != bytes {
			t.Errorf("%s has %d bytes, in bdwgc %d", symbol.Name, symbol.Size, bytes)
		}
		if symbol.Version != "" {
			t.Errorf("%s has the version %s", symbol.Name, symbol.Version)
		}
	}
	for name := range wanted {
		t.Errorf("%s is missing", name)
	}
}

func TestLibraryOfTheCollectorNeedsOnlyTheLibc(t *testing.T) {
	file := openGCLibrary(t)
	names, err := file.DynString(elf.DT_SONAME)
	if err != nil || len(names) != 1 || names[0] != "libgc.so.1" {
		t.Errorf("the library calls itself %q (%v)", names, err)
	}
	needed, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range needed {
		if name != "libc.so.6" && !strings.HasPrefix(name, "ld-linux") {
			t.Errorf("the library needs %s", name)
		}
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_TLS && segment.Memsz > threadDataBytesMax {
			t.Errorf("thread data take %d bytes, at most %d", segment.Memsz, threadDataBytesMax)
		}
	}
}
