package wazero

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"granary/heap"
)

const pageBytes = 64 << 10

func mustNew(t testing.TB, options ...heap.Option) *heap.Heap {
	t.Helper()
	h, err := heap.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if got := h.Stats().RegionBytes; got != 0 {
			t.Errorf("%d bytes of memories are left", got)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// mustRun instantiates a module whose memory is on the heap; it is closed with the test.
func mustRun(t *testing.T, h *heap.Heap, module []byte) api.Module {
	t.Helper()
	ctx := experimental.WithMemoryAllocator(context.Background(), New(h))
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesThreads)
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	t.Cleanup(func() {
		if err := runtime.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	m, err := runtime.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func call(t *testing.T, m api.Module, function string, arguments ...uint64) int32 {
	t.Helper()
	results, err := m.ExportedFunction(function).Call(context.Background(), arguments...)
	if err != nil {
		t.Fatal(err)
	}
	if len(results) == 0 {
		return 0
	}
	return int32(results[0])
}

func TestAMemoryGrowsInPlace(t *testing.T) {
	for _, shared := range []bool{false, true} {
		t.Run(fmt.Sprint("shared ", shared), func(t *testing.T) {
			h := mustNew(t)
			m := mustRun(t, h, growModule(1, 1000, shared))
			last := uint64(pageBytes - 1)
			view, ok := m.Memory().Read(0, pageBytes)
			if !ok {
				t.Fatal("the memory has no first page")
			}
			for pages := int32(1); pages < 1000; {
				call(t, m, "store", last, uint64(pages%251))
				if was := call(t, m, "grow", uint64(pages)); was != pages {
					if int64(pages)*2 <= 1000 {
						t.Fatalf("grow from %d pages returned %d", pages, was)
					}
					break // beyond its maximum
				}
				if got := call(t, m, "load", last); got != pages%251 {
					t.Fatalf("after it grew from %d pages a byte is %d", pages, got)
				}
				pages *= 2
				last = uint64(pages)*pageBytes - 1
				if got := call(t, m, "load", last); got != 0 {
					t.Fatalf("the last byte of %d pages is %d, not zero", pages, got)
				}
				if got := h.Stats().RegionBytes; got != int64(pages)*pageBytes {
					t.Fatalf("%d pages are %d bytes of the heap", pages, got)
				}
			}
			call(t, m, "store", 5, 99)
			if view[5] != 99 {
				t.Error("the memory moved: what was read before it grew is no view of it any more")
			}
			_, err := m.ExportedFunction("load").Call(context.Background(), 1000*pageBytes)
			if err == nil || !strings.Contains(err.Error(), "out of bounds") {
				t.Errorf("beyond the end: %v", err)
			}
		})
	}
}

func TestTheHeapsLimitRefusesGrowth(t *testing.T) {
	h := mustNew(t, heap.WithLimit(10*pageBytes))
	m := mustRun(t, h, growModule(2, 65536, false)) // 4 GiB at most
	if was := call(t, m, "grow", 7); was != 2 {
		t.Errorf("grow to 9 pages of 10 returned %d", was)
	}
	if was := call(t, m, "grow", 2); was != -1 {
		t.Errorf("grow to 11 pages of 10 returned %d", was)
	}
	if was := call(t, m, "grow", 1); was != 9 {
		t.Errorf("grow to 10 pages of 10 returned %d", was)
	}
	if got := h.Stats().LimitFailures; got != 1 {
		t.Errorf("%d requests were refused", got)
	}
}

func TestAModuleThatCannotBeginSaysWhy(t *testing.T) {
	h := mustNew(t, heap.WithLimit(pageBytes))
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, heap.ErrLimit) {
			t.Errorf("two pages of one: %v", err)
		}
	}()
	mustRun(t, h, growModule(2, 10, false))
}

func TestMemoriesOfClosedModulesServeOthersAsZero(t *testing.T) {
	h := mustNew(t)
	ctx := experimental.WithMemoryAllocator(context.Background(), New(h))
	runtime := wazero.NewRuntime(ctx)
	defer runtime.Close(ctx)
	compiled, err := runtime.CompileModule(ctx, growModule(4, 65536, false))
	if err != nil {
		t.Fatal(err)
	}
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for range 100 {
				m, err := runtime.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(""))
				if err != nil {
					t.Error(err)
					return
				}
				b, _ := m.Memory().Read(0, 4*pageBytes)
				if n := bytes.Count(b, []byte{0}); n != len(b) {
					t.Errorf("%d bytes of a new memory are not zero", len(b)-n)
				}
				copy(b, bytes.Repeat([]byte{1}, len(b)))
				if err := m.Close(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
}

// buildGuest compiles testdata/guest to WebAssembly.
func buildGuest(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guest.wasm")
	command := exec.Command("go", "build", "-o", path, "main.go")
	command.Dir = filepath.Join("testdata", "guest")
	command.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GO111MODULE=off")
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build for wasip1: %v\n%s", err, text)
	}
	module, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

// TestAGoProgramRunsAsWebAssembly, with its own collector, in a memory of the heap and in one of wazero's.
func TestAGoProgramRunsAsWebAssembly(t *testing.T) {
	guest := buildGuest(t)
	h := mustNew(t)
	run := func(ctx context.Context) string {
		runtime := wazero.NewRuntime(ctx)
		defer runtime.Close(ctx)
		wasi_snapshot_preview1.MustInstantiate(ctx, runtime)
		var output bytes.Buffer
		config := wazero.NewModuleConfig().WithArgs("guest", "20000").WithStdout(&output).WithStderr(&output)
		m, err := runtime.InstantiateWithConfig(ctx, guest, config)
		if err != nil {
			t.Fatalf("%v\n%s", err, &output)
		}
		if size := m.Memory().Size(); size < 4<<20 {
			t.Errorf("it had only %d bytes of memory", size)
		}
		return output.String()
	}
	want := run(context.Background())
	got := run(experimental.WithMemoryAllocator(context.Background(), New(h)))
	if got != want || got == "" {
		t.Errorf("it printed %q, and with wazero's memory %q", got, want)
	}
}
