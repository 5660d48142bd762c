package ctest

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parse writes a head into a file and reads it.
func parse(t *testing.T, text string) (*Header, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.c")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return ParseHeader(path)
}

func TestHeadIsReadUpToTheFirstLineOfCode(t *testing.T) {
	header, err := parse(t, `// What it tests: prose with a colon.
// covers: 7 41
// env: A=1 B=2
// env: C=3
// expect: ^granary: first
// expect: second$
// signal: SIGABRT
// timeout: 5
#include <stdio.h>
// env: D=4
`)
	if err != nil {
		t.Fatal(err)
	}
	if len(header.Covers) != 2 || header.Covers[1] != 41 {
		t.Errorf("covers %v", header.Covers)
	}
	if got := strings.Join(header.Env, " "); got != "A=1 B=2 C=3" {
		t.Errorf("env is %q", got)
	}
	if len(header.Expect) != 2 || header.Signal != "SIGABRT" || header.Timeout != 5*time.Second {
		t.Errorf("read %+v", header)
	}
}

func TestHeadWithAFaultIsRefused(t *testing.T) {
	for _, text := range []string{
		"// expct: something\n",
		"// expect: (\n",
		"// covers: seven\n",
		"// expect-exit:\n",
		"// library: other\n",
		"// plugin:\n",
	} {
		if _, err := parse(t, text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestResultsAreJudged(t *testing.T) {
	header, err := parse(t, `// expect: ^granary: free
// expect: ^  freed at:
// refuse: secret
// signal: SIGABRT
`)
	if err != nil {
		t.Fatal(err)
	}
	good := Result{Err: "granary: free(1)\nmore\n  freed at:\n", Exit: -1, Signal: syscall.SIGABRT}
	if faults := Judge(header, &good); len(faults) > 0 {
		t.Errorf("a good result is faulted: %q", faults)
	}
	for name, change := range map[string]func(*Result){
		"other signal":     func(r *Result) { r.Signal = syscall.SIGSEGV },
		"exit":             func(r *Result) { r.Signal, r.Exit = 0, 0 },
		"late first line":  func(r *Result) { r.Err = "x\n" + r.Err },
		"missing line":     func(r *Result) { r.Err = "granary: free(1)\n" },
		"order":            func(r *Result) { r.Err = "  freed at:\ngranary: free(1)\n" },
		"refused in out":   func(r *Result) { r.Out = "a secret\n" },
		"over the time":    func(r *Result) { r.TimedOut = true },
		"nothing was said": func(r *Result) { r.Err = "" },
	} {
		bad := good
		change(&bad)
		if len(Judge(header, &bad)) == 0 {
			t.Errorf("%s: not faulted", name)
		}
	}
}

func TestRunEndsAGroupThatHangs(t *testing.T) {
	// The shell's child holds the pipes open, as the child of a hanging test would.
	begin := time.Now()
	result, err := Run([]string{"sh", "-c", "sleep 600 & sleep 600"}, os.Environ(), t.TempDir(),
		100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if !result.TimedOut || result.Signal != syscall.SIGKILL {
		t.Errorf("result %+v after %v", result, time.Since(begin))
	}
}

func TestUnknownPlaceholdersAreRefused(t *testing.T) {
	if _, err := expand("{exe} {nothing}", map[string]string{"{exe}": "a"}); err == nil {
		t.Error("an unknown name in braces was accepted")
	}
	text, err := expand("{exe} x{lib}", map[string]string{"{exe}": "a", "{lib}": "b"})
	if err != nil || text != "a xb" {
		t.Errorf("expanded to %q, %v", text, err)
	}
}
