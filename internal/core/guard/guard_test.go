package guard

import (
	"math/rand"
	"testing"
	"unsafe"

	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// The heap and the guard under test hold no Go pointer and are written through addresses: they lie
// in memory of their own.
type fixture struct {
	*Guard
	heap    *heap.Heap
	scratch sys.Addr // a page outside of the Go heap
	found   []Finding
}

func newFixture(t *testing.T, patterns bool) *fixture {
	t.Helper()
	guardAt := sys.AlignUp(unsafe.Sizeof(heap.Heap{}), 64)
	noCacheAt := guardAt + sys.AlignUp(unsafe.Sizeof(Guard{}), 64)
	scratchAt := sys.AlignUp(noCacheAt+heap.NoCacheBytes, sys.PageBytes())
	bytes := scratchAt + sys.PageBytes()
	memory := sys.Reserve(bytes)
	if memory == 0 || !sys.Commit(memory, bytes) {
		t.Fatal("no memory")
	}
	h := (*heap.Heap)(memory.Pointer())
	g := (*Guard)((memory + sys.Addr(guardAt)).Pointer())
	noCache := heap.Cache(memory + sys.Addr(noCacheAt))
	if !h.Init(256<<20, noCache, heap.ModeGuard|heap.ModeKeepSpans, 0) {
		t.Fatal("no range")
	}
	g.Init(h, memory, patterns)
	f := &fixture{Guard: g, heap: h, scratch: memory + sys.Addr(scratchAt)}
	ReportHandler = func(found *Finding) { f.found = append(f.found, *found) }
	t.Cleanup(func() {
		ReportHandler = nil
		for g.flushLarge(0) {
		}
		h.Destroy()
		sys.Release(g.shadow, g.granules*recordsBytes)
		if g.stacks.region != 0 {
			sys.Release(g.stacks.region, stackRegionBytes)
		}
		sys.Release(memory, bytes)
	})
	return f
}

func (f *fixture) malloc(t *testing.T, size uintptr) sys.Addr {
	t.Helper()
	block := f.Malloc(size, 16, 0)
	if block == 0 {
		t.Fatalf("no block of %d bytes", size)
	}
	return block
}

// one takes the only finding.
func (f *fixture) one(t *testing.T, what uint32) Finding {
	t.Helper()
	if len(f.found) != 1 || f.found[0].What != what {
		t.Fatalf("found %+v, expected one of kind %d", f.found, what)
	}
	found := f.found[0]
	f.found = nil
	return found
}

func (f *fixture) none(t *testing.T) {
	t.Helper()
	if len(f.found) != 0 {
		t.Fatalf("found %+v, expected nothing", f.found)
	}
	if wrong := f.Check(); wrong != "" {
		t.Fatal(wrong)
	}
	if wrong := f.heap.Check(); wrong != "" {
		t.Fatal(wrong)
	}
}

var sizes = []uintptr{0, 1, 15, 16, 31, 32, 64, 1000, 1024, 2048, 30000, 32767, 32768, 100000,
	3 << 20}

func TestNewBlocksAreFilledAndWatchedBehindTheirEnd(t *testing.T) {
	f := newFixture(t, true)
	for _, size := range sizes {
		block := f.malloc(t, size)
		if at := mismatch(block, filled(size), patternFresh); at != filled(size) {
			t.Errorf("%d bytes: byte %d is not filled", size, at)
		}
		if f.UsableSize(block, 0) != size {
			t.Errorf("%d bytes: %d are usable", size, f.UsableSize(block, 0))
		}
		*byteAt(block + sys.Addr(size)) = 0
		f.Free(block, 7)
		found := f.one(t, FoundPastEnd)
		if found.Offset != size || found.Asked != size || found.NowStack != 7 {
			t.Errorf("%d bytes: found %+v", size, found)
		}
		*byteAt(block + sys.Addr(size)) = patternCanary
		f.Free(block, 0)
		f.none(t)
	}
}

func TestFreedBlocksAreFilledAndNotFreedAgain(t *testing.T) {
	f := newFixture(t, true)
	for _, size := range sizes {
		block := f.Malloc(size, 16, 0)
		f.Free(block, 0)
		f.none(t)
		if at := mismatch(block, filled(size), patternFreed); at != filled(size) {
			t.Errorf("%d bytes: byte %d is not filled", size, at)
		}
		f.Free(block, 0)
		if found := f.one(t, FoundFreedTwice); found.Asked != size || found.Freed != 1 {
			t.Errorf("%d bytes: found %+v", size, found)
		}
		if f.Realloc(block, size+1, 0) != 0 {
			t.Errorf("%d bytes: a freed block was resized", size)
		}
		f.one(t, FoundFreedTwice)
		f.none(t)
	}
}

func TestPointersThatAreNoBlocksAreReported(t *testing.T) {
	f := newFixture(t, true)
	small, large := f.malloc(t, 60), f.malloc(t, 50000)
	for _, inside := range []sys.Addr{small + 16, small + 3, large + 16, large + 49999} {
		f.Free(inside, 0)
		found := f.one(t, FoundInside)
		if found.Block != inside || found.Start != small && found.Start != large {
			t.Errorf("found %+v", found)
		}
	}
	// A block of the span that was never handed out, the heap's own memory, and no span at all.
	for _, wild := range []sys.Addr{small + 640, f.heap.Base + 64, f.heap.Base + 200<<20} {
		f.Free(wild, 0)
		if found := f.one(t, FoundNoBlock); found.Block != wild {
			t.Errorf("found %+v", found)
		}
	}
	f.none(t)
}

func TestWritesToFreedBlocksAreFoundByLaterCalls(t *testing.T) {
	f := newFixture(t, true)
	block := f.malloc(t, 60)
	f.Free(block, 0)
	*byteAt(block + 8) = 'x'
	for i := 0; i < 10 && len(f.found) == 0; i++ {
		f.malloc(t, 20)
	}
	if found := f.one(t, FoundWrittenFreed); found.Block != block || found.Offset != 8 {
		t.Errorf("found %+v", found)
	}
	*byteAt(block + 8) = patternFreed
	f.none(t)
}

func TestWritesToBlocksInTheirSpanAreFoundWhenTheyAreReused(t *testing.T) {
	f := newFixture(t, true)
	block := f.malloc(t, 60)
	f.Free(block, 0)
	var finding Finding
	if !f.popLocked(&finding) {
		t.Fatal("the block stays in the quarantine")
	}
	(block + 8).SetWord(0)
	if f.malloc(t, 60) != block {
		t.Fatal("the block is not used again")
	}
	if found := f.one(t, FoundWrittenFreed); found.Offset != 8 {
		t.Errorf("found %+v", found)
	}
}

func TestQuarantineIsBoundedAndFirstInFirstOut(t *testing.T) {
	f := newFixture(t, true)
	blocks := make([]sys.Addr, quarantineMost+10)
	for i := range blocks {
		blocks[i] = f.malloc(t, 40)
	}
	for _, block := range blocks {
		f.Free(block, 0)
	}
	f.none(t)
	if f.quarantine.count != quarantineMost || f.blockOf(f.quarantine.head) != blocks[10] {
		t.Errorf("%d blocks wait", f.quarantine.count)
	}
	for i := 0; i < 2000; i++ {
		f.Free(f.malloc(t, 30000), 0)
	}
	f.none(t)
	if f.quarantine.bytes > quarantineBytesMost {
		t.Errorf("%d bytes wait", f.quarantine.bytes)
	}
}

func TestWrongSizesAreReported(t *testing.T) {
	f := newFixture(t, true)
	for _, size := range []uintptr{64, 100000} {
		block := f.malloc(t, size)
		f.CheckSize(block, size, 0)
		f.none(t)
		f.CheckSize(block, size+1, 0)
		if found := f.one(t, FoundWrongSize); found.Given != size+1 || found.Asked != size {
			t.Errorf("found %+v", found)
		}
	}
}

func TestAlignedBlocksAreAligned(t *testing.T) {
	f := newFixture(t, true)
	for alignment := uintptr(16); alignment <= 4096; alignment *= 2 {
		for _, size := range []uintptr{1, 100, 4096, 40000} {
			block := f.Malloc(size, alignment, 0)
			if block == 0 || uintptr(block)&(alignment-1) != 0 {
				t.Errorf("%d bytes at a multiple of %d: %#x", size, alignment, block)
			}
			f.Free(block, 0)
		}
	}
	f.none(t)
}

func TestRequestsBeyondTheAddressSpaceFail(t *testing.T) {
	f := newFixture(t, true)
	block := f.malloc(t, 10)
	for _, size := range []uintptr{^uintptr(0), ^uintptr(0) - 8, mostBytes + 1} {
		if f.Malloc(size, 16, 0) != 0 || f.Realloc(block, size, 0) != 0 {
			t.Errorf("%d bytes were handed out", size)
		}
	}
	f.none(t)
}

func TestBlocksThatAreOnlyCountedAreReusedAtOnce(t *testing.T) {
	f := newFixture(t, false)
	for _, size := range sizes {
		block := f.malloc(t, size)
		if f.UsableSize(block, 0) != size {
			t.Errorf("%d bytes: %d are usable", size, f.UsableSize(block, 0))
		}
		f.Free(block, 0)
		f.none(t)
		if f.quarantine.count != 0 || f.large.queueCount != 0 {
			t.Errorf("%d bytes: the block waits", size)
		}
	}
	block := f.malloc(t, 64)
	f.Free(block, 0)
	f.Free(block, 0)
	f.one(t, FoundFreedTwice)
}

// A freed block whose lock a signal handler cannot have is freed by the next call.
func TestDeferredBlocksAreFreedByTheNextCall(t *testing.T) {
	f := newFixture(t, true)
	for i := 0; i < deferredMost+5; i++ {
		f.deferFree(f.malloc(t, 100))
	}
	// Each malloc above that found some freed them first.
	f.malloc(t, 1)
	f.none(t)
	if f.deferredCount != 0 || f.deferredLost != 0 {
		t.Errorf("%d wait, %d are lost", f.deferredCount, f.deferredLost)
	}
	if f.quarantine.count != deferredMost+5 {
		t.Errorf("%d blocks are freed", f.quarantine.count)
	}
}

type live struct {
	block sys.Addr
	size  uintptr
	seed  byte
}

// Any sequence of operations leaves contents alone and finds nothing.
func TestCorrectProgramsAreNeverReported(t *testing.T) {
	for _, patterns := range []bool{true, false} {
		f := newFixture(t, patterns)
		random := rand.New(rand.NewSource(3))
		var blocks []live
		for step := 0; step < 20000; step++ {
			size := uintptr(random.Intn(1 << uint(random.Intn(17))))
			switch random.Intn(3) {
			case 0:
				block := live{f.malloc(t, size), size, byte(step)}
				fill(block.block, size, block.seed)
				blocks = append(blocks, block)
			case 1:
				if len(blocks) > 0 {
					at := random.Intn(len(blocks))
					resize(t, f, &blocks[at], size+1)
				}
			default:
				if len(blocks) > 0 {
					at := random.Intn(len(blocks))
					checkContent(t, blocks[at], blocks[at].size)
					f.Free(blocks[at].block, 0)
					blocks[at] = blocks[len(blocks)-1]
					blocks = blocks[:len(blocks)-1]
				}
			}
			if step%1000 == 0 {
				f.none(t)
			}
		}
		var finding Finding
		if patterns && !f.CheckAll(&finding) {
			t.Errorf("at the end: %+v", finding)
		}
		checkLeaks(t, f, blocks)
		f.none(t)
	}
}

func resize(t *testing.T, f *fixture, b *live, size uintptr) {
	t.Helper()
	b.block = f.Realloc(b.block, size, 0)
	kept := b.size
	if kept > size {
		kept = size
	}
	checkContent(t, *b, kept)
	fill(b.block, size, b.seed)
	b.size = size
}

func checkContent(t *testing.T, b live, bytes uintptr) {
	t.Helper()
	if at := mismatch(b.block, bytes, b.seed); at != bytes {
		t.Fatalf("block of %d bytes changed at %d", b.size, at)
	}
}

func checkLeaks(t *testing.T, f *fixture, blocks []live) {
	t.Helper()
	var totals LeakTotals
	var bytes uint64
	for _, block := range blocks {
		bytes += uint64(block.size)
	}
	if !f.FindLeaks(0, 0, &totals) || totals.Blocks != uint64(len(blocks)) || totals.Bytes != bytes {
		t.Errorf("leaks: %+v, expected %d blocks, %d bytes", totals, len(blocks), bytes)
	}
	if found, sum := f.StackLeaks(0); found != totals.Blocks || sum != totals.Bytes {
		t.Errorf("without a stack: %d blocks, %d bytes", found, sum)
	}
}
