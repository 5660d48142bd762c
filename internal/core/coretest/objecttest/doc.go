// Package objecttest holds the tests of the core's objects, written so that both of its compilers run them.
//
// The structures:
//
//	rig      a world with types, and a model of every list: each place, who holds it, what its fields hold
//	place    the model of one object, alive or deleted, as long as it has a place in its list
//	script   bytes read as a sequence of operations: the fuzz target, and long random sequences
//
// After each step rig.check has the invariant walker look (object.Check), and compares the lists in both directions,
// the counts of all places and the types' figures with the model. The cases of golden.go are those of the languages
// whose objects these are, with what they answer.
//
// What differs between the compilers (env_*.go): where memory comes from.
package objecttest
