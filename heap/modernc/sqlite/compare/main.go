//go:build linux

// Command compare measures modernc.org/sqlite on modernc.org/memory, on Granary in its place, and on Granary with a
// libc that takes no lock around it, in one run.
//
//	go run ./compare [-rounds 7] [-csv ROWS.csv] > TABLE.md
//	go run ./compare -libc DIR       # only write that libc, for a replace of one's own
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"granary/heap/internal/measure"
	"granary/heap/modernc/sqlite/internal/unlock"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often everything is measured; the table has the medians")
	csv := flag.String("csv", "", "file for the rows of all rounds")
	libc := flag.String("libc", "", "only write a libc without the lock into this folder")
	flag.Parse()
	err := error(nil)
	if *libc != "" {
		err = writeLibc(*libc)
	} else {
		err = run(*rounds, *csv)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// output is what a go command prints.
func output(arguments ...string) (string, error) {
	command := exec.Command("go", arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	text, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(arguments, " "), err, &problems)
	}
	return strings.TrimSpace(string(text)), nil
}

func writeLibc(to string) error {
	from, err := output("list", "-m", "-f", "{{.Dir}}", "modernc.org/libc")
	if err != nil {
		return err
	}
	return unlock.Copy(to, from)
}

const (
	original = "modernc.org/memory"
	standIn  = "granary"
	unlocked = "granary, libc without lock"
)

// build builds the workload for the three peers.
func build(dir string) (map[string]string, error) {
	libc := filepath.Join(dir, "libc")
	if err := writeLibc(libc); err != nil {
		return nil, err
	}
	binaries := map[string]string{}
	for i, peer := range []struct {
		name  string
		edits []string
	}{
		{original, []string{"-dropreplace=modernc.org/memory", "-require=modernc.org/memory@v1.13.0"}},
		{standIn, nil},
		{unlocked, []string{"-replace=modernc.org/libc=" + libc}},
	} {
		mod := filepath.Join(dir, fmt.Sprint("variant", i, ".mod"))
		binaries[peer.name] = filepath.Join(dir, fmt.Sprint("workload", i))
		for from, to := range map[string]string{"go.mod": mod, "go.sum": strings.TrimSuffix(mod, ".mod") + ".sum"} {
			text, err := os.ReadFile(from)
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(to, text, 0o644); err != nil {
				return nil, err
			}
		}
		if len(peer.edits) != 0 {
			if _, err := output(append(append([]string{"mod", "edit"}, peer.edits...), mod)...); err != nil {
				return nil, err
			}
		}
		if _, err := output("build", "-mod=mod", "-modfile="+mod, "-o", binaries[peer.name], "./workload"); err != nil {
			return nil, err
		}
	}
	return binaries, nil
}

func run(rounds int, csv string) error {
	dir, err := os.MkdirTemp("", "granary-sqlite")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binaries, err := build(dir)
	if err != nil {
		return err
	}
	var cases []measure.Case
	for _, work := range []string{"select", "prepare", "insert", "blob", "sort"} {
		for _, goroutines := range []string{"1", "2", "4"} {
			for _, peer := range []string{original, standIn, unlocked} {
				binary := binaries[peer]
				cases = append(cases, measure.Case{
					Workload: work + ", connections: " + goroutines, Peer: peer,
					Run: func() (measure.Sample, error) { return sample(binary, work, goroutines) },
				})
			}
		}
	}
	rows, err := measure.Compare(os.Stdout, "statement", rounds, cases, csv)
	if err != nil {
		return err
	}
	fmt.Printf("\nWall nanoseconds a statement\n\n")
	measure.WriteTable(os.Stdout, rows, measure.WallColumn)
	return nil
}

const statements = 20_000

// sample runs the workload once.
func sample(binary, work, goroutines string) (measure.Sample, error) {
	text, err := exec.Command(binary, work, goroutines, strconv.Itoa(statements)).Output()
	if err != nil {
		return measure.Sample{}, err
	}
	var s measure.Sample
	var cpu, wall int64
	if _, err := fmt.Sscan(string(text), &s.Steps, &cpu, &wall); err != nil {
		return s, fmt.Errorf("%q: %w", text, err)
	}
	s.CPU, s.Wall = time.Duration(cpu), time.Duration(wall)
	return s, nil
}
