// Package managed is a garbage-collected heap outside of Go's: for language runtimes, scripts and large graphs whose
// lifetimes nobody wants to track, where Go's own collector would cost too much or give too little control.
//
//	h, err := managed.New(managed.WithLimit(1 << 30))
//	type tree struct {
//		Left, Right managed.Ptr[tree]
//		Key         int
//	}
//	err = h.Do(func(m *managed.Mutator) {
//		root, err := managed.Make[tree](m)            // a *tree, zero
//		keep, err := managed.NewHandle(m, root, managed.Normal)
//		child, err := managed.Make[tree](m)           // root is kept by its handle now
//		root.Left.Set(child)
//	})
//
// A collection stops only the mutators of its heap, never the Go world, and no other goroutine.
//
// # Rules
//
// A goroutine touches objects as a mutator only: inside of Do, or between Attach and Detach, and not inside of
// Blocking. It reaches safepoints: each call that allocates is one, and Safepoint. A pointer in a Go variable keeps
// nothing alive. What a call has returned is safe until the mutator's next safepoint; by then it must be reachable
// from a root.
//
// Roots are Handles (normal and pinned ones), the used part of every Stack, registered ranges of memory outside of the
// Go heap, and uncollectable objects.
//
// Objects hold no Go pointers: Make and MakeSlice refuse such types and name the field. Fields that refer to objects
// are a Ptr, a Slice, a Word or a Weak. They are changed by Set, which tells the collector while it marks in slices;
// the option WithVerify finds places that forget it. Layouts are exact: what is not such a field is never taken for an
// address. Alloc with the kind Conservative makes objects of which any word may be one.
//
// # Structures
//
//	Heap         a core heap, and caches for its mutators
//	Mutator      what a goroutine needs to touch objects
//	slot         where a P keeps a cache for its next mutator
//	world        the mutators, and how they are stopped
//	cycle        the collection that is going on
//	pacer        spreads the slices of a collection over allocations
//	types        which kinds of the core were made for which types
//	handleTable  handles, strong and weak ones apart
//	Stack        a root with a top
//	finalizers   the functions that the core knows by number
//	pauses       how long mutators stood
//	Wrapper      a managed object that stands for a native one
//
// One Make:
//
//  1. Make is inlined into its caller, and calls make with the type, which is looked up in a small table of the
//     mutator. make looks whether a collection waits, and takes the first object off the type's chain in the cache.
//  2. kindFor finds the kind of a type that is not in the table; the first time reflection looks at its fields.
//  3. allocSlow: the mutator takes the cache of its P if it has none. The core fills it by sweeping, from free blocks,
//     or with new memory. If it says that a collection is due, the mutator goes away (Blocking) and collects. A mutator
//     that goes away leaves its cache to the P that it runs on.
//
// One collection, by whichever goroutine wants it, while it is no running mutator:
//
//  1. stopWorld waits until each mutator is at a safepoint or away.
//  2. beginMarking empties the caches and gives the roots to the core.
//  3. drain marks, with helpers in proportion to what is alive; in slices if the heap has a time slice, between which
//     the mutators run.
//  4. endMarking has the core see to weak references and finalizers. When the mutators run again it sorts its blocks,
//     in slices too; sweeping is left to allocations.
//  5. tell starts a goroutine for finalizers, a timer for the release of free memory, and calls observers.
//
// docs/design/managed.md gives the reasons and the figures.
package managed
