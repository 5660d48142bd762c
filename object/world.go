package object

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"granary/heap"
	core "granary/internal/core/object"
	"granary/internal/core/sys"
)

// world is all objects of the program. It holds no Go pointer.
var world core.World

// nothing is what references are looked up in before the first type is made: all of them are Null. It is a variable
// without pointers, as checkptr wants to know the way to any other.
var nothing [2]uint64

func init() { world.ReadAsNull(sys.Addr(uintptr(unsafe.Pointer(&nothing)))) }

// indexesMost is how many objects there can be, alive and kept, of all types together.
const indexesMost = 1 << 30

// start prepares the world, once.
var start = sync.OnceValue(func() error {
	core.AllocateHandler = func(bytes uintptr) sys.Addr {
		block, err := heap.Default().AllocZeroed(int(bytes))
		if err != nil {
			return 0
		}
		return sys.Addr(uintptr(block))
	}
	core.FreeHandler = func(block sys.Addr) {
		if err := heap.Default().Free(block.Pointer()); err != nil {
			panic("granary: BUG: a block that an object held: " + err.Error())
		}
	}
	core.StackHandler = stacks.here
	if !world.Init(indexesMost) {
		return heap.ErrNoMemory
	}
	return nil
})

// typeInfo is what is known of a type beside the core: the same for all T.
type typeInfo struct {
	name     string
	goType   reflect.Type
	core     *core.Type // outside of the Go heap
	diagnose bool
	uses     int // touched in race builds, so that the detector sees two goroutines using a type of a single owner
}

// types has the types by their numbers. What is published is not changed any more.
var types struct {
	sync.Mutex
	known atomic.Pointer[[]*typeInfo]
}

func register(info *typeInfo) {
	types.Lock()
	defer types.Unlock()
	var known []*typeInfo
	if old := types.known.Load(); old != nil {
		known = append(known, *old...)
	}
	for uint32(len(known)) <= info.core.ID() {
		known = append(known, nil)
	}
	known[info.core.ID()] = info
	types.known.Store(&known)
}

// all are the types that were made, in that order.
func all() []*typeInfo {
	known := types.known.Load()
	if known == nil {
		return nil
	}
	var made []*typeInfo
	for _, info := range *known {
		if info != nil {
			made = append(made, info)
		}
	}
	return made
}

// infoOf is the type of the slot that a reference names, nil if it names none.
func infoOf(ref core.Ref) *typeInfo {
	t := world.TypeOf(ref)
	known := types.known.Load()
	if t == nil || known == nil || uint32(len(*known)) <= t.ID() {
		return nil
	}
	return (*known)[t.ID()]
}

// use tells the race detector of a call that changes a type of a single owner.
func (info *typeInfo) use() {
	if raceEnabled && info.core.IsSingleOwner() {
		info.uses++
	}
}
