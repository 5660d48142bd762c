// Package object keeps typed objects whose Delete cannot leave a dangling reference: when an object is deleted, every
// reference to it reads as Null, and using one is an error, in every build.
//
//	type Unit struct {
//		Health int
//		Target object.Var[Unit]     // counted: a field or variable that refers to an object
//		Name   object.String        // text outside of the Go heap
//	}
//
//	var units = object.NewType[Unit]("unit")
//
//	a, b := units.New(), units.New()
//	b.Must().Target.Set(a)
//	object.Delete(&a)               // a is Null, and so is b's target
//	_, err := b.Must().Target.Get() // errors.Is(err, object.ErrNotExist): Object does not exist.
//
//	for u := range units.Each() {   // in the order in which they were made
//		if u.Must().Health == 0 {
//			object.Delete(&u)       // fine, as is the delete of any other
//		}
//	}
//
// It is for programs with many things that refer to each other and come and go in no order, like the worlds of games:
// who deletes a thing need not find all who know of it.
//
// # Rules
//
// Objects are made by New and exist until Delete; there is no collector. What is not deleted is never freed, and is
// counted: Count, Leaks.
//
// A Ref is a checked number of 8 bytes that keeps nothing alive. A Var is counted: the memory of a deleted object is
// used for another one only when no Var holds it any more, so that After finds its old place. Nothing can go
// wrong with a Ref that is kept for too long, either: it is Null.
//
// Objects lie outside of the Go heap, in chunks of up to 512 of one type side by side, so the collector does not see
// them, however many there are. Their fields must not contain Go pointers: use Ref, Var, String and Slice. The
// pointer that Get returns is not checked any more: do not keep it over a Delete.
//
// The package is for 64-bit machines; for others it does not compile.
//
// # Goroutines
//
// References may be read by any goroutine at any time: Get, Must, IsNull and Equal take no lock. What changes a type
// (New, Delete, moves, counts) takes that type's lock for some nanoseconds, never two at once, and calls nobody
// meanwhile; so all calls may be made by any goroutine at any time. Two goroutines that delete the same object:
// one does it. What lies in the fields is the program's to guard, and so is who may still use a pointer of Get
// when another goroutine deletes the object. Types made with WithSingleOwner have no lock; see there.
//
// # Structures
//
//	Type     the list of a kind of objects; internal/core/object has all its rules, the same for C (granary_object_*)
//	Ref      index and generation of an object
//	Var      a Ref that is counted
//	String, Slice   memory of the native heap that a field holds
//	layout   where in a T there are Vars, Strings and Slices: found by reflection once a T
//	stackTable      stacks of New and Delete, for types that are diagnosed
//
// One Get: Ref.Get compares the generation in the table of nodes with its own (core Find). Equal: the fields of the
// chunk, plus the slot times the size of T. Else notExist looks up what is known of the object.
//
// One Delete: deleteObject, then core Delete: the generation changes, the fields let go in the order of the
// layout, the handle is forgotten, the list lets go. docs/design/object.md gives the reasons and the figures.
package object
