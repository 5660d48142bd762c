// This file runs the script languages whose programs take seconds: perl and lua.

package programs

import (
	"bytes"
	"fmt"
	"testing"
)

// compareScript runs testdata/<script> SIZE with an interpreter; its last line must be "done".
func compareScript(t *testing.T, script string, size int, interpreter ...string) {
	t.Helper()
	compare(t, func(s *session) {
		args := append(append([]string{}, interpreter...), s.copyTestdata(script)[0], fmt.Sprint(size))
		r := s.recordRun(script, command{args: args})
		if !bytes.HasSuffix(r.stdout, []byte("done\n")) || bytes.Count(r.stdout, []byte("\n")) < 5 {
			s.fatalf("%s did not reach its end\n%s%s", script, tail(r.stdout), tail(r.stderr))
		}
	})
}

func TestPerlRunsAScriptWithChildrenAndThreads(t *testing.T) {
	perl := need(t, "perl", "perl")
	size := 20_000
	if fullSize {
		size = 300_000
	}
	compareScript(t, "words.pl", size, perl)
}

func TestLuaRunsAScriptThatCollects(t *testing.T) {
	lua := need(t, "lua5.4", "lua5.4")
	size := 25_000
	if fullSize {
		size = 300_000
	}
	compareScript(t, "tables.lua", size, lua)
}
