//go:build unix

// Command compare measures the linear memories of WebAssembly modules on Granary beside wazero's own, which are slices
// of the Go heap that grow by copying.
//
//	go run ./compare [-rounds 7] [-csv ROWS.csv] > TABLE.md
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"granary/heap"
	"granary/heap/internal/measure"
	granary "granary/heap/wazero"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often everything is measured; the table has the medians")
	csv := flag.String("csv", "", "file for the rows of all rounds")
	flag.Parse()
	if err := run(*rounds, *csv); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// module is one whose memory has from 1 to 65536 pages, and exports itself as "m".
var module = []byte("\x00asm\x01\x00\x00\x00" + "\x05\x06\x01\x01\x01\x80\x80\x04" + "\x07\x05\x01\x01m\x02\x00")

const pageBytes = 64 << 10

func run(rounds int, csv string) error {
	h, err := heap.New()
	if err != nil {
		return err
	}
	peers := []struct {
		name string
		ctx  context.Context
	}{
		{"granary", experimental.WithMemoryAllocator(context.Background(), granary.New(h))},
		{"wazero", context.Background()},
	}
	workloads := []struct {
		name  string
		steps int
		run   func(api.Memory) error
	}{
		{"instantiate and close", 2000, func(api.Memory) error { return nil }},
		{"grow to 16 MiB by pages, touch each", 5, func(m api.Memory) error { return growTo(m, 256, 1) }},
		{"grow to 256 MiB by MiB, touch each page", 1, func(m api.Memory) error { return growTo(m, 4096, 16) }},
		{"grow to 256 MiB at once, touch no page", 2, func(m api.Memory) error { return grow(m, 4095) }},
	}
	var cases []measure.Case
	for _, w := range workloads {
		for _, p := range peers {
			cases = append(cases, measure.Case{Workload: w.name, Peer: p.name, Run: func() (measure.Sample, error) {
				return measure.Timed(w.steps, func() error { return instances(p.ctx, w.steps, w.run) })
			}})
		}
	}
	_, err = measure.Compare(os.Stdout, "module", rounds, cases, csv)
	return err
}

// instances instantiates the module so often, one after the other.
func instances(ctx context.Context, count int, do func(api.Memory) error) error {
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer runtime.Close(ctx)
	compiled, err := runtime.CompileModule(ctx, module)
	if err != nil {
		return err
	}
	for range count {
		m, err := runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			return err
		}
		if err := do(m.ExportedMemory("m")); err != nil {
			return err
		}
		if err := m.Close(ctx); err != nil {
			return err
		}
	}
	return nil
}

func grow(m api.Memory, pages uint32) error {
	if _, ok := m.Grow(pages); !ok {
		return fmt.Errorf("the memory did not grow by %d pages", pages)
	}
	return nil
}

// growTo grows a memory of one page to about so many, and writes to each page of 4 KiB as a program would.
func growTo(m api.Memory, pages, by uint32) error {
	for at := uint32(1); at+by <= pages; at += by {
		if err := grow(m, by); err != nil {
			return err
		}
		for offset := at * pageBytes; offset < (at+by)*pageBytes; offset += 4096 {
			if !m.WriteByte(offset, 1) {
				return fmt.Errorf("no byte %d", offset)
			}
		}
	}
	return nil
}
