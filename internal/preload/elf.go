package preload

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Library is a libgranary.so that can be preloaded.
type Library struct {
	Path string
	kind machine
}

// machine is what a program and a library must have in common.
type machine struct {
	class   elf.Class
	data    elf.Data
	machine elf.Machine
}

func machineOf(file *elf.File) machine {
	return machine{file.Class, file.Data, file.Machine}
}

func (m machine) String() string {
	names := map[elf.Machine]string{elf.EM_X86_64: "x86-64", elf.EM_386: "x86",
		elf.EM_AARCH64: "ARM", elf.EM_ARM: "ARM", elf.EM_RISCV: "RISC-V", elf.EM_PPC64: "POWER",
		elf.EM_S390: "IBM Z", elf.EM_MIPS: "MIPS", elf.EM_LOONGARCH: "LoongArch"}
	name, known := names[m.machine]
	if !known {
		name = m.machine.String()
	}
	bits := map[elf.Class]string{elf.ELFCLASS32: "32-bit ", elf.ELFCLASS64: "64-bit "}[m.class]
	if m.data == elf.ELFDATA2MSB {
		bits += "big-endian "
	}
	return bits + name
}

// OpenLibrary checks that path can be preloaded and is Granary. The path must be absolute: the
// program and its children look it up in directories of their own.
func OpenLibrary(path string) (*Library, error) {
	if strings.ContainsAny(path, " :\t\n$") {
		return nil, fmt.Errorf("the library is %q, but the loader takes no path with a space, colon or "+
			"dollar in LD_PRELOAD; copy it elsewhere and name it with --lib", path)
	}
	file, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s is not a shared library: %v", path, err)
	}
	defer file.Close()
	symbols, _ := file.DynamicSymbols()
	exports := func(symbol elf.Symbol) bool {
		return symbol.Name == "granary_version" && symbol.Section != elf.SHN_UNDEF
	}
	if file.Type != elf.ET_DYN || !slices.ContainsFunc(symbols, exports) {
		return nil, fmt.Errorf("%s is not Granary's library: it does not have granary_version", path)
	}
	return &Library{Path: path, kind: machineOf(file)}, nil
}

// program is an ELF file that is about to be executed.
type program struct {
	file    *elf.File
	name    string
	loader  string // PT_INTERP, "" if there is none
	soname  string
	needed  []string
	symbols []elf.Symbol // dynamic ones
	isPIE   bool
	isGo    bool
}

func readProgram(name string) (*program, error) {
	file, err := elf.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &program{file: file, name: name}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP && segment.Filesz < 4096 {
			path := make([]byte, segment.Filesz)
			if _, err := segment.ReadAt(path, 0); err != nil {
				return nil, err
			}
			p.loader = strings.TrimRight(string(path), "\x00")
		}
	}
	// A file without these sections has nothing to say here.
	p.needed, _ = file.ImportedLibraries()
	p.symbols, _ = file.DynamicSymbols()
	if names, _ := file.DynString(elf.DT_SONAME); len(names) > 0 {
		p.soname = names[0]
	}
	if flags, _ := file.DynValue(elf.DT_FLAGS_1); len(flags) > 0 {
		p.isPIE = elf.DynFlag1(flags[0])&elf.DF_1_PIE != 0
	}
	p.isGo = file.Section(".go.buildinfo") != nil || file.Section(".gopclntab") != nil
	return p, nil
}

func (c *Checker) checkELF(verdict *Verdict, name string) {
	p, err := readProgram(name)
	if err != nil {
		verdict.warn("%s: cannot read its ELF headers (%v), so I cannot tell whether it can run on "+
			"Granary", name, err)
		return
	}
	if kind := machineOf(p.file); kind != c.Library.kind {
		verdict.refuse(StatusFailed, "%s is a %v program, but %s is for %v; use a library built for "+
			"the same machine", name, kind, c.Library.Path, c.Library.kind)
		return
	}
	if p.file.Type != elf.ET_EXEC && p.file.Type != elf.ET_DYN {
		verdict.Format = &Problem{Status: StatusCannotExecute,
			Text: name + " is an ELF file but not a program; link it first"}
		return
	}
	switch {
	case isGlibcLoader(p.soname) && p.loader == "":
		return // the loader itself, started by hand: it preloads for the program it is given
	case p.loader == "":
		p.refuseStatic(verdict)
	default:
		p.checkLoader(verdict)
	}
	if verdict.Refusal == nil {
		p.checkPrivileges(verdict)
	}
	if verdict.Refusal == nil {
		p.checkSanitizer(verdict)
	}
	if verdict.Refusal == nil {
		p.warnOfOtherHeaps(verdict)
	}
}

