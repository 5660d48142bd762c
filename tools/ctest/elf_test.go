package ctest

import (
	"debug/elf"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// Limits of the library file. glibc keeps about 1.6 KiB of thread data for objects that are opened
// late, and all of them share it; the file size is a promise of the project.
const (
	threadDataBytesMax = 256
	fileBytesMax       = 400 << 10
)

func openLibrary(t *testing.T) *elf.File {
	t.Helper()
	if !library.Granary {
		t.Fatal("another allocator is under test: there is no Granary file to look at")
	}
	file, err := elf.Open(library.Preload)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func TestLibraryFileIsSmall(t *testing.T) {
	openLibrary(t)
	info, err := os.Stat(library.Preload)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > fileBytesMax {
		t.Errorf("%s has %d bytes, at most %d are promised", library.Preload, info.Size(),
			fileBytesMax)
	}
}

// Static thread data come out of a small reserve when the library is opened late.
func TestThreadDataFitIntoTheReserve(t *testing.T) {
	for _, segment := range openLibrary(t).Progs {
		if segment.Type == elf.PT_TLS && segment.Memsz > threadDataBytesMax {
			t.Errorf("thread data take %d bytes, at most %d", segment.Memsz, threadDataBytesMax)
		}
	}
}

// Thread data of the dynamic kinds are allocated on first touch, by the loader, with malloc: which
// would then call itself.
func TestThreadDataNeedNoAllocation(t *testing.T) {
	file := openLibrary(t)
	for _, kind := range relocationKinds(t, file) {
		switch kind {
		case elf.R_X86_64_DTPMOD64, elf.R_X86_64_DTPOFF64, elf.R_X86_64_DTPOFF32,
			elf.R_X86_64_TLSDESC, elf.R_X86_64_TLSDESC_CALL, elf.R_X86_64_TLSGD, elf.R_X86_64_TLSLD:
			t.Errorf("relocation %v: dynamic thread data", kind)
		}
	}
}

// relocationKinds returns the kind of every dynamic relocation.
func relocationKinds(t *testing.T, file *elf.File) []elf.R_X86_64 {
	t.Helper()
	const entryBytes = 24
	var kinds []elf.R_X86_64
	for _, section := range file.Sections {
		if section.Type != elf.SHT_RELA {
			continue
		}
		data, err := section.Data()
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at+entryBytes <= len(data); at += entryBytes {
			info := file.ByteOrder.Uint64(data[at+8:])
			kinds = append(kinds, elf.R_X86_64(elf.R_TYPE64(info)))
		}
	}
	if len(kinds) == 0 {
		t.Fatal("the library has no relocations: the test looks in the wrong place")
	}
	return kinds
}

// No text relocations: they make the loader write to code, which hardened systems refuse.
func TestCodeIsNotRelocated(t *testing.T) {
	if values, err := openLibrary(t).DynValue(elf.DT_TEXTREL); err == nil && len(values) > 0 {
		t.Error("the library has text relocations")
	}
}

func TestLibraryNeedsOnlyTheLibc(t *testing.T) {
	needed, err := openLibrary(t).ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range needed {
		if name != "libc.so.6" && name != "ld-linux-x86-64.so.2" {
			t.Errorf("the library needs %s: it would be loaded into every program", name)
		}
	}
}

// A name with a version of the library's own would hide nothing of the libc's: programs ask for
// malloc of GLIBC_2.2.5 and would go on getting it.
func TestExportedNamesHaveNoVersion(t *testing.T) {
	file := openLibrary(t)
	if values, err := file.DynValue(elf.DT_VERDEF); err == nil && len(values) > 0 {
		t.Error("the library defines symbol versions: programs that want malloc@GLIBC_2.2.5 " +
			"are not bound to it; use a version script without a name")
	}
}

func TestLibraryStaysWhenClosed(t *testing.T) {
	flags, err := openLibrary(t).DynValue(elf.DT_FLAGS_1)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range flags {
		if elf.DynFlag1(value)&elf.DF_1_NODELETE != 0 {
			return
		}
	}
	t.Error("the library is not linked with -z nodelete")
}

// The code is mapped without the right to write, the data without the right to execute, the stack
// too.
func TestSegmentsAreNotWritableAndExecutable(t *testing.T) {
	for _, segment := range openLibrary(t).Progs {
		if segment.Flags&elf.PF_W != 0 && segment.Flags&elf.PF_X != 0 {
			t.Errorf("segment %v is writable and executable", segment.Type)
		}
	}
}

var mapName = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)\s*;`)

// exportsList reads the names between "global:" and "local:" of the version script.
func exportsList(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, "clib", "exports.map"))
	if err != nil {
		t.Fatal(err)
	}
	_, global, found := strings.Cut(string(text), "global:")
	if !found {
		t.Fatal("exports.map has no list of global names")
	}
	global, _, _ = strings.Cut(global, "local:")
	var names []string
	for _, match := range mapName.FindAllStringSubmatch(global, -1) {
		names = append(names, match[1])
	}
	sort.Strings(names)
	return names
}

// exported returns the names that the library defines for others.
func exported(t *testing.T, file *elf.File) []string {
	t.Helper()
	symbols, err := file.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, symbol := range symbols {
		if symbol.Section != elf.SHN_UNDEF && elf.ST_BIND(symbol.Info) != elf.STB_LOCAL &&
			symbol.Section != elf.SHN_ABS {
			names = append(names, symbol.Name)
		}
	}
	sort.Strings(names)
	return names
}

func TestExportedNamesAreThoseOfTheList(t *testing.T) {
	names, list := exported(t, openLibrary(t)), exportsList(t)
	for _, name := range names {
		if !slices.Contains(list, name) {
			t.Errorf("%s is exported and not in exports.map", name)
		}
	}
	for _, name := range list {
		if !slices.Contains(names, name) {
			t.Errorf("%s is in exports.map and not exported", name)
		}
	}
}

var apiName = regexp.MustCompile(`(?m)^GRANARY_API .*?\b(granary_[a-z_]+)\(`)

// Every function of granary.h is there, and no granary_ function is there that the header does not
// know.
func TestExportedNamesAreThoseOfTheHeader(t *testing.T) {
	names := exported(t, openLibrary(t))
	text, err := os.ReadFile(filepath.Join(moduleRoot, "clib", "include", "granary.h"))
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, match := range apiName.FindAllStringSubmatch(string(text), -1) {
		declared = append(declared, match[1])
	}
	if len(declared) < 10 {
		t.Fatalf("only %d functions found in granary.h", len(declared))
	}
	for _, name := range declared {
		if !slices.Contains(names, name) {
			t.Errorf("granary.h declares %s, the library does not export it", name)
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "granary_") && !slices.Contains(declared, name) {
			t.Errorf("the library exports %s, granary.h does not declare it", name)
		}
		if strings.HasPrefix(name, "go") || strings.Contains(name, ".") ||
			strings.HasPrefix(name, "runtime") {
			t.Errorf("%s is a name of the Go compiler", name)
		}
	}
}

// The static archive must not bring names that a program's own would collide with.
func TestArchiveDefinesOnlyPublicNames(t *testing.T) {
	openLibrary(t)
	names := archiveNames(t)
	list := exportsList(t)
	var others []string
	for _, name := range names {
		if !slices.Contains(list, name) {
			others = append(others, name)
		}
	}
	if len(others) > 0 {
		t.Errorf("libgranary.a defines %d names that are not public: %s ...", len(others),
			strings.Join(others[:min(len(others), 10)], " "))
	}
}
