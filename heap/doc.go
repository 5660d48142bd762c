// Package heap is memory outside of the Go heap: the garbage collector does not scan it, does not count it, and does
// not give it back; the program does, with Free.
//
// It is for programs whose live data or buffer traffic costs the collector more than it is worth: caches of millions
// of objects, servers that churn through buffers. Blocks cost a few nanoseconds, an empty span goes back to the
// system a second later, and misuse is an error that names the block.
//
//	h, err := heap.New(heap.WithLimit(1 << 30))
//	b, err := h.Bytes(4096)             // a []byte
//	defer h.FreeBytes(b)
//
//	type point struct{ X, Y float64 }
//	p, err := heap.Make[point](h)       // a *point; types that contain Go pointers are refused
//	ref := heap.RefOf(p)                // 8 bytes without a pointer: hold millions of these
//	err = heap.Free(h, p)
//
// # Rules
//
// What lies here is not seen by the collector, so it must not hold the only pointer to anything on the Go heap: the
// generic functions refuse such types, and name the field. A pointer to a block is an ordinary pointer that outlives
// the block only by mistake. Pointers to blocks in Go memory cost the collector about 12 ns each a cycle; a Ref costs
// nothing.
//
// Every block must be freed, once, to the heap it came from. What is freed is undefined memory, but it stays readable
// as long as the process lives: addresses never go back to the system, so a stale pointer cannot meet the Go heap.
//
// # Structures
//
//	Heap      a core heap (spans, size classes) and one cache a P of the scheduler
//	slot      where a P finds its cache
//	Cache     a cache that one goroutine owns: faster, no pinning
//	Tag       a purpose whose blocks are counted separately
//	Region    one piece of memory that grows in place
//	Ref       a reference without a pointer
//	debugger  the guard, if the heap is being debugged
//	sampler   every so many bytes one block whose stack is kept, for pprof
//
// One Alloc:
//
//  1. Alloc pins the goroutine to its P, and takes the newest block of the class from the cache of the P. No lock, no
//     call of the system, nothing that could wait or fail while pinned.
//  2. allocSlow, unpinned: takes the whole cache out of the slot. Nobody else sees it now, so locks and system calls do
//     no harm. The core fills it from its shared pool, from spans, or from the system.
//  3. putCache puts it into the slot of the P that the goroutine runs on by then. What that had instead waits
//     as a spare.
//
// One Free finds the class by the owner table, whose place and length lie beside the cache, and is the same backwards;
// freeSlow first looks what is wrong with the block.
//
// docs/design/go-heap.md gives the reasons and the figures.
package heap
