// This file runs git on a repository that it generates.

package programs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// gitHistory is a stream for git fast-import: commits on two branches with merges, each changing a
// few of the files.
func gitHistory(commits, files int) []byte {
	var out bytes.Buffer
	data := func(text string) { fmt.Fprintf(&out, "data %d\n%s\n", len(text), text) }
	for c := 1; c <= commits; c++ {
		branch := "main"
		if c%5 == 4 {
			branch = "side"
		}
		fmt.Fprintf(&out, "commit refs/heads/%s\nmark :%d\n", branch, c)
		fmt.Fprintf(&out, "committer Some One <one@example.org> %d +0000\n", 1_600_000_000+c*60)
		data(fmt.Sprintf("Change number %d", c))
		if c == 4 {
			out.WriteString("from :3\n")
		}
		if c%10 == 0 {
			out.WriteString("merge refs/heads/side\n")
		}
		for k := range 4 {
			file := (c*31 + k*17) % files
			fmt.Fprintf(&out, "M 100644 inline folder%d/file%d.txt\n", file%9, file)
			data(gitFile(file, c))
		}
	}
	return out.Bytes()
}

// gitFile is the text of a file after a commit: most lines stay, so that git finds deltas.
func gitFile(file, commit int) string {
	var out strings.Builder
	for line := range 60 + file%50 {
		changed := 0
		if (line+commit)%23 == 0 {
			changed = commit
		}
		fmt.Fprintf(&out, "file %d line %d changed in %d: %x\n", file, line, changed,
			uint32(file*line+changed)*2654435761)
	}
	return out.String()
}

func TestGitKeepsAGeneratedRepository(t *testing.T) {
	git := need(t, "git", "git")
	commits, files := 150, 60
	if fullSize {
		commits, files = 4000, 800
	}
	history := gitHistory(commits, files)
	compare(t, func(s *session) {
		do := func(dir string, args ...string) result {
			t.Helper()
			return s.run(command{
				args: append([]string{git, "-C", s.path(dir)}, args...),
				// No settings of the machine's, and the same committer and date in both passes.
				env: []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_DATE=1700000000 +0000",
					"GIT_COMMITTER_DATE=1700000000 +0000", "GIT_AUTHOR_NAME=A", "GIT_COMMITTER_NAME=A",
					"GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_EMAIL=a@example.org"},
				limit: 5 * time.Minute,
			})
		}
		makeDir(t, s.path("origin"))
		do("origin", "init", "-q", "-b", "main")
		s.write("history", history)
		s.run(command{args: []string{"/bin/sh", "-c", `"$0" -C origin fast-import --quiet <history`, git},
			limit: 5 * time.Minute})
		do("origin", "reset", "-q", "--hard", "main")
		s.write("origin/new.txt", []byte("one more\n"))
		do("origin", "add", ".")
		do("origin", "commit", "-q", "-m", "One more")

		// With two threads the deltas depend on which thread comes first; with one the pack is
		// the same to the byte.
		do("origin", "-c", "pack.threads=1", "gc", "-q", "--aggressive", "--prune=now")
		pack := strings.TrimSpace(string(do("origin", "rev-parse", "--git-path", "objects/pack").stdout))
		s.record("the pack", s.output("/bin/sh", "-c", `cd "$0" && sha256sum *.pack *.idx`,
			s.path("origin/"+pack)))

		clone := do(".", "clone", "-q", "--no-local", "origin", "clone")
		s.needLoaded(clone.loaded, "git")
		do("clone", "-c", "pack.threads=2", "repack", "-q", "-a", "-d", "-f")
		for _, dir := range []string{"origin", "clone"} {
			fsck := do(dir, "fsck", "--full", "--strict", "--no-progress")
			s.record("fsck of "+dir, append(fsck.stdout, fsck.stderr...))
			s.record("objects of "+dir, do(dir, "cat-file", "--batch-all-objects", "--batch-check").stdout)
			s.record("log of "+dir, do(dir, "log", "--stat", "--topo-order", "-n", "300").stdout)
			s.record("refs of "+dir, do(dir, "show-ref", "--head").stdout)
		}
		s.record("blame", do("clone", "blame", "-s", "folder1/file1.txt").stdout)
		s.record("grep", do("clone", "grep", "-c", "changed in").stdout)
		s.record("status", do("clone", "status", "--porcelain").stdout)
		if len(do("clone", "log", "--format=%h", "main").stdout) < 8*commits/2 {
			s.fatalf("the clone lacks history")
		}
	})
}
