// Linear measures linear allocators against what a program would use in their place: in Go make, the package heap and
// bumps with an atomic operation; in C the malloc of glibc, jemalloc, tcmalloc, mimalloc and Granary.
//
//	go run ./bench/linear            # a few minutes at most; -rounds 1 for a look
//
// Everything is measured in turns, round by round, in short batches. Of the batches the least and the median count, of
// the rounds the median of these. A busy machine moves all values; compare within one run.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	rounds := flag.Int("rounds", 5, "rounds")
	batches := flag.Int("batches", 2000, "batches a round, at most 2000")
	build := flag.String("build", "build", "where lib/libgranary.so lies")
	source := flag.String("source", "bench/linear/c/frames.c", "the workload in C")
	flag.Parse()
	if err := run(os.Stdout, *rounds, *batches, *build, *source); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// result is one value of one round: nanoseconds, the least and the median of the batches.
type result struct{ least, median float64 }

// results are the values of all rounds, by the name of what was measured and who did it.
type results map[string]map[string][]result

func (r results) add(what, who string, value result) {
	if r[what] == nil {
		r[what] = map[string][]result{}
	}
	r[what][who] = append(r[what][who], value)
}

func run(out io.Writer, rounds, batches int, build, source string) error {
	dir, err := os.MkdirTemp("", "bench-linear")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	programs, err := compile(dir, build, source)
	if err != nil {
		return err
	}
	inGo, inC := results{}, results{}
	for range rounds {
		if err := measureGo(inGo, batches); err != nil {
			return err
		}
		for _, p := range programs {
			if err := p.measure(inC, batches); err != nil {
				return err
			}
		}
	}
	print(out, "In Go", inGo)
	print(out, "In C", inC)
	return nil
}

// program is the workload in C with one allocator.
type program struct{ who, file, preload string }

// compile builds the workload, and finds the allocators that are there.
func compile(dir, build, source string) ([]program, error) {
	lib, err := filepath.Abs(filepath.Join(build, "lib"))
	if err != nil {
		return nil, err
	}
	header := filepath.Join(filepath.Dir(source), "../../../clib/include")
	plain, linear, inline := filepath.Join(dir, "plain"), filepath.Join(dir, "linear"), filepath.Join(dir, "inline")
	for _, args := range [][]string{
		{"-o", plain, source},
		{"-DLINEAR", "-I" + header, "-o", linear, source, "-L" + lib, "-lgranary", "-Wl,-rpath," + lib},
		{"-DLINEAR", "-DINLINE", "-I" + header, "-o", inline, source, "-L" + lib, "-lgranary", "-Wl,-rpath," + lib},
	} {
		args = append([]string{"-O2", "-std=gnu11", "-fno-builtin", "-pthread"}, args...)
		if output, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("gcc %s: %w\n%s", strings.Join(args, " "), err, output)
		}
	}
	programs := []program{{"linear", linear, ""}, {"linear inline", inline, ""}, {"glibc", plain, ""},
		{"granary", plain, filepath.Join(lib, "libgranary.so")}}
	for _, peer := range []string{"jemalloc", "tcmalloc_minimal", "mimalloc"} {
		files, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/lib" + peer + ".so.?*")
		if len(files) > 0 {
			programs = append(programs, program{peer, plain, files[0]})
		}
	}
	return programs, nil
}

// measure runs the workload once.
func (p program) measure(r results, batches int) error {
	command := exec.Command(p.file, strconv.Itoa(batches))
	if p.preload != "" {
		command.Env = append(os.Environ(), "LD_PRELOAD="+p.preload)
	}
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", p.who, err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(output)), "\n") {
		var what string
		var value result
		if _, err := fmt.Sscan(line, &what, &value.least, &value.median); err != nil {
			return fmt.Errorf("%s prints %q: %w", p.who, line, err)
		}
		who := p.who
		// A frame has one name for all; how the linear allocator ends it is a part of who.
		if how, ok := strings.CutPrefix(what, "frame_"); ok {
			what = "frame of 10,000"
			if strings.HasPrefix(p.who, "linear") {
				who += ", " + strings.ReplaceAll(how, "_", " ")
			}
		}
		r.add(what, who, value)
	}
	return nil
}

func medianOf(values []result, of func(result) float64) float64 {
	var all []float64
	for _, v := range values {
		all = append(all, of(v))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func print(out io.Writer, title string, r results) {
	fmt.Fprintf(out, "## %s\n\n", title)
	for _, what := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(out, "| %s | ns, least | median of batches |\n|---|---|---|\n", what)
		for _, who := range slices.Sorted(maps.Keys(r[what])) {
			values := r[what][who]
			fmt.Fprintf(out, "| %s | %.1f | %.1f |\n", who, medianOf(values, func(v result) float64 { return v.least }),
				medianOf(values, func(v result) float64 { return v.median }))
		}
		fmt.Fprintln(out)
	}
}
