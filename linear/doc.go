// Package linear is memory that lives a few frames: a block from a pool, and in it one allocation behind the other. An
// allocation takes a few nanoseconds and no lock, whoever frees it; and a report says whether the blocks have the right
// size.
//
// It is for programs with a rhythm, as games, simulations and servers with a tick have one: each frame makes thousands
// of allocations, which are gone a few frames later.
//
//	a, err := linear.New(linear.Config{Name: "jobs", BlockSize: 2 << 20, MaxAge: 4})
//	p, err := a.Alloc(256, 16)               // an unsafe.Pointer, 16-byte aligned
//	points, err := linear.MakeSlice[point](a, n, n)
//	err = linear.FreeSlice(a, points)        // by any goroutine
//	a.NextFrame()                            // what is older than 4 frames now is reported
//
// # Rules
//
// What lies here is not seen by Go's collector, so it must not hold the only pointer to anything on the Go heap: the
// generic functions refuse types that contain Go pointers. Every allocation is freed, once, to the allocator it came
// from, or all at once by Reset. Memory that was freed stays readable until Close, but is soon somebody else's.
//
// One allocation that stays keeps a whole block. MaxAge finds those: NextFrame counts what is too old, and with
// Config.Diagnostics says where it was made.
//
// # Structures
//
//	Allocator   a pool of blocks, and one current block for each P of the scheduler
//	Worker      a current block that one goroutine owns: faster, no pinning
//	Stack       memory for less than a frame: Mark and Rewind
//	System      the allocators that a game has, with Unity's names, switches and report
//	follow      with diagnostics: the places that make allocations
//
// One Alloc:
//
//  1. Alloc pins the goroutine to its P and takes the next bytes of the block that the P's worker has. No lock, no
//     atomic operation, nothing that could wait or fail while pinned.
//  2. allocSlow, for the first allocation in a frame and for a full block: pinned again, the worker takes a free block
//     of the pool by one compare-and-swap.
//  3. If the pool has no block that is ready, one is made, unpinned: a run of the space, for which the system may be
//     asked. If it cannot be made, the heap serves the request, which the report counts.
//
// One Free is the same backwards: what the P's worker made in this frame is counted in the worker; for all else the
// address leads to the block, which counts by compare-and-swap (freeSlow).
//
// docs/design/linear.md gives the reasons and the figures; internal/core/linear does the work.
package linear
