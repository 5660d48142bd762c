package coretest

import (
	"sync"

	"granary/internal/core/sys"
)

var sysTests = []Test{
	{Name: "committed memory reads as zero and keeps what is written", Run: testCommitZero},
	{Name: "decommitted memory reads as zero again", Run: testDecommitZero},
	{Name: "address space that nobody could have is refused", Run: testReserveTooMuch},
	{Name: "AlignUp rounds to the next multiple", Run: testAlignUp},
	{Name: "clear, copy and move work on the bytes named and no others", Run: testClearCopyMove},
	{Name: "the clock does not go back", Run: testClock},
	{Name: "a lock that is taken cannot be tried", Run: testTryLock},
	{Name: "a lock lets one in at a time", Run: testLockExcludes},
}

func testCommitZero(t T) {
	page := sys.PageBytes()
	addr := sys.Reserve(16 * page)
	if addr == 0 || uintptr(addr)%page != 0 {
		t.Fatalf("Reserve = %#x", uintptr(addr))
	}
	if !sys.Commit(addr+sys.Addr(4*page), 2*page) {
		t.Fatalf("Commit of reserved pages failed")
	}
	middle := addr + sys.Addr(4*page)
	if at := firstNotZero(middle, 2*page); at >= 0 {
		t.Errorf("committed memory is not zero at %d", at)
	}
	middle.SetWord(1234567)
	(middle + 8).SetWord16(0xabcd)
	if !sys.Commit(addr, 16*page) {
		t.Fatalf("Commit of the rest failed")
	}
	if middle.Word() != 1234567 || (middle+8).Word16() != 0xabcd {
		t.Errorf("committing again changed what was written")
	}
	sys.Release(addr, 16*page)
}

func testDecommitZero(t T) {
	page := sys.PageBytes()
	addr := memoryFor(t, 8*page)
	for offset := uintptr(0); offset < 8*page; offset += 8 {
		(addr + sys.Addr(offset)).SetWord(^uintptr(0))
	}
	if !sys.Decommit(addr+sys.Addr(page), 2*page) {
		t.Fatalf("Decommit failed")
	}
	if at := firstNotZero(addr+sys.Addr(page), 2*page); at >= 0 {
		t.Errorf("decommitted memory is not zero at %d", at)
	}
	if (addr+sys.Addr(page-8)).Word() != ^uintptr(0) || (addr+sys.Addr(3*page)).Word() != ^uintptr(0) {
		t.Errorf("Decommit took memory beside what was named")
	}
	(addr + sys.Addr(page)).SetWord(1)
	sys.Release(addr, 8*page)
}

func testReserveTooMuch(t T) {
	const bytes = ^uintptr(0) >> (4 * sys.Is64Bit) &^ 0xffff
	if addr := sys.Reserve(bytes); addr != 0 {
		t.Errorf("Reserve(%#x) = %#x", bytes, uintptr(addr))
	}
}

func testAlignUp(t T) {
	for _, c := range [][3]uintptr{{0, 16, 0}, {1, 16, 16}, {16, 16, 16}, {17, 16, 32}, {4097, 4096, 8192}, {7, 1, 7}} {
		if got := sys.AlignUp(c[0], c[1]); got != c[2] {
			t.Errorf("AlignUp(%d, %d) = %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

func byteAt(addr sys.Addr, offset uintptr) *byte {
	return (*byte)((addr + sys.Addr(offset)).Pointer())
}

// copyBytes is a variable, as sizes are wherever the core copies: go1.26.8 fails to compile copies of a small constant
// size between addresses of the form that Addr.Pointer makes.
var copyBytes = uintptr(100)

func testClearCopyMove(t T) {
	page := sys.PageBytes()
	addr := memoryFor(t, page)
	reset := func() {
		for i := uintptr(0); i < 256; i++ {
			*byteAt(addr, i) = byte(i) + 1
		}
	}
	expect := func(what string, at, count uintptr, value func(i uintptr) byte) {
		for i := uintptr(0); i < 256; i++ {
			want := byte(i) + 1
			if i >= at && i < at+count {
				want = value(i)
			}
			if got := *byteAt(addr, i); got != want {
				t.Fatalf("%s: byte %d is %d, want %d", what, i, got, want)
			}
		}
	}
	reset()
	sys.Clear(addr+5, 100)
	expect("Clear", 5, 100, func(uintptr) byte { return 0 })
	reset()
	sys.Clear(addr+5, 0)
	expect("Clear of nothing", 0, 0, nil)
	sys.Copy(addr+150, addr+3, copyBytes-1)
	expect("Copy", 150, 99, func(i uintptr) byte { return byte(i-150+3) + 1 })
	reset()
	sys.Move(addr+20, addr+10, copyBytes)
	expect("Move up", 20, 100, func(i uintptr) byte { return byte(i-10) + 1 })
	reset()
	sys.Move(addr+10, addr+20, copyBytes)
	expect("Move down", 10, 100, func(i uintptr) byte { return byte(i+10) + 1 })
	sys.Release(addr, page)
}

func testClock(t T) {
	before := sys.Now()
	for i := 0; i < 1000; i++ {
		now := sys.Now()
		if now < before || now == 0 {
			t.Fatalf("the clock went from %d to %d", before, now)
		}
		before = now
	}
}

func testTryLock(t T) {
	var word uint32
	if !sys.TryLock(&word) || sys.TryLock(&word) {
		t.Fatalf("TryLock of a free lock failed, or of a taken one did not")
	}
	if sys.LockMine(&word) != threadsHaveIDs {
		t.Errorf("LockMine of a lock that this thread holds = %v", sys.LockMine(&word))
	}
	if threadsHaveIDs && sys.Lock(&word) {
		t.Errorf("Lock took a lock that this thread holds already")
	}
	sys.Unlock(&word)
	if word != 0 || sys.LockMine(&word) {
		t.Errorf("the lock is %#x after Unlock", word)
	}
	if !sys.Lock(&word) {
		t.Fatalf("Lock of a free lock failed")
	}
	sys.Unlock(&word)
}

// testLockExcludes counts without atomics: the race detector knows the lock by its atomic operations, and the count
// is wrong if two are inside.
func testLockExcludes(t T) {
	const workers, rounds = 4, 5000
	var word uint32
	var count, tried int
	var done sync.WaitGroup
	done.Add(workers)
	for i := 0; i < workers; i++ {
		go func(mine int) {
			defer done.Done()
			for n := 0; n < rounds; n++ {
				if mine < 2 && n%8 == mine {
					if sys.TryLock(&word) {
						tried++
						sys.Unlock(&word)
					}
				}
				sys.Lock(&word)
				count++
				sys.Unlock(&word)
			}
		}(i)
	}
	done.Wait()
	if tried > 2*rounds/8 {
		t.Errorf("TryLock took the lock %d times", tried)
	}
	if count != workers*rounds {
		t.Errorf("%d rounds were counted, not %d", count, workers*rounds)
	}
	if word != 0 {
		t.Errorf("the lock is %#x at the end", word)
	}
}
