package ctest

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// fastPathInstructionsMax is what malloc and free may take when the thread's list serves them.
const fastPathInstructionsMax = 25

// instruction is one step of a traced program.
type instruction struct {
	offset uint64 // in the library
	decode x86asm.Inst
}

// The fast paths of malloc and free, executed step by step in a program of its own, have at most 25
// instructions, take no lock and call nothing. What is counted is what runs, so there is no guess
// about which branch is likely.
func TestFastPathsAreShort(t *testing.T) {
	openLibrary(t)
	source := filepath.Join(moduleRoot, "clib", "tests", "testdata", "fastpath.c")
	program, err := compiler.Program(source, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, function := range []string{"malloc", "free", "new", "delete", "sized delete", "calloc"} {
		t.Run(function, func(t *testing.T) {
			steps := traceCall(t, program, function)
			if len(steps) == 0 {
				t.Fatal("no instruction of the library ran: the program does not use it")
			}
			checkFastPath(t, function, steps)
		})
	}
}

// checkFastPath compares the steps with the limits. Only malloc and free have promised theirs; the
// others are shown, and must not take locks either.
func checkFastPath(t *testing.T, function string, steps []instruction) {
	var listing strings.Builder
	calls := 0
	for _, step := range steps {
		text := x86asm.GNUSyntax(step.decode, step.offset, nil)
		listing.WriteString("  " + strconv.FormatUint(step.offset, 16) + "  " + text + "\n")
		if step.decode.Op == x86asm.CALL {
			calls++
		}
		if locks(step.decode) {
			t.Errorf("%s takes a lock: %s", function, text)
		}
	}
	promised := function == "malloc" || function == "free"
	if promised && len(steps) > fastPathInstructionsMax {
		t.Errorf("%s takes %d instructions, at most %d", function, len(steps),
			fastPathInstructionsMax)
	}
	if promised && calls > 0 {
		t.Errorf("%s calls %d functions", function, calls)
	}
	t.Logf("%s: %d instructions\n%s", function, len(steps), listing.String())
}

// locks reports whether the instruction locks the bus: by its prefix, or as xchg with memory does
// without one.
func locks(instruction x86asm.Inst) bool {
	for _, prefix := range instruction.Prefix {
		if prefix&0xff == x86asm.PrefixLOCK && prefix&x86asm.PrefixImplicit == 0 {
			return true
		}
	}
	if instruction.Op != x86asm.XCHG {
		return false
	}
	for _, argument := range instruction.Args {
		if _, memory := argument.(x86asm.Mem); memory {
			return true
		}
	}
	return false
}

// traceCall runs the program until the function has been called often enough to be warm and then
// notes every instruction of the library that one further call executes. The program marks the call
// with two breakpoints.
func traceCall(t *testing.T, program, function string) []instruction {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(program, function)
	cmd.Env = append(plainEnvironment(), "LD_PRELOAD="+library.Preload)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot trace the program (is ptrace permitted here?): %v", err)
	}
	pid := cmd.Process.Pid
	defer func() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(pid, &status, 0, nil)
	}()
	waitTrap(t, pid)
	if err := syscall.PtraceCont(pid, 0); err != nil {
		t.Fatal(err)
	}
	waitTrap(t, pid)
	base := libraryBase(t, pid)
	var steps []instruction
	const stepsMax = 20000
	for range stepsMax {
		var registers syscall.PtraceRegs
		if err := syscall.PtraceGetRegs(pid, &registers); err != nil {
			t.Fatal(err)
		}
		code := make([]byte, 16)
		if _, err := syscall.PtracePeekText(pid, uintptr(registers.Rip), code); err != nil {
			t.Fatal(err)
		}
		if code[0] == 0xcc {
			return steps
		}
		decoded, err := x86asm.Decode(code, 64)
		if err != nil {
			t.Fatalf("cannot decode % x: %v", code, err)
		}
		if inLibrary(registers.Rip, base) {
			steps = append(steps, instruction{registers.Rip - base.start, decoded})
		}
		if err := syscall.PtraceSingleStep(pid); err != nil {
			t.Fatal(err)
		}
		waitTrap(t, pid)
	}
	t.Fatal("the second mark was not reached")
	return nil
}

func waitTrap(t *testing.T, pid int) {
	t.Helper()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	if !status.Stopped() || status.StopSignal() != syscall.SIGTRAP {
		t.Fatalf("the traced program ended or stopped otherwise: status %#x", status)
	}
}

// extent is where the library's mappings lie.
type extent struct{ start, end uint64 }

func inLibrary(address uint64, library extent) bool {
	return address >= library.start && address < library.end
}

// libraryBase finds the mappings of the library in the traced program.
func libraryBase(t *testing.T, pid int) extent {
	t.Helper()
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	var found extent
	for line := range strings.Lines(string(maps)) {
		if !strings.Contains(line, "libgranary.so") {
			continue
		}
		from, to, _ := strings.Cut(strings.Fields(line)[0], "-")
		start, _ := strconv.ParseUint(from, 16, 64)
		end, _ := strconv.ParseUint(to, 16, 64)
		if found.start == 0 {
			found.start = start
		}
		found.end = end
	}
	if found.end == 0 {
		t.Fatal("the traced program has not loaded the library")
	}
	return found
}

// archiveNames returns the global names that libgranary.a defines.
func archiveNames(t *testing.T) []string {
	t.Helper()
	object := filepath.Join(t.TempDir(), "granary.o")
	extract := exec.Command("ar", "p", library.Static)
	data, err := extract.Output()
	if err != nil {
		t.Fatalf("ar p %s: %v", library.Static, err)
	}
	if err := os.WriteFile(object, data, 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, symbol := range symbols {
		if elf.ST_BIND(symbol.Info) == elf.STB_GLOBAL && symbol.Section != elf.SHN_UNDEF &&
			elf.ST_VISIBILITY(symbol.Other) == elf.STV_DEFAULT {
			names = append(names, symbol.Name)
		}
	}
	return names
}
