package gc

import (
	"math/rand"
	"testing"
	"unsafe"

	"granary/internal/core/sys"
)

// newTableHeap is a heap of which only the space is ready: all that tables need.
func newTableHeap(t *testing.T, rangeBytes uintptr) *Heap {
	t.Helper()
	bytes := sys.AlignUp(unsafe.Sizeof(Heap{}), sys.PageBytes())
	at := sys.Reserve(bytes)
	if at == 0 || !sys.Commit(at, bytes) {
		t.Fatal("no memory for a heap")
	}
	h := (*Heap)(at.Pointer())
	if !h.Space.Init(rangeBytes, 64) {
		t.Fatal("no address space")
	}
	t.Cleanup(func() {
		h.Space.Destroy()
		sys.Release(at, bytes)
	})
	return h
}

const leastRange = 16 << 20

func TestTableIsAMapWhateverIsPutInAndTakenOut(t *testing.T) {
	for _, shift := range []uint32{4, 5} {
		h := newTableHeap(t, leastRange)
		random := rand.New(rand.NewSource(int64(shift)))
		var table table
		model := map[uintptr]uintptr{}
		// It grows to some 40,000 entries and shrinks again, so that it passes all ways to lie in memory.
		for step := range 160_000 {
			key := uintptr(random.Intn(60_000)+1) * 16
			e := table.find(key)
			value, known := model[key]
			if known != (e != 0) || known && (e+8).Word() != value {
				t.Fatalf("step %d: key %#x is known: %v, found: %v", step, key, known, e != 0)
			}
			grow := step < 80_000
			switch {
			case !known && (grow || random.Intn(8) == 0):
				e = h.insertEntry(&table, shift, key)
				if e == 0 || (e+8).Word() != 0 {
					t.Fatalf("step %d: no fresh entry", step)
				}
				model[key] = uintptr(step)
				(e + 8).SetWord(uintptr(step))
			case known && !grow:
				table.remove(e)
				delete(model, key)
				h.trimTable(&table)
			}
			if int(table.count) != len(model) {
				t.Fatalf("step %d: %d entries instead of %d", step, table.count, len(model))
			}
			if step%4000 == 0 && !table.checkTable() {
				t.Fatalf("step %d: the equations of the table do not hold", step)
			}
		}
		for key := range model {
			table.remove(table.find(key))
			h.trimTable(&table)
		}
		if table.entries != 0 || table.run != 0 {
			t.Errorf("an empty table keeps %d bytes", table.bytes())
		}
		checkAllGiven(t, h)
	}
}

// checkAllGiven checks that no run of the space is in use, but for the space's own.
func checkAllGiven(t *testing.T, h *Heap) {
	t.Helper()
	if used := h.UsedBytes(); used != 0 {
		t.Errorf("%d bytes of the space are still in use", used)
	}
}

func TestTableWalkThatRemovesMeetsEveryEntry(t *testing.T) {
	h := newTableHeap(t, leastRange)
	random := rand.New(rand.NewSource(3))
	for range 50 {
		var table table
		model := map[uintptr]bool{}
		for range 180 {
			key := uintptr(random.Intn(1<<20)+1) * 8
			if !model[key] {
				h.insertEntry(&table, 4, key)
			}
			model[key] = true
		}
		for slot := uintptr(0); slot < table.slots(); {
			key := table.entry(slot).Word()
			if key == 0 || key%16 == 0 {
				slot++
				continue
			}
			table.remove(table.entry(slot))
			delete(model, key)
		}
		for key := range model {
			if key%16 != 0 || table.find(key) == 0 {
				t.Fatalf("key %#x: found %v", key, table.find(key) != 0)
			}
		}
		if !table.checkTable() || int(table.count) != len(model) {
			t.Fatal("the equations of the table do not hold")
		}
		h.Give(table.run)
	}
}

func TestTableWithoutMemoryStaysAsItIs(t *testing.T) {
	h := newTableHeap(t, leastRange)
	var table table
	for key := uintptr(8); key <= 8*1000; key += 8 {
		if h.insertEntry(&table, 4, key) == 0 {
			t.Fatal("no memory")
		}
	}
	for h.takeRun(1) != 0 {
	}
	refused := uintptr(0)
	for key := uintptr(8 * 1001); key <= 8*100_000; key += 8 {
		if h.insertEntry(&table, 4, key) == 0 {
			refused = key
			break
		}
	}
	if refused == 0 {
		t.Fatal("the table grew without memory")
	}
	if !table.checkTable() {
		t.Error("the equations of the table do not hold")
	}
	for key := uintptr(8); key < refused; key += 8 {
		if table.find(key) == 0 {
			t.Fatalf("key %d is lost", key)
		}
	}
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	h := newTableHeap(t, leastRange)
	q := &h.final.queue
	random := rand.New(rand.NewSource(5))
	in, out := uintptr(1), uintptr(1)
	for range 60_000 {
		if random.Intn(5) != 0 {
			h.push(q).SetWord(in)
			in++
		} else if q.length() != 0 {
			if got := q.pop().Word(); got != out {
				t.Fatalf("got %d instead of %d", got, out)
			}
			out++
		}
	}
	for ; q.length() != 0; out++ {
		if got := q.pop().Word(); got != out {
			t.Fatalf("got %d instead of %d", got, out)
		}
	}
	if in != out {
		t.Fatalf("%d went in, %d came out", in, out)
	}
	h.trimQueue()
	checkAllGiven(t, h)
}

