package main

import (
	"fmt"
	"os"
	"unsafe"

	"granary/managed"
)

// This file: the workloads on package managed, by one mutator. What is needed over an allocation lies on its stack.

var (
	managedHeap  *managed.Heap
	mutator      *managed.Mutator
	managedStack *managed.Stack
)

// onManaged makes a workload of the plain kind.
func onManaged(work func(scale float64) uint64) func(scale float64) uint64 {
	return func(scale float64) (checksum uint64) {
		var err error
		managedHeap, err = managed.New()
		if err == nil {
			managedStack, err = managedHeap.NewStack(1 << 20)
		}
		if err == nil {
			err = managedHeap.Do(func(m *managed.Mutator) {
				mutator = m
				checksum = work(scale)
			})
		}
		if err != nil {
			stop(err)
		}
		return checksum
	}
}

func stop(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func managedOutcome() outcome {
	s := managedHeap.Stats()
	return outcome{collections: s.Collections, pauseMax: s.Pauses.Longest, pauseTotal: s.Pauses.Total}
}

func create[T any]() *T {
	p, err := managed.Make[T](mutator)
	if err != nil {
		stop(err)
	}
	return p
}

func createSlice[T any](length int) []T {
	s, err := managed.MakeSlice[T](mutator, length)
	if err != nil {
		stop(err)
	}
	return s
}

// keep puts an object on the stack.
func keep[T any](p *T) *T {
	if err := managedStack.Push(uintptr(unsafe.Pointer(p))); err != nil {
		stop(err)
	}
	return p
}

func keepSlice[T any](s []T) []T {
	keep(unsafe.SliceData(s))
	return s
}

func drop(words int) { managedStack.Truncate(managedStack.Len() - words) }

type managedNode struct {
	left, right managed.Ptr[managedNode]
	i, j        int32
}

func managedBottomUp(depth int) *managedNode {
	if depth == 0 {
		return create[managedNode]()
	}
	left := keep(managedBottomUp(depth - 1))
	right := keep(managedBottomUp(depth - 1))
	n := create[managedNode]()
	n.left.Set(left)
	n.right.Set(right)
	drop(2)
	return n
}

// managedTopDown grows a tree below a node that is reachable.
func managedTopDown(depth int, n *managedNode) {
	if depth == 0 {
		return
	}
	n.left.Set(create[managedNode]())
	n.right.Set(create[managedNode]())
	managedTopDown(depth-1, n.left.Get())
	managedTopDown(depth-1, n.right.Get())
}

func (n *managedNode) count() uint64 {
	if n == nil {
		return 0
	}
	return 1 + n.left.Get().count() + n.right.Get().count()
}

func managedGcbench(scale float64) uint64 {
	checksum := managedBottomUp(stretchDepth).count()
	lasting := keep(create[managedNode]())
	managedTopDown(longDepth, lasting)
	array := keepSlice(createSlice[float64](arrayLength))
	for i := range array {
		array[i] = 1 / float64(i+1)
	}
	for range scaled(scale, 3, 1) {
		for depth := leastDepth; depth <= mostDepth; depth += 2 {
			trees := 2 << (stretchDepth - depth)
			for range trees {
				tree := keep(create[managedNode]())
				managedTopDown(depth, tree)
				checksum += bit(tree.left.Get() != nil)
				drop(1)
			}
			for range trees {
				checksum += managedBottomUp(depth).left.Get().count()
			}
		}
	}
	return checksum + lasting.count() + uint64(array[1000]*1e9)
}

type managedTree struct{ left, right managed.Ptr[managedTree] }

func managedGrow(depth int) *managedTree {
	if depth == 0 {
		return create[managedTree]()
	}
	left := keep(managedGrow(depth - 1))
	right := keep(managedGrow(depth - 1))
	t := create[managedTree]()
	t.left.Set(left)
	t.right.Set(right)
	drop(2)
	return t
}

func (t *managedTree) count() uint64 {
	if t.left.IsNil() {
		return 1
	}
	return 1 + t.left.Get().count() + t.right.Get().count()
}

func managedBinaryTrees(scale float64) uint64 {
	most := 20
	if scale < 1 {
		most = 14
	}
	checksum := managedGrow(most + 1).count()
	lasting := keep(managedGrow(most))
	for depth := 4; depth <= most; depth += 4 {
		for range 1 << (most - depth + 4) {
			checksum += managedGrow(depth).count() * mix(uint64(depth))
		}
	}
	return checksum + lasting.count()
}
