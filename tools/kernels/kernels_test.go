//go:build kernels

package kernels

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"granary/tools/ctest"
)

const (
	runTimeout     = 10 * time.Minute // emulation takes 10 times as long and more
	machineTimeout = 40 * time.Minute
	collectorDir   = "/gc"
)

// systemFiles are what the programs need of Debian, at their places: the libc, with what it opens as a thread ends, and
// a program to start.
var systemFiles = []string{"/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libgcc_s.so.1", "/bin/true"}

// ownMode are the tests that ask for the incremental mode by themselves. They write a log, which must say that
// soft-dirty bits were in use.
var ownMode = []string{"gc/incremental", "gc/slices_keep_size"}

// timed counts the slices that a collection has: an emulated machine has no times to speak of.
const timed = "gc/slices"

// fullOnly are tests that expect collections to find all garbage.
var fullOnly = []string{"gc/small_heaps"}

// slowly has slices take 20 times as long, in which an emulated machine does about as much.
var slowly = strings.NewReplacer("GC_PAUSE_TIME_TARGET=1", "GC_PAUSE_TIME_TARGET=20")

var only = flag.String("only", "", "run the tests of clib/tests that this expression matches")

// TestSoftDirtyBits runs the tests of libgc.so.1 in its incremental mode under kernels that have soft-dirty bits alone.
func TestSoftDirtyBits(t *testing.T) {
	root, err := ctest.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	library, err := ctest.FindLibrary(root)
	if err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Glob(filepath.Join(library.Dir, "..", "kernels", "*", "boot", "vmlinuz-*"))
	if err != nil || len(images) == 0 {
		t.Fatalf("no kernel is unpacked (%v): run make test-kernel", err)
	}
	cases := collectorCases(t, root)
	archive := newInitramfs("/proc", "/dev", "/tmp")
	pack(t, archive, root, library, cases)
	for _, image := range images {
		t.Run(filepath.Base(image), func(t *testing.T) {
			judge(t, cases, boot(t, image, addModule(t, archive, image)))
		})
	}
}

// collectorCases are the tests that need nothing but their program, by name of the run.
func collectorCases(t *testing.T, root string) map[string]*ctest.Case {
	files, err := ctest.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	cases := make(map[string]*ctest.Case)
	wanted := regexp.MustCompile(*only)
	for _, file := range files {
		h := file.Header
		if h.Library != "gc" || filepath.Ext(file.Path) != ".c" || h.Run != "" || len(h.Plugins) != 0 ||
			len(h.Needs) != 0 || h.Link != "" || file.Name == timed {
			continue
		}
		for _, c := range file.Expand() {
			if name := strings.TrimSpace(c.Name + " " + c.Variant); wanted.MatchString(name) {
				cases[name] = c
			}
		}
	}
	for _, name := range ownMode {
		if cases[name] == nil && wanted.MatchString(name) {
			t.Errorf("there is no test %s", name)
		}
	}
	return cases
}

// pack compiles the programs and packs all that the guest needs, but for what is a kernel's.
func pack(t *testing.T, archive *initramfs, root string, library *ctest.Library, cases map[string]*ctest.Case) {
	work := t.TempDir()
	compiler := ctest.NewCompiler(root, work, 2)
	var runs []Run
	for _, name := range sorted(cases) {
		c := cases[name]
		program, err := compiler.Program(c.Path, c.Header.CFlags, []string{"-lgc"})
		if err != nil {
			t.Fatal(err)
		}
		there := path.Join("/bin", filepath.Base(program))
		addFile(t, archive, there, program)
		env := []string{"LD_LIBRARY_PATH=" + collectorDir}
		if slices.Contains(ownMode, c.Name) {
			env = append(env, "GC_PRINT_STATS=1", "GC_LOG_FILE="+LogFile)
		} else if !slices.Contains(fullOnly, c.Name) {
			env = append(env, "GC_ENABLE_INCREMENTAL=1")
		}
		for _, setting := range append(slices.Clone(c.Header.Env), strings.Fields(c.Variant)...) {
			env = append(env, slowly.Replace(setting))
		}
		runs = append(runs, Run{name, append([]string{there}, strings.Fields(c.Header.Args)...), env, runTimeout})
	}
	list, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	archive.add(ListFile, list)
	addFile(t, archive, collectorDir+"/libgc.so.1", filepath.Join(library.GCDir, "libgc.so.1"))
	for _, file := range systemFiles {
		addFile(t, archive, file, file)
	}
	addFile(t, archive, "/init", buildGuest(t, root, work))
}

