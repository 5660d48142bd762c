package main

// What the workloads gcbench and binary_trees do is described in c/gcbench.c and c/binary_trees.c.

const (
	stretchDepth = 18
	longDepth    = 16
	leastDepth   = 4
	mostDepth    = 16
	arrayLength  = 500000
)

type node struct {
	left, right *node
	i, j        int32
}

func bottomUp(depth int) *node {
	if depth == 0 {
		return &node{}
	}
	left := bottomUp(depth - 1)
	return &node{left: left, right: bottomUp(depth - 1)}
}

func topDown(depth int, n *node) {
	if depth == 0 {
		return
	}
	n.left, n.right = &node{}, &node{}
	topDown(depth-1, n.left)
	topDown(depth-1, n.right)
}

func (n *node) count() uint64 {
	if n == nil {
		return 0
	}
	return 1 + n.left.count() + n.right.count()
}

func gcbench(scale float64) uint64 {
	checksum := bottomUp(stretchDepth).count()
	lasting := &node{}
	topDown(longDepth, lasting)
	array := make([]float64, arrayLength)
	for i := range array {
		array[i] = 1 / float64(i+1)
	}
	for range scaled(scale, 3, 1) {
		for depth := leastDepth; depth <= mostDepth; depth += 2 {
			trees := 2 << (stretchDepth - depth)
			for range trees {
				tree := &node{}
				topDown(depth, tree)
				checksum += bit(tree.left != nil)
			}
			for range trees {
				checksum += bottomUp(depth).left.count()
			}
		}
	}
	return checksum + lasting.count() + uint64(array[1000]*1e9)
}

type tree struct{ left, right *tree }

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{}
	}
	left := grow(depth - 1)
	return &tree{left, grow(depth - 1)}
}

func (t *tree) count() uint64 {
	if t.left == nil {
		return 1
	}
	return 1 + t.left.count() + t.right.count()
}

func binaryTrees(scale float64) uint64 {
	most := 20
	if scale < 1 {
		most = 14
	}
	checksum := grow(most + 1).count()
	lasting := grow(most)
	for depth := 4; depth <= most; depth += 4 {
		for range 1 << (most - depth + 4) {
			checksum += grow(depth).count() * mix(uint64(depth))
		}
	}
	return checksum + lasting.count()
}