// wordsOf writes a bitmap into memory off the heap, as clients' are.
func wordsOf(h *Heap, bits ...int) sys.Addr {
	at := h.Addr(h.takeRun(1))
	for _, bit := range bits {
		word := at + sys.Addr(bit/64*8)
		word.SetWord(word.Word() | 1<<(bit%64))
	}
	return at
}

func TestDescriptorsSayWhichWordsAreAddresses(t *testing.T) {
	h := newTableHeap(t, leastRange)
	for _, c := range []struct {
		bits int
		set  []int
		want uintptr
	}{
		{10, nil, 0},
		{3, []int{0, 1, 2}, 24},
		{9, []int{0, 1}, 16},
		{1, []int{0}, 8},
		{2, []int{1}, 1<<62 | formBitmap},
		{40, []int{0, 2}, 1<<63 | 1<<61 | formBitmap},
		{62, []int{61}, 1<<2 | formBitmap},
	} {
		if got := h.MakeDescriptor(wordsOf(h, c.set...), uintptr(c.bits)); got != c.want {
			t.Errorf("%v of %d words: %#x, want %#x", c.set, c.bits, got, c.want)
		}
	}
	all := make([]int, 200)
	for i := range all {
		all[i] = i
	}
	if got := h.MakeDescriptor(wordsOf(h, all...), 200); got != 1600 {
		t.Errorf("200 addresses: %#x", got)
	}
}

func TestLongBitmapsAreLayouts(t *testing.T) {
	h := newTableHeap(t, leastRange)
	random := rand.New(rand.NewSource(7))
	type made struct {
		descriptor, bits, period uintptr
		set                      map[int]bool
	}
	var all []made
	for i := range 3000 {
		bits := 63 + random.Intn(300)
		set := map[int]bool{bits - 1: true}
		list := []int{bits - 1}
		for range random.Intn(20) {
			bit := 1 + random.Intn(bits-1)
			set[bit] = true
			list = append(list, bit)
		}
		at := h.takeRun(1)
		bitmap := h.Addr(at)
		sys.Clear(bitmap, 64)
		for _, bit := range list {
			word := bitmap + sys.Addr(bit/64*8)
			word.SetWord(word.Word() | 1<<(bit%64))
		}
		m := made{bits: uintptr(bits), set: set}
		if i%2 == 0 {
			m.descriptor = h.MakeDescriptor(bitmap, uintptr(bits+random.Intn(5)))
		} else {
			m.period = uintptr(bits + random.Intn(9))
			ok := false
			if m.descriptor, ok = h.MakeArrayDescriptor(bitmap, m.period); !ok {
				t.Fatal("no array descriptor")
			}
		}
		if i < 20 { // the same again is the same
			if again := h.MakeDescriptor(bitmap, uintptr(bits)); m.period == 0 && again != m.descriptor {
				t.Errorf("the same bitmap has the descriptors %#x and %#x", m.descriptor, again)
			}
		}
		h.Give(at)
		all = append(all, m)
	}
	for _, m := range all {
		if m.descriptor&0xff != procedureLayout<<procedureShift|formProcedure {
			t.Fatalf("descriptor %#x is no layout", m.descriptor)
		}
		at := sys.Addr(m.descriptor >> environmentShift)
		if (at+layoutBits).Word() != m.bits || (at+layoutStride).Word() != m.period {
			t.Fatalf("layout of %d bits, stride %d; want %d, %d", (at + layoutBits).Word(),
				(at + layoutStride).Word(), m.bits, m.period)
		}
		for i := range m.bits {
			if (bitAt(at+layoutBitmap, i) == 1) != m.set[int(i)] {
				t.Fatalf("bit %d of a layout of %d is wrong", i, m.bits)
			}
		}
	}
	for h.takeRun(1) != 0 {
	}
	bitmap := h.Base + 4096 // tables of the space that this test does not use
	sys.Clear(bitmap, 4096)
	(bitmap + 4000).SetWord(1)
	for i := uintptr(0); i < 400; i++ {
		(bitmap + 8*sys.Addr(i)).SetWord(i<<1 | 1)
		if got := h.MakeDescriptor(bitmap, 4096*8); got&formMask == formLength {
			if got != (4000*8+1)*8 {
				t.Errorf("without memory the descriptor is %#x", got)
			}
			return
		}
	}
	t.Error("layouts grew without memory")
}
