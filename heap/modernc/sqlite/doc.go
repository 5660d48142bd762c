// Package sqlite runs modernc.org/sqlite on Granary: its go.mod replaces modernc.org/memory and nothing else. It has
// only tests: sqlite's own, libc's of its allocator, and a program of ours.
package sqlite
