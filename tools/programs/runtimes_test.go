//go:build programs

// This file runs the language runtimes with collectors and threads of their own: node and Java.

package programs

import (
	"bytes"
	"testing"
	"time"
)

func TestNodeRunsAScriptWithWorkers(t *testing.T) {
	compareScript(t, "workers.js", 20_000, need(t, "node", "nodejs"))
}

func TestJavaSaysItsVersion(t *testing.T) {
	java := need(t, "java", "default-jdk-headless")
	compare(t, func(s *session) {
		r := s.recordRun("java -version", command{args: []string{java, "-version"}})
		if !bytes.Contains(r.stderr, []byte("Runtime Environment")) {
			s.fatalf("java -version says %s", tail(r.stderr))
		}
	})
}

func TestJavaCompilesAndRunsAProgramOnEachCollector(t *testing.T) {
	javac := need(t, "javac", "default-jdk-headless")
	java := need(t, "java", "default-jdk-headless")
	compare(t, func(s *session) {
		source := s.copyTestdata("Work.java")[0]
		s.recordRun("javac", command{args: []string{javac, "-d", "classes", source}})
		s.recordFile("classes/Work.class")
		for _, collector := range []string{"Serial", "Parallel", "G1", "Z"} {
			// -Xmx keeps the heap from depending on the machine's memory.
			r := s.recordRun("java on "+collector, command{
				args: []string{java, "-Xmx512m", "-XX:+Use" + collector + "GC", "-cp", "classes", "Work",
					"10000"},
				limit: 5 * time.Minute,
			})
			if !bytes.HasSuffix(r.stdout, []byte("done\n")) {
				s.fatalf("the program did not reach its end on %s\n%s", collector, tail(r.stdout))
			}
		}
	})
}