func (p *program) refuseStatic(verdict *Verdict) {
	switch {
	case p.isGo:
		verdict.refuse(StatusFailed, "%s is a Go program and statically linked, so no library can be "+
			"loaded into it; use the Go package granary/heap in it, or build it with CGO_ENABLED=1 "+
			"for the sake of its C code", p.name)
	case p.soname != "" && !p.isPIE:
		verdict.refuse(StatusCannotExecute, "%s is a shared library, not a program", p.name)
		return
	default:
		verdict.refuse(StatusFailed, "%s is statically linked, so no library can be loaded into it; "+
			"link it dynamically, or link libgranary.a into it", p.name)
	}
	verdict.Refusal.Children = true
}

// isGlibcLoader tells the dynamic loaders of glibc by their file names.
func isGlibcLoader(path string) bool {
	name := filepath.Base(path)
	return strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld64.so") ||
		name == "ld.so.1"
}

func (p *program) checkLoader(verdict *Verdict) {
	name := filepath.Base(p.loader)
	if _, err := os.Stat(p.loader); err != nil {
		verdict.refuse(StatusCannotExecute, "%s needs the dynamic loader %s, which this system does "+
			"not have; install the C library it was built for", p.name, p.loader)
		return
	}
	switch {
	case isGlibcLoader(p.loader):
	case strings.HasPrefix(name, "ld-musl"):
		verdict.refuse(StatusFailed, "%s uses the C library musl (%s), but Granary's library is built "+
			"for glibc; build the program against glibc", p.name, p.loader)
	case strings.HasPrefix(name, "linker"):
		verdict.refuse(StatusFailed, "%s uses Android's C library (%s), but Granary's library is built "+
			"for glibc", p.name, p.loader)
	default:
		verdict.warn("%s uses the dynamic loader %s, which I do not know; Granary needs glibc's",
			p.name, p.loader)
	}
}

// sanitizers are told by the library they need or, linked statically, by a symbol. The last is the
// one that all of them have, where the linker exported no other.
var sanitizers = []struct{ prefix, symbol, name string }{
	{"asan", "__asan_init", "AddressSanitizer"},
	{"hwasan", "__hwasan_init", "HWAddressSanitizer"},
	{"tsan", "__tsan_init", "ThreadSanitizer"},
	{"msan", "__msan_init", "MemorySanitizer"},
	{"lsan", "__lsan_init", "LeakSanitizer"},
	{"sanitizer", "__sanitizer_malloc_hook", "a sanitizer"},
}

// checkSanitizer refuses programs whose sanitizer has a malloc of its own: the address sanitizer
// stops a program in which another library was loaded before it, and the others lose track.
func (p *program) checkSanitizer(verdict *Verdict) {
	for _, sanitizer := range sanitizers {
		library := func(needed string) bool {
			return strings.HasPrefix(needed, "lib"+sanitizer.prefix+".so") ||
				strings.HasPrefix(needed, "libclang_rt."+sanitizer.prefix)
		}
		symbol := func(symbol elf.Symbol) bool { return symbol.Name == sanitizer.symbol }
		if !slices.ContainsFunc(p.needed, library) && !slices.ContainsFunc(p.symbols, symbol) {
			continue
		}
		verdict.refuse(StatusFailed, "%s is built with %s, which needs a malloc of its own; run it "+
			"without Granary, or build it without -fsanitize and run it with granary run --debug",
			p.name, sanitizer.name)
		return
	}
}

// warnOfOtherHeaps tells of programs that will not take much from Granary although it is loaded.
func (p *program) warnOfOtherHeaps(verdict *Verdict) {
	ownMalloc := func(symbol elf.Symbol) bool {
		return symbol.Name == "malloc" && symbol.Section != elf.SHN_UNDEF &&
			elf.ST_TYPE(symbol.Info) == elf.STT_FUNC
	}
	if slices.ContainsFunc(p.symbols, ownMalloc) {
		verdict.warn("%s has a malloc of its own, which comes before Granary's; its memory will not be "+
			"in the report", p.name)
	}
	if p.isGo {
		verdict.warn("%s is a Go program: only its C code allocates from Granary, Go's own heap does "+
			"not", p.name)
	}
}
