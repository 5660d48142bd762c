// Package guard is the debug mode of the heap: it finds blocks that are freed twice, written to
// after they were freed, written past their end or never freed. docs/design/guard.md says what it
// can find and why it is built as it is.
//
// The structures:
//
//	Guard       one guard over one heap; its lock covers everything below but the stacks
//	record      what is known of a block: asked size, state, stacks; in a table beside the range
//	quarantine  the freed blocks that wait before their spans get them back, oldest first
//	largeTable  the records of blocks of the system allocator, by address; freed ones wait here too
//	stackTable  every stack once, named by a number
//	Finding     what a message about a misuse is made of
//
// One malloc:
//
//  1. Malloc: the class that holds the size and one byte more; heap.TakeBlock.
//  2. If the block was in use before, it must still be full of the pattern of freed blocks.
//  3. patrolLocked looks at some bytes of the quarantine in the same way.
//  4. The block is filled with the pattern of new blocks, its slack with the canary; then its
//     record says that it is live.
//
// One free:
//
//  1. Free: address -> record. Not live, or not its first byte: a Finding.
//  2. The canary must be whole.
//  3. The block is filled with the pattern of freed blocks and goes to the end of the quarantine.
//  4. What is too much there leaves it, oldest first: it must be full of the pattern, and goes
//     back to its span.
//
// Free's caller brings the number of its stack; capturing is the business of the C glue. The
// package imports heap, space and sys only. With patterns off (GRANARY_DEBUG_ALLOC_STATS) it keeps
// records of sizes and nothing else, and takes no lock for blocks of the heap's spans.
package guard
