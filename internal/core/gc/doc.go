// Package gc is the managed heap: conservative or typed mark-sweep collection in the Boehm design.
//
// The range is cut into heap blocks of 4 KiB. A small block holds objects of one size and kind; a large object is a
// run of blocks of its own. What describes a block lies apart from it: nothing here writes beside an object.
//
//	index    4 bytes a block: the block with which the object or the run of small objects in it begins, 0 for none
//	headers  128 bytes a block: size, kind, descriptor, links; 256 mark bits and 256 grey bits, one a 16-byte granule
//	dirt     1 bit a block: whether it has to be cleared when it comes into use again
//	rooted   1 bit a block: whether it may hold uncollectable objects
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
// The path of one allocation (cache.go): size -> class, the head of the cache's chain; its successor becomes the head.
// No lock, no call. Where the chain is empty (refill.go), in this order:
//
//  1. a chain that another thread's frees have filled;
//  2. blocks of the same kind and size that wait to be swept: taken under the lock, swept outside of it. If there are
//     none, up to sortTries pieces of what the last collection left to be sorted (sort.go) are sorted to find some;
//  3. free blocks, which are cut. If there are none, what is left is sorted to find some: all of it, or up to sortTries
//     pieces after a collection in slices;
//  4. NeedCollect, if enough was allocated since the last collection (pace.go): the caller, who knows the threads, is
//     to collect and ask again;
//  5. more blocks from the space; if it gives none, those that sorting the rest makes free, or to be swept;
//  6. NeedCollect once more, then NeedMemory.
//
// Kinds with numbers above those that caches hold, and uncollectable ones, are served under the lock, one at a time.
//
// The path of one Free (free.go): the object is cleared and goes on the cache's chain; after 64 KiB a chain goes over
// to the others. What a collection finds dead never comes back one by one: see the sweep below.
//
// The path of one collection, driven from outside (collect.go), since only the driver knows the threads:
//
//  1. Hold and BeginCycle: the world stands. From now on old marks do not count (freshen). What waits in the
//     chains of caches is marked, and not looked into: so a thread may be stopped between any two instructions of
//     Alloc. Other chains are dropped.
//  2. Roots: MarkRange, MarkAddress, MarkUncollectable. What is found is grey; its block joins a queue.
//  3. Drain: blocks come off the queue first in, first out; all grey objects of a block are scanned together. So a
//     block that is named from many places is visited once for many of them. The room for the queue is in the
//     headers: it cannot overflow. One worker scans a block at a time, and only it sets mark bits there; it goes on
//     with what it finds in the block itself. Helpers (Help) get blocks from those who have many (share).
//  4. FinishMarking: weak links, finalizers; what they keep alive is marked too.
//  5. StartSweep, for which the world need not stand any more, and Unhold. Blocks are sorted (sort.go), by the driver
//     and by allocations that want some: those without a mark become free, others wait in lists by kind and size until
//     an allocation sweeps them; those with hardly anything dead are left as they are.
//
// Free blocks (blocks.go) lie in runs that join their free neighbours. Idle (release.go) gives their memory back to the
// system after a second; their addresses stay.
//
// Locks, in the order in which they are taken: cachesLock; a cache's busy, which its user holds over a refill and a
// free; Heap.lock, which guards everything but the caches and what a collection's workers write while the world
// stands; the locks of marking and of the space. Heap.lock is held over no system call but those of growing and
// releasing. All functions that take it give up if a signal handler interrupted this thread amid them: no memory, or
// false.
package gc
