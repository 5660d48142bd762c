// Package linear hands out memory that lives a few frames: the next bytes of a block, and blocks from a pool of at most
// 64.
//
// The structures:
//
//	Allocator   the pool: which blocks are free, frames, counts
//	block       a run of the space; every granule's record names its block
//	segment     what a block handed out in one frame, with the number of allocations alive
//	Worker      a user's current block and the next byte in it; nobody else writes there
//	shard       part of the table of blocks that the native heap serves in the pool's place
//	Stack       memory for less than a frame: pushed, and rewound to a mark
//
// The path of one allocation:
//
//  1. The worker's block has room and the frame is the worker's (Fits): Bump adds to two words of the worker. No atomic
//     operation, no cache line that another core writes.
//  2. Another frame (turn): the open segment is closed, its count settled, and the next one begins behind it.
//  3. No room: if all that is not freed yet was freed meanwhile, the block starts again (restart). Else a free block of
//     the pool (takeReady), which is a compare-and-swap of the pool's one word (Install).
//  4. None with room (Take): one is made or made larger: a run of the space.
//  5. None at all, or the request is larger than eight blocks: the caller asks the native heap and notes the block
//     (CountOverflow, AddOverflow).
//
// The path of one free:
//
//  1. The address lies in the worker's open segment (Mine): the worker's count goes down (Drop). At 0 the segment
//     starts again (Rewind).
//  2. Otherwise (FreeSlow) the granule's record names the block; the segments' starts say which it is; its count goes
//     down by compare-and-swap. Whoever brings the last segment of a block without a worker to 0 returns the block to
//     the pool.
//  3. An address that is in no block is looked up among the native heap's.
//
// Counting in two places is what keeps the fast paths free of atomic operations. The worker counts what it hands out
// and takes back itself (live). Everybody else takes from the segment (left), which starts at a number so large that
// it cannot reach 0 while the segment is open. Closing adds up: left + live - bias is what is alive, and from then on
// the segment can reach 0 once.
//
// Locks: workersLock and one lock a shard, never together and never over a system call. Imports sys and space; the
// functions of the C library (process_gccgo.go) also heap.
package linear