// addModule adds the kernel's module and returns the file with the archive.
func addModule(t *testing.T, archive *initramfs, image string) string {
	version := strings.TrimPrefix(filepath.Base(image), "vmlinuz-")
	modules := filepath.Join(filepath.Dir(image), "..", "lib", "modules", version)
	addFile(t, archive, RAMDiskModule, filepath.Join(modules, "kernel", "drivers", "block", "brd.ko"))
	packed := filepath.Join(t.TempDir(), "initramfs")
	if err := os.WriteFile(packed, archive.bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return packed
}

func addFile(t *testing.T, archive *initramfs, name, source string) {
	t.Helper()
	if err := archive.addFile(name, source); err != nil {
		t.Fatal(err)
	}
}

func buildGuest(t *testing.T, root, work string) string {
	t.Helper()
	guest := filepath.Join(work, "guest")
	cmd := exec.Command("go", "build", "-o", guest, "./tools/kernels/guest")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return guest
}

// boot starts a kernel and returns what the guest says, by name of the run.
func boot(t *testing.T, image, archive string) map[string]Outcome {
	qemu, err := exec.LookPath("qemu-system-x86_64")
	if err != nil {
		t.Fatal("qemu-system-x86_64 is missing: install the Debian package qemu-system-x86")
	}
	ctx, cancel := context.WithTimeout(context.Background(), machineTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, qemu, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "1024",
		"-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-kernel", image, "-initrd", archive, "-append", "console=ttyS0 quiet panic=-1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	console, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	outcomes := make(map[string]Outcome)
	lines := bufio.NewReader(console)
	for {
		line, err := lines.ReadString('\n')
		var outcome Outcome
		if _, text, found := strings.Cut(line, Mark); !found {
			fmt.Fprint(os.Stderr, line)
		} else if err := json.Unmarshal([]byte(text), &outcome); err != nil {
			t.Errorf("%v: %s", err, line)
		} else {
			t.Logf("%s: %.1f s", outcome.Name, outcome.Took.Seconds())
			outcomes[outcome.Name] = outcome
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("qemu: %v", err)
	}
	return outcomes
}

// judge demands of each test what its head says, and of the log that soft-dirty bits were in use.
func judge(t *testing.T, cases map[string]*ctest.Case, outcomes map[string]Outcome) {
	for _, name := range sorted(cases) {
		outcome, ran := outcomes[name]
		if !ran || outcome.Failed != "" {
			t.Errorf("%s did not run %s", name, outcome.Failed)
			continue
		}
		header := *cases[name].Header
		header.Timeout = runTimeout
		for _, fault := range ctest.Judge(&header, &ctest.Result{Out: outcome.Out, Err: outcome.Err,
			Exit: outcome.Exit, Signal: syscall.Signal(outcome.Signal), TimedOut: outcome.TimedOut}) {
			t.Errorf("%s on %s: %s\n%s", name, outcome.Kernel, fault, outcome.Err)
		}
		if cases[name].Name == "gc/written_pages" && outcome.SwappedOut == 0 {
			t.Errorf("%s on %s: no page was swapped out", name, outcome.Kernel)
		}
		if !slices.Contains(ownMode, cases[name].Name) {
			continue
		}
		if !strings.Contains(outcome.Log, "written pages are known by soft-dirty bits") {
			t.Errorf("%s on %s: soft-dirty bits were not in use:\n%s", name, outcome.Kernel, outcome.Log)
		}
		if name == "gc/incremental" && !strings.Contains(outcome.Log, ", partial:") {
			t.Errorf("%s on %s: no collection looked at written pages alone:\n%s", name, outcome.Kernel, outcome.Log)
		}
	}
}
