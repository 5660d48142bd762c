// Package object keeps typed objects in lists, so that deleting one makes every reference to it read as Null.
//
// The structures:
//
//	World   the table of nodes, the directory of chunks, handles, types; a process has one
//	Type    the list of its objects, its free slots (first in, first out), the layout of its fields
//	node    16 bytes an object beside its fields: generation, count, neighbours in the list
//	entry   a chunk of up to 512 slots of one type: where their fields lie, their handles, their sites
//	Ref     an object as one life of a slot: its index and the generation; 0 is Null
//	run     a row of slots that an iteration holds; Batch, the state of an iteration (each.go)
//	Field   where in the fields of an object there is something to let go of
//
// Nodes of all types lie in one table, found from an index by a shift; the fields of a chunk lie side by side in a
// block of the native heap. So a Ref is resolved without a lock and without knowing its type: one load says whether
// the generation is still the same, another, beside it, where the fields are (Find).
//
// One New (list.go):
//
//  1. takeSlot: a slot never used, else the slot that has been free for longest; none: grow makes a chunk.
//  2. The fields are cleared, the generation goes from even to odd, the node is linked at the end of the list.
//
// One Delete (delete.go):
//
//  1. The generation goes from odd to even: from here on every reference reads as Null. Who does this, deletes.
//  2. The fields let go of what they hold, in the order of their offsets (release, layout.go).
//  3. The handle is erased (handle.go).
//  4. The list lets go. The node stays in the list as a tombstone until the last counted variable lets go as well;
//     then it is unlinked and its slot goes to the end of the free slots.
//
// Nothing of this recurses: what a deleted object let go of is freed only if it was deleted itself, and then it
// holds nothing any more.
//
// Memory for fields comes from Allocate (memory_*.go): the native heap of the process, or of the Go program. Imports
// sys, in the C library heap as well.
package object
