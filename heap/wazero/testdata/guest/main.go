// Command guest is run as WebAssembly by the tests: it makes much garbage in a live set that grows, so that Go's
// runtime inside of the module grows its linear memory and scans it, and prints a checksum.
package main

import (
	"os"
	"strconv"
)

type node struct {
	left, right *node
	key         uint32
}

func insert(at *node, key uint32) *node {
	if at == nil {
		return &node{key: key}
	}
	if key < at.key {
		at.left = insert(at.left, key)
	} else {
		at.right = insert(at.right, key)
	}
	return at
}

func sum(at *node, depth uint64) uint64 {
	if at == nil {
		return 0
	}
	return sum(at.left, depth+1) + sum(at.right, depth+1) + depth*uint64(at.key)
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		os.Stderr.WriteString("usage: guest COUNT\n")
		os.Exit(2)
	}
	var root *node
	random, kept := uint32(1), [][]byte{}
	for i := range count {
		random = random*1664525 + 1013904223
		root = insert(root, random)
		garbage := make([]byte, random>>20)
		if i%64 == 0 {
			kept = append(kept, garbage)
		}
	}
	total := sum(root, 1)
	for _, b := range kept {
		total += uint64(len(b))
	}
	os.Stdout.WriteString(strconv.FormatUint(total, 10) + "\n")
}
