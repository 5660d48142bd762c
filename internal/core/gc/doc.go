// Package gc is the managed heap: conservative or typed mark-sweep collection in the Boehm design.
//
// The range is cut into heap blocks of 4 KiB. A small block holds objects of one size and kind; a large object is a
// run of blocks of its own. What describes a block lies apart from it: nothing here writes beside an object.
//
//	index    4 bytes a block: the block with which the object or the run of small objects in it begins, 0 for none
//	headers  128 bytes a block: size, kind, descriptor, links; 256 mark bits and 256 grey bits, one a 16-byte granule
//
// So 'is this word the address of an object, and where does that begin' is one subtraction, one comparison, one load of
// the index and one of the header, for interior addresses of large objects too (find).
//
// The structures:
//
//	Heap      the range, its tables, free blocks, lists of blocks to sweep, the pace of collections
//	header    one block in use, or one run of free blocks
//	kindInfo  what objects of a kind hold: the descriptor, whether they are cleared, whether they are collected
//	Cache     per thread or P: for each kind and size the objects it may hand out, chained
//	marker    one worker of a collection: its queue of grey blocks, and the addresses it has prefetched
//	table     growable hash table off the heap: finalizers, links, displacements
//
// The path of one allocation (alloc.go): size -> class, the head of the cache's chain; its successor becomes the head.
// Empty: refill sweeps a block of the same kind and size, else cuts a free block. Neither: the caller, who knows the
// threads, is told to collect (NeedCollect), or to report that memory is out.
//
// The path of one collection, driven from outside (collect.go), since only the driver knows the threads:
//
//  1. BeginCycle: the world stands. Chains of all caches are dropped, marks are cleared.
//  2. Roots: MarkRange, MarkAddress, MarkUncollectable. What is found is marked and grey; its block joins a queue.
//  3. Drain: blocks come off the queue first in, first out; all grey objects of a block are scanned together. So a
//     block that is named from many places is visited once for many of them. The room for the queue is in the
//     headers: it cannot overflow.
//  4. FinishMarking: weak links, finalizers; what they keep alive is marked too.
//  5. StartSweep: the world may go on. Blocks without a mark become free at once, others wait in lists by kind and
//     size until an allocation sweeps them.
//
// Locks: Heap.lock guards everything but the caches, each of which has one user, and what a collection's workers write
// while the world stands. It is held over no system call but those of growing and releasing.
package gc
