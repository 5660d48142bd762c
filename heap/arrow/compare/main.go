//go:build unix && cgo

// Command compare measures Arrow's buffers and record batches on Granary beside arrow-go's own allocators, in one run:
// its Go allocator, which is what programs use unless they say otherwise, its mallocator on the C library, and its
// CheckedAllocator, which is Granary's AssertSize at arrow's cost.
//
//	go run ./compare [-rounds 9] [-csv ROWS.csv] > TABLE.md
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/arrow/memory/mallocator"

	"granary/heap"
	granary "granary/heap/arrow"
	"granary/heap/internal/measure"
)

func main() {
	rounds := flag.Int("rounds", 9, "how often everything is measured; the table has the medians")
	csv := flag.String("csv", "", "file for the rows of all rounds")
	flag.Parse()
	if err := run(*rounds, *csv); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run(rounds int, csv string) error {
	h, err := heap.New()
	if err != nil {
		return err
	}
	peers := []struct {
		name string
		mem  memory.Allocator
	}{
		{"granary", granary.New(h)}, {"Go allocator", memory.NewGoAllocator()}, {"mallocator", mallocator.NewMallocator()},
		{"checked Go", memory.NewCheckedAllocator(memory.NewGoAllocator())},
	}
	var cases []measure.Case
	for _, w := range workloads {
		for _, p := range peers {
			cases = append(cases, measure.Case{Workload: w.name, Peer: p.name, Run: func() (measure.Sample, error) {
				return measure.Timed(w.steps, func() error { return w.run(p.mem, w.steps) })
			}})
		}
	}
	_, err = measure.Compare(os.Stdout, "step", rounds, cases, csv)
	return err
}

// workload makes so many steps with an allocator.
type workload struct {
	name  string
	steps int
	run   func(mem memory.Allocator, steps int) error
}

var workloads = []workload{
	pair("buffer of 64 B", 64, 100_000), pair("buffer of 1 KiB", 1<<10, 100_000),
	pair("buffer of 4 KiB", 4<<10, 50_000), pair("buffer of 64 KiB", 64<<10, 5000),
	pair("buffer of 1 MiB", 1<<20, 200),
	{"batch of 1 row", 10_000, batches(1)}, {"batch of 10 rows", 10_000, batches(10)},
	{"batch of 100 rows", 5000, batches(100)}, {"batch of 1000 rows", 1000, batches(1000)},
	{"batch of 100,000 rows", 10, batches(100_000)},
	{"batch of 1000 rows, bulk", 5000, bulk(1000)}, {"batch of 10,000 rows, bulk", 500, bulk(10_000)},
	{"batch of 10 rows, 1000 alive", 5000, alive(10, 1000)},
	{"batch of 1000 rows, bulk, 200 alive", 2000, aliveBulk(1000, 200)},
	{"batch of 10 rows, 2 goroutines", 10_000, parallel(2, batches(10))},
	{"batch of 1000 rows, bulk, 2 goroutines", 5000, parallel(2, bulk(1000))},
}

// pair is a buffer that is allocated, touched and released.
func pair(name string, size, steps int) workload {
	return workload{name, steps, func(mem memory.Allocator, steps int) error {
		for range steps {
			b := mem.Allocate(size)
			b[0] = 1
			mem.Free(b)
		}
		return nil
	}}
}

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "name", Type: arrow.BinaryTypes.String},
}, nil)

// batches builds record batches value by value and releases them.
func batches(rows int) func(memory.Allocator, int) error {
	return func(mem memory.Allocator, steps int) error {
		b := array.NewRecordBuilder(mem, schema)
		defer b.Release()
		for range steps {
			byValue(b, rows).Release()
		}
		return nil
	}
}

func byValue(b *array.RecordBuilder, rows int) arrow.RecordBatch {
	id, price := b.Field(0).(*array.Int64Builder), b.Field(1).(*array.Float64Builder)
	name := b.Field(2).(*array.StringBuilder)
	for i := range rows {
		id.Append(int64(i))
		price.Append(float64(i))
		name.Append("the name of a row")
	}
	return b.NewRecordBatch()
}

var (
	ids    = make([]int64, 100_000)
	prices = make([]float64, 100_000)
	names  = func() []string {
		all := make([]string, 100_000)
		for i := range all {
			all[i] = "the name of a row"
		}
		return all
	}()
)

// bulk builds them column by column, as readers of files do.
func bulk(rows int) func(memory.Allocator, int) error {
	return func(mem memory.Allocator, steps int) error {
		b := array.NewRecordBuilder(mem, schema)
		defer b.Release()
		for range steps {
			byColumn(b, rows).Release()
		}
		return nil
	}
}

func byColumn(b *array.RecordBuilder, rows int) arrow.RecordBatch {
	b.Field(0).(*array.Int64Builder).AppendValues(ids[:rows], nil)
	b.Field(1).(*array.Float64Builder).AppendValues(prices[:rows], nil)
	b.Field(2).(*array.StringBuilder).AppendValues(names[:rows], nil)
	return b.NewRecordBatch()
}

func alive(rows, count int) func(memory.Allocator, int) error {
	return replacing(count, func(b *array.RecordBuilder) arrow.RecordBatch { return byValue(b, rows) })
}

func aliveBulk(rows, count int) func(memory.Allocator, int) error {
	return replacing(count, func(b *array.RecordBuilder) arrow.RecordBatch { return byColumn(b, rows) })
}

// replacing keeps so many batches and replaces them in a random order.
func replacing(count int, build func(*array.RecordBuilder) arrow.RecordBatch) func(memory.Allocator, int) error {
	return func(mem memory.Allocator, steps int) error {
		b := array.NewRecordBuilder(mem, schema)
		defer b.Release()
		held := make([]arrow.RecordBatch, count)
		random := uint32(1)
		for range steps {
			random = random*1664525 + 1013904223
			at := &held[uint64(random)*uint64(count)>>32]
			if *at != nil {
				(*at).Release()
			}
			*at = build(b)
		}
		for _, batch := range held {
			if batch != nil {
				batch.Release()
			}
		}
		return nil
	}
}

// parallel shares the steps among goroutines.
func parallel(goroutines int, run func(memory.Allocator, int) error) func(memory.Allocator, int) error {
	return func(mem memory.Allocator, steps int) error {
		errs := make([]error, goroutines)
		var done sync.WaitGroup
		for i := range errs {
			done.Go(func() { errs[i] = run(mem, steps/goroutines) })
		}
		done.Wait()
		return errors.Join(errs...)
	}
}
