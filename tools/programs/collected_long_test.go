//go:build programs

// This file runs further programs that are written for libgc. Debian's packages of them are large.

package programs

import "testing"

func TestAsymptoteRunsOnTheCollector(t *testing.T) {
	asy := need(t, "asy", "asymptote")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/tree.asy")
		s.recordRun("a program", command{args: []string{asy, "-noV", "collected/tree.asy"}})
	})
}

func TestMacaulay2RunsOnTheCollector(t *testing.T) {
	m2 := need(t, "M2", "macaulay2")
	compareCollector(t, func(s *session) {
		s.copyTestdata("collected/ideals.m2")
		s.recordRun("ideals", command{args: []string{m2, "--script", "collected/ideals.m2"}})
	})
}
