package bench

// Compiling the workloads, and only those whose sources changed.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
)

// compileFlags keep the compiler from removing a malloc whose block it sees freed: what is to be
// measured.
var compileFlags = []string{
	"-O2", "-g", "-Wall", "-Wextra", "-pthread",
	"-fno-builtin-malloc", "-fno-builtin-calloc", "-fno-builtin-realloc", "-fno-builtin-free",
	"-fno-builtin-aligned_alloc", "-fno-builtin-posix_memalign", "-fno-allocation-dce",
}

// measurerName is the file name of the compiled measure.c.
const measurerName = "measure"

// Build compiles measure.c and the workloads among the items into the layout's build folder.
func Build(ctx context.Context, layout Layout, items []Item) error {
	if err := os.MkdirAll(layout.Build, 0o755); err != nil {
		return err
	}
	header := filepath.Join(layout.Source, "workloads", "bench.h")
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	group.Go(func() error {
		source := filepath.Join(layout.Source, "measure", "measure.c")
		return compile(ctx, source, layout.binary(measurerName), nil)
	})
	for _, item := range items {
		if item.IsProgram() {
			continue
		}
		group.Go(func() error {
			return compile(ctx, item.Source, layout.binary(item.Name), []string{header})
		})
	}
	return group.Wait()
}

// compile makes one binary unless the one that is there came from the same bytes and flags. The new
// binary replaces the old one in one step, so that a test and a benchmark may compile at the same
// time.
func compile(ctx context.Context, source, binary string, headers []string) error {
	stamp, err := sourceStamp(source, headers)
	if err != nil {
		return err
	}
	stampFile := binary + ".stamp"
	if old, err := os.ReadFile(stampFile); err == nil && string(old) == stamp {
		if _, err := os.Stat(binary); err == nil {
			return nil
		}
	}
	compiler, standard := "gcc", "-std=gnu11"
	if filepath.Ext(source) == ".cc" {
		compiler, standard = "g++", "-std=gnu++17"
	}
	fresh := fmt.Sprintf("%s.%d.tmp", binary, os.Getpid())
	arguments := append([]string{standard}, compileFlags...)
	arguments = append(arguments, "-o", fresh, source, "-lm")
	output, err := exec.CommandContext(ctx, compiler, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", compiler, source, err, strings.TrimSpace(string(output)))
	}
	if err := os.Rename(fresh, binary); err != nil {
		return err
	}
	return os.WriteFile(stampFile, []byte(stamp), 0o644)
}

func sourceStamp(source string, headers []string) (string, error) {
	hash := sha256.New()
	fmt.Fprintln(hash, compileFlags)
	for _, path := range append([]string{source}, headers...) {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(hash, filepath.Base(path), len(text))
		hash.Write(text)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}
