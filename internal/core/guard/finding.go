package guard

import (
	"granary/internal/core/heap"
	"granary/internal/core/sys"
)

// What a Finding is about; clib/glue/guard.c has the same numbers.
const (
	FoundNothing      = 0
	FoundFreedTwice   = 1
	FoundWrittenFreed = 2
	FoundInside       = 3
	FoundNoBlock      = 4
	FoundPastEnd      = 5
	FoundWrongSize    = 6
)

// Which call found it; clib/glue/guard.c has the same numbers.
const (
	CallMalloc     = 0
	CallFree       = 1
	CallRealloc    = 2
	CallUsableSize = 3
	CallExit       = 4
)

// Finding is what a message about a misuse is made of; struct finding in clib/glue/guard.c has its
// layout.
type Finding struct {
	What, Call               uint32
	Block                    sys.Addr // what the program gave, or the block it is about
	Start                    sys.Addr // of the block that Block lies in
	ClassBytes               uintptr  // 0 for a block of the system allocator
	Asked                    uintptr
	Offset                   uintptr // of the first byte that was changed
	Given                    uintptr // FoundWrongSize: what the caller said
	AllocStack, FreeStack    uint32
	AllocThread, FreeThread  uint32
	NowStack, Freed, _unused uint32
}

// describe fills in what the record of a block says.
func (f *Finding) describe(r *record, place heap.Place) {
	f.describeRecord(r, place.Start)
	f.ClassBytes = heap.ClassBytes(place.Class)
}

func (f *Finding) describeRecord(r *record, start sys.Addr) {
	f.Block, f.Start = start, start
	f.Asked = uintptr(r.asked)
	f.AllocStack, f.AllocThread = r.allocStack, r.allocThread
	f.FreeStack, f.FreeThread = r.freeStack, r.freeThread
	f.Freed = 0
	if r.state() != stateLive {
		f.Freed = 1
	}
}
