package sqlite

import (
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"

	"modernc.org/libc"
	_ "modernc.org/sqlite"

	"granary/heap"
)

// granaryHeap is the heap that libc allocates from.
func granaryHeap(t *testing.T) *heap.Heap {
	t.Helper()
	for _, h := range heap.Heaps() {
		if h.Name() == "modernc.org/memory" {
			return h
		}
	}
	t.Fatal("modernc.org/memory was not replaced: no heap of its name is open")
	return nil
}

// TestConnectionsInParallel runs databases of several connections at once, on the one heap, and counts what is left.
func TestConnectionsInParallel(t *testing.T) {
	work := func(id int) error {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			return err
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		if _, err := db.Exec("create table t (id integer primary key, name text, body blob)"); err != nil {
			return err
		}
		for i := range 500 {
			_, err := db.Exec("insert into t (name, body) values (?, ?)", fmt.Sprint("name ", id, i), make([]byte, 10*i))
			if err != nil {
				return err
			}
		}
		var count, bytes int
		err = db.QueryRow("select count(*), sum(length(body)) from t where name like ?", fmt.Sprint("name ", id, "%")).
			Scan(&count, &bytes)
		if err != nil {
			return err
		}
		if want := 10 * 499 * 500 / 2; count != 500 || bytes != want {
			return fmt.Errorf("%d rows of %d bytes, want 500 of %d", count, bytes, want)
		}
		return db.Close()
	}
	if err := work(0); err != nil { // what sqlite keeps for the process
		t.Fatal(err)
	}
	before := libc.MemStat().Allocs
	mallocs := granaryHeap(t).Stats().Mallocs
	var done sync.WaitGroup
	for id := range 4 {
		done.Go(func() {
			if err := work(id); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if after := libc.MemStat().Allocs; after > before+100 {
		t.Errorf("%d blocks are alive, %d before", after, before)
	}
	stats := granaryHeap(t).Stats()
	if stats.Mallocs < mallocs+10_000 {
		t.Errorf("the heap served %d blocks: sqlite has its memory elsewhere", stats.Mallocs-mallocs)
	}
	if int(stats.LiveBlocks) != libc.MemStat().Allocs {
		t.Errorf("libc counts %d blocks, the heap %d", libc.MemStat().Allocs, stats.LiveBlocks)
	}
}

// leakTests are those of leak_test.go, which pass over themselves where nobody counts blocks.
var leakTests = []string{
	"TestOpenV2FailureResourceLeak", "TestMultiStmtNopAllocsLeak", "TestMultiStmtErrorAllocsLeak",
	"TestMultiStmtOrphanedRowsOnError",
}

func TestSqlitesLeakTestsPass(t *testing.T) {
	results := runTests(t, "modernc.org/sqlite", "-run", "^("+strings.Join(leakTests, "|")+")$")
	for _, name := range leakTests {
		if results[name] != "pass" {
			t.Errorf("%s: %q", name, results[name])
		}
	}
}
