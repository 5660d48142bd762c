package arrow

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var schema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "price", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "name", Type: arrow.BinaryTypes.String},
	{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String)},
	{Name: "code", Type: &arrow.DictionaryType{
		IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String,
	}},
}, nil)

// buildRecord makes a record batch with columns of all kinds of buffers.
func buildRecord(t *testing.T, mem memory.Allocator, rows int) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(mem, schema)
	defer b.Release()
	tags := b.Field(3).(*array.ListBuilder)
	for i := range rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if i%3 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.Float64Builder).Append(float64(i) / 4)
		}
		b.Field(2).(*array.StringBuilder).Append(fmt.Sprint("name ", i))
		tags.Append(true)
		for tag := range i % 4 {
			tags.ValueBuilder().(*array.StringBuilder).Append(fmt.Sprint("tag ", tag))
		}
		if err := b.Field(4).(*array.BinaryDictionaryBuilder).AppendString(fmt.Sprint("code ", i%10)); err != nil {
			t.Fatal(err)
		}
	}
	return b.NewRecordBatch()
}

// TestRecordsAreThoseOfTheGoAllocator builds them, sends them through a stream, and takes slices, all on Granary.
func TestRecordsAreThoseOfTheGoAllocator(t *testing.T) {
	a := mustNew(t)
	var done sync.WaitGroup
	for _, rows := range []int{0, 1, 10, 1000, 20_000} {
		done.Go(func() {
			want := buildRecord(t, memory.NewGoAllocator(), rows)
			got := buildRecord(t, a, rows)
			defer got.Release()
			if !array.RecordEqual(want, got) {
				t.Errorf("%d rows differ", rows)
			}
			var stream bytes.Buffer
			w := ipc.NewWriter(&stream, ipc.WithSchema(schema), ipc.WithAllocator(a))
			if err := w.Write(got); err != nil {
				t.Error(err)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			r, err := ipc.NewReader(&stream, ipc.WithAllocator(a))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Release()
			if !r.Next() || !array.RecordEqual(want, r.RecordBatch()) {
				t.Errorf("%d rows differ after they went through a stream: %v", rows, r.Err())
			}
			part := got.NewSlice(int64(rows/4), int64(rows/2))
			defer part.Release()
			if !array.RecordEqual(want.NewSlice(int64(rows/4), int64(rows/2)), part) {
				t.Errorf("a slice of %d rows differs", rows)
			}
		})
	}
	done.Wait()
	a.AssertSize(t, 0)
	if mallocs := a.heap.Stats().Mallocs; mallocs < 50 {
		t.Errorf("the heap served %d blocks: Arrow has its memory elsewhere", mallocs)
	}
}
