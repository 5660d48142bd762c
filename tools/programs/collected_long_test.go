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

// LilyPond runs on guile 2.2.
func TestLilyPondRunsOnTheCollector(t *testing.T) {
	lilypond := need(t, "lilypond", "lilypond")
	compareCollectorAlone(t, func(s *session) {
		s.write("scale.ly", []byte("\\version \"2.24.1\"\n\\repeat unfold 40 { c'4 d' <e' g'> f'8 g' a'2 b'4 c'' }\n"))
		s.run(command{args: []string{lilypond, "-s", "--svg", "scale.ly"}})
		s.recordFile("scale.svg")
	})
}

func TestNixEvaluatesOnTheCollector(t *testing.T) {
	nix := need(t, "nix-instantiate", "nix-bin")
	compareCollectorAlone(t, func(s *session) {
		s.write("lists.nix", []byte(`let count = n: if n == 0 then [] else [n] ++ count (n - 1);
			sets = map (n: { name = "number ${toString n}"; value = count (n / 2); }) (count 400);
			in builtins.toJSON (builtins.mapAttrs (name: list: builtins.foldl' builtins.add 0 list) (builtins.listToAttrs sets))
			`))
		s.recordRun("an evaluation", command{args: []string{nix, "--eval", "--strict", "lists.nix"},
			env: []string{"NIX_STATE_DIR=" + s.path("state"), "NIX_STORE_DIR=" + s.path("store")}})
	})
}
