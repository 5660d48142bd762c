// Package heap is the native heap: size classes, thread caches, the shared pool, spans, the release sweep.
//
// The structures, from the caller inwards:
//
//	bin      one class of a thread cache: a stack of free blocks' addresses; one cache line of state
//	Cache    a thread's bins and their slots; used by its thread alone
//	central  one class of the shared pool: batches that caches handed over, and the spans that have free blocks
//	span     a run of the space cut into blocks of one class; a bit a block says which wait in the span
//	normal   a run of the space that is one block, for sizes above the classes (normal.go)
//	Heap     the space, the centrals and the registry of caches
//
// One malloc:
//
//  1. Malloc: size -> bin; the newest address of the bin's stack is the block. No lock, no call.
//  2. mallocSlow: the stack is empty. refill has obtain take a batch of the shared pool, or
//  3. free blocks of the fullest spans, lowest address first (takeFromSpansLocked), or
//  4. a span from the space (newSpan): one given back before, or a new one. Before the range grows, what waits in the
//     pool and in the thread's own cache is sorted into its spans (sortWaiting).
//  5. No span to be had: the system allocator serves, and the report counts it (overflowMalloc).
//  6. A size above the classes: a run of its own (normalMalloc), from 64 MiB on the system allocator.
//
// One free:
//
//  1. Free: address -> granule -> bin; the address goes on the stack. No lock, no call.
//  2. freeSlow: the stack is full. flush hands its older half to the shared pool as a batch, or
//  3. if the pool has enough batches of the class, block by block to the spans (returnBlocksLocked).
//  4. A span whose blocks are all back is empty: one a class stays, others go to the space at once, for any class.
//  5. A block of the normal tier: its run goes to the space (normalFree).
//
// The release sweep (Idle) empties the caller's cache and the pool's batches into the spans, gives back the free pages
// of spans in which nothing happened (purge.go), and has the space give back what has been free for a second.
//
// Free blocks are known by bits and addresses kept outside of them. The one thing written into a freed block is a
// mark in its second word, by which Free recognises most blocks that are freed twice.
//
// Imports sys and space only. Where the calls of C or Go enter is not this package's business, but for
// process_gccgo.go and due_gccgo.go.
package heap

//go:generate go run granary/tools/sizeclasses -o sizeclass_table.go
